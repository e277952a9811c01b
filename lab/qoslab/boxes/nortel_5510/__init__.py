"""A BayStack 5510 with software 5.1: login, modes, NVRAM, data plane.

Written from the published 5500-series guides and from what clients of the family expect.  A change
of queue set or buffer waits for a reset; the box writes NVRAM on its own unless told not to.
"""

from __future__ import annotations

import asyncio
import copy
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from qoslab.boxes.nortel_5510.acl_commands import ACL_ROWS
from qoslab.boxes.nortel_5510.arguments import TYPES, parse_ports
from qoslab.boxes.nortel_5510.elements import ELEMENT_ROWS
from qoslab.boxes.nortel_5510.exec import ENABLE_ROWS, EXEC_ROWS, mode_rows
from qoslab.boxes.nortel_5510.plane import Part, discipline, egress_queue, ingress
from qoslab.boxes.nortel_5510.policies import POLICY_ROWS, SHAPER_ROWS
from qoslab.boxes.nortel_5510.show import MODEL, listing
from qoslab.boxes.nortel_5510.state import Agent, QosConfig
from qoslab.boxes.nortel_5510.system import INTERFACE_ROWS, NO_AUTOSAVE, SECTIONS, SYSTEM_ROWS
from qoslab.boxes.nortel_5510.tables import AUTOSAVE_SECONDS, PORTS, STRICT
from qoslab.clock import Clock
from qoslab.errors import BoxError
from qoslab.grammar import Grammar, SyntaxRefused
from qoslab.metering import Metering
from qoslab.packets import Outcome, Packets
from qoslab.shell import Mode, Question, Reply, Shell, apply_lines
from qoslab.spec import BoxSpec
from qoslab.storage import Storage
from qoslab.typed import TypedBox
from qoslab.wiring import Announcement, base_mac

_BANNER = f"""
***************************************************************
*** Ethernet Routing Switch {MODEL}                         ***
***************************************************************
"""
_CTRL_Y = "\x19"
_NORTEL = "00159b"  # one of Nortel's prefixes
_FASTEST = 1000  # Mb/s


class Nortel5510(TypedBox[QosConfig]):
    """The box: ``state`` is what is configured, ``in_force`` the agent settings since the last reset."""

    more_prompt = "----More (q=Quit, space/return=Continue)----"
    output_filters: ClassVar[Mapping[str, str]] = {}

    def __init__(self, spec: BoxSpec, storage: Storage, clock: Clock) -> None:
        super().__init__(spec, storage, clock)
        self.state = self.factory_state()
        self.in_force = Agent()
        self.counted: dict[int, Counter[str]] = {}
        self._saving: asyncio.TimerHandle | None = None
        self._booting = False
        self.modes = _modes()

    # -- configuration ------------------------------------------------------------------------------------
    def factory_state(self) -> QosConfig:
        return QosConfig()

    def factory_reset(self) -> None:
        super().factory_reset()
        self.counted = {}

    def boot(self) -> None:
        """Read NVRAM, which begins in exec mode, and put the stored queue set and buffer in force."""
        self._booting = True
        self.factory_reset()
        shell = Shell(self, privileged=True)
        shell.planted_faults = False
        shell.loading = True
        lines = self.storage.startup().splitlines()
        if "configure terminal" not in (line.strip() for line in lines):
            shell.enter("config", self.running)
        said = apply_lines(shell, lines)
        self.boot_messages = [f"line {number}: {line.strip()}: {text.strip()}" for number, line, text in said]
        self.booted_at = self.clock.seconds()
        self.in_force = copy.copy(self.state.agent)
        self._booting = False
        self.attached.look(self.attached_policies(), "boot")

    @property
    def autosaves(self) -> bool:
        """Whether the box writes NVRAM on its own."""
        core = self.state.plain.get(SECTIONS[0])
        return core is None or NO_AUTOSAVE not in core

    def changed(self, shell: Shell) -> None:
        name = self.state.plain.get("SNMP")
        self.hostname = (name.value("snmp-server name").split() or [MODEL])[-1].strip('"') if name else MODEL
        if self._booting or self._saving is not None or not self.autosaves:
            return
        try:
            self._saving = self.clock.later(AUTOSAVE_SECONDS, self._autosave)
        except RuntimeError:
            self._saving = None  # no event loop, so nothing happens by itself

    def _autosave(self) -> None:
        self._saving = None
        if self.autosaves:
            self.save()

    def save(self) -> None:
        super().save()
        self._cancel()

    def save_by_itself(self) -> bool:
        """As it does a while after every change, unless told not to."""
        return self.autosaves and super().save_by_itself()

    def _cancel(self) -> None:
        if self._saving is not None:
            self._saving.cancel()
            self._saving = None

    def reboot(self) -> None:
        self._cancel()
        super().reboot()

    def power_off(self) -> None:
        self._cancel()
        super().power_off()

    def running_text(self) -> str:
        return "\n".join(listing(self.state)) + "\n"

    def attached_policies(self) -> dict[str, str]:
        """The enabled policies of every port that has any."""
        found = {}
        for port in range(1, PORTS + 1):
            policies = self.state.policies_on(port)
            if policies:
                found[f"port {port}"] = " ".join(str(policy.number) for policy in policies)
        return found

    def name_line(self, name: str) -> str:
        return f'snmp-server name "{name}"'

    # -- wire ---------------------------------------------------------------------------------------------
    def greeting(self, shell: Shell) -> Reply:
        del shell
        begin = Question(
            "Enter Ctrl-Y to begin.\r\n", lambda key: Reply(), echo=False, single_key=True, keys=_CTRL_Y
        )
        return Reply(_BANNER, ask=begin)

    def prompt(self, shell: Shell) -> str:
        if shell.configuring:
            return f"{self.hostname}({shell.mode.suffix})#"
        return self.hostname + ("#" if shell.privileged else ">")

    def layout(self, shell: Shell, text: str) -> str:
        """Lines wrap at the terminal's width, its last column unused; those with room end in a blank."""
        usable = max(shell.width - 1, 1)
        lines: list[str] = []
        for line in text.split("\n"):
            pieces = [line[at : at + usable] for at in range(0, len(line), usable)] or [""]
            lines += [*pieces[:-1], pieces[-1] + (" " if len(pieces[-1]) < usable - 1 else "")]
        return "\n".join(lines)

    def syntax_error(self, shell: Shell, error: SyntaxRefused) -> str:
        if error.kind == "incomplete":
            return "% Incomplete command."
        if error.kind == "ambiguous":
            return f'% Ambiguous command:  "{error.line.strip()}"'
        return " " * (len(shell.prompt) + error.column) + "^\n% Invalid input detected at '^' marker."

    # -- neighbours ---------------------------------------------------------------------------------------
    @property
    def mac(self) -> str:
        """The switch's own address."""
        return base_mac(_NORTEL, self.spec.name)

    @property
    def address(self) -> str:
        """Its management address; "" where it has none."""
        for line in self.state.plain.get("IP", ()):
            words = line.text.split()
            if words[:2] == ["ip", "address"]:
                return next(word for word in words[2:] if word[0].isdigit() and "." in word)
        return ""

    def is_up(self, port: int) -> bool:
        """Whether a port is not shut down and, where the lab knows the cables, has one."""
        try:
            self.port(str(port))
        except BoxError:
            return False
        return self.cables is None or str(port) in self.cables

    def speed(self, port: int) -> int:
        """The speed (Mb/s) of a port: as set, else as agreed with the other end."""
        for line in self.state.plain.get("INTERFACE", ()):
            words = line.text.split()
            if words[:2] == ["speed", "port"] and words[-1].isdigit() and port in (parse_ports(words[2]) or []):
                return int(words[-1])
        cable = (self.cables or {}).get(str(port))
        return _FASTEST if cable is None else min(_FASTEST, cable.rate // 1_000_000)

    def port_name(self, name: str) -> str:
        """``1/48`` is port 48 of the only unit."""
        ports = parse_ports(name)
        return str(ports[0]) if ports and len(ports) == 1 else name

    def sends(self, protocol: str, port: str) -> bool:
        """The SynOptics protocol (autotopology), which is on by default."""
        return protocol == "sonmp" and port.isdigit() and self.is_up(int(port))

    def announcement(self, protocol: str, port: str) -> Announcement:
        """No name: the address, the MAC and the model."""
        del protocol
        return Announcement(name="", port=port, address=self.address, mac=self.mac, platform=MODEL)

    # -- data plane ---------------------------------------------------------------------------------------
    def port(self, name: str) -> int:
        """One front port. Raises BoxError when the box has no such port or it is shut down."""
        ports = parse_ports(name)
        if not ports or len(ports) != 1:
            raise BoxError(f"{self.spec.name}: no port {name!r}")
        for line in self.state.plain.get("INTERFACE", ()):
            if line.text.startswith("shutdown port ") and ports[0] in (parse_ports(line.text.split()[-1]) or []):
                raise BoxError(f"{self.spec.name}: port {name} is shut down")
        return ports[0]

    def offer(self, into: str, out: str, packets: Sequence[Packets], seconds: float) -> list[Outcome]:
        entry, _, metering = self.port(into), self.port(out), Metering(seconds)
        return [
            outcome
            for at, group in enumerate(packets)
            for outcome in self._forward(entry, replace(group, cos=group.cos if group.tagged else 0), at, metering)
        ]

    def _forward(self, entry: int, offered: Packets, at: int, metering: Metering) -> list[Outcome]:
        parts, verdicts = ingress(self.state, entry, offered, metering)
        matching = [verdict for verdict in verdicts if verdict.matched]
        for verdict in matching:
            if verdict.policy is not None:
                counted = self.counted.setdefault(verdict.policy.number, Counter())
                counted["in"] += verdict.conforming
                counted["out"] += offered.count - verdict.conforming
        name = matching[0].name if matching else ""
        return [self._outcome(part, name, at) for part in parts]

    def _outcome(self, part: Part, name: str, at: int) -> Outcome:
        passed = part.packets
        queue_set = self.in_force.queue_set
        queue = egress_queue(self.state, queue_set, passed.cos)
        strict = discipline(queue_set, queue) == STRICT and not self.faults.ignore_priority
        return Outcome(
            dscp_in=passed.dscp,
            cos_in=passed.cos,
            ingress_class=name,
            dropped_in=passed.count if part.dropped else 0,
            dscp_out=passed.dscp,
            cos_out=passed.cos,
            egress_class="",
            queue="" if part.dropped else f"{queue} strict" if strict else str(queue),
            dropped_out=0,
            group=at,
            count=passed.count,
        )


def _modes() -> dict[str, Mode]:
    configuring = [*SYSTEM_ROWS, *ELEMENT_ROWS, *POLICY_ROWS, *ACL_ROWS]
    return {
        "exec": Mode("exec", "", Grammar(EXEC_ROWS, TYPES)),
        "enable": Mode("enable", "", Grammar(ENABLE_ROWS, TYPES)),
        "config": Mode("config", "config", Grammar(mode_rows(configuring), TYPES)),
        "interface": Mode("interface", "config-if", Grammar(mode_rows([*INTERFACE_ROWS, *SHAPER_ROWS]), TYPES)),
    }
