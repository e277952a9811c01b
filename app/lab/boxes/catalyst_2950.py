"""Catalyst 2950/2955 (IOS 12.1EA): four egress queues, one scheduler for the whole switch."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar

from app.lab.boxes import ios_acl
from app.lab.boxes.catalyst_maps import TableMap, eight_values
from app.lab.boxes.catalyst_policies import (
    Dialect,
    SwitchPolicies,
    policed,
    split_by_policer,
    written_dscp,
)
from app.lab.boxes.ios_arguments import DSCP_NAMES, IF, dscp_value, interface_name
from app.lab.boxes.ios_general import global_rows, interface_rows
from app.lab.boxes.ios_rows import row, setting
from app.lab.boxes.ios_system import IosSystem
from app.lab.clock import Clock
from app.lab.config import Section
from app.lab.errors import BoxError
from app.lab.grammar import Match, Refused
from app.lab.packets import Outcome, Packets
from app.lab.patterns import ArgumentType
from app.lab.shell import Row, Shell
from app.lab.spec import BoxSpec
from app.lab.storage import Storage

SUPPORTED_DSCPS = (0, 8, 10, 16, 18, 24, 26, 32, 34, 40, 46, 48, 56)
COS_DSCP = (0, 8, 16, 24, 32, 40, 48, 56)
_SMALL_BURSTS = (4096, 8192, 16384, 32768, 65536)
_BURSTS = (*_SMALL_BURSTS, 131072, 262144, 524288)
_MEGABIT = 1_000_000
_FAST_LIMIT = 100 * _MEGABIT

# Queue 1 is the lowest; which default the box ships with is unconfirmed.
WRR_COS = TableMap(
    tuple(range(8)),
    lambda cos: str(cos // 2 + 1),
    lambda queue, values: f"wrr-queue cos-map {queue} {values}",
    re.compile(r"wrr-queue cos-map (?P<target>\d) (?P<values>[\d ]+)"),
    rank=32,
    whole=True,
)
DSCP_COS = TableMap(
    SUPPORTED_DSCPS,
    lambda dscp: str(dscp // 8),
    lambda cos, values: f"mls qos map dscp-cos {values} to {cos}",
    re.compile(r"mls qos map dscp-cos (?P<values>[\d ]+) to (?P<target>\d)"),
    rank=34,
    per_line=13,
)
_DIALECT = Dialect(
    hows="match-all",
    matches=("access-group {<1-199>|<1300-2699>|name WORD}", "ip dscp DSCP13*8"),
    dscp="DSCP13",
    police="<1000000-1016000000>:rate BURST:burst",
    exceed="{drop|dscp DSCP13}",
    trust_in_class=False,
    one_match=False,
)


def _dscp13(token: str) -> str | None:
    low = token.lower()
    value = DSCP_NAMES.get(low, int(low) if low.isascii() and low.isdigit() and len(low) < 3 else -1)
    return str(value) if value in SUPPORTED_DSCPS else None


def _burst(token: str) -> str | None:
    return token if token in map(str, _BURSTS) else None


class Catalyst2950(IosSystem):
    """The switch. Feature ``enhanced`` (default on): the EI image; without it there are no class-maps."""

    version = "12.1"
    default_ports = (*(f"FastEthernet0/{n}" for n in range(1, 25)), "GigabitEthernet0/1", "GigabitEthernet0/2")
    own_types: ClassVar[dict[str, ArgumentType]] = {
        "DSCP13": ArgumentType("DSCP13", _dscp13),
        "BURST": ArgumentType("BURST", _burst),
    }

    def __init__(self, spec: BoxSpec, storage: Storage, clock: Clock) -> None:
        self._enhanced = spec.features.get("enhanced", True)
        self._policies = SwitchPolicies(self, _DIALECT, self._check_port)
        super().__init__(spec, storage, clock)

    def tables(self) -> dict[str, list[Row]]:
        """Command tables by mode."""
        config = [
            *global_rows(self),
            *self.system_rows(),
            row(
                "wrr-queue bandwidth <1-255> <1-255> <1-255> <0-255>", _wrr_bandwidth, "wrr-queue bandwidth [LINE]"
            ),
            row("wrr-queue cos-map <1-4>:queue <0-7>:cos*8", _cos_map, "wrr-queue cos-map [LINE]"),
        ]
        interface = [
            *interface_rows(routed=False),
            setting("mls qos trust cos [pass-through dscp]", key="mls qos trust", rank=70),
            setting("mls qos trust dscp", key="mls qos trust", rank=70),
            setting("mls qos trust device cisco-phone", key="mls qos trust device", rank=70),
            row("mls qos trust", _no_trust, True),
            setting("mls qos cos <0-7>", key="mls qos cos", rank=71, defaults=["mls qos cos 0"]),
            setting("mls qos cos override", rank=72),
        ]
        shows = [
            row("show wrr-queue bandwidth", lambda s, m: self._show_bandwidth()),
            row("show wrr-queue cos-map", lambda s, m: self._show_cos_map()),
            row("show mls qos maps [cos-dscp|dscp-cos]:which", self._show_maps),
            row(f"show mls qos interface [{IF}]", self._show_ports),
        ]
        tables = {**self.system_tables(shows), "config": config, "if": interface, "subif": interface}
        if self._enhanced:
            config += [
                *ios_acl.global_rows(),
                *self._policies.global_rows(),
                row("mls qos map cos-dscp " + " ".join(["DSCP13:v"] * 8), _cos_dscp, "mls qos map cos-dscp [LINE]"),
                row("mls qos map dscp-cos DSCP13:v*13 to <0-7>:cos", _dscp_cos, "mls qos map dscp-cos [LINE]"),
            ]
            interface += self._policies.interface_rows()
            tables |= {**self._policies.tables(), **ios_acl.submode_rows()}
        return tables

    def interface_defaults(self, section: Section) -> None:
        """Switch ports print nothing by default; only VLAN interfaces have addresses."""
        if section.text.startswith("interface Vlan"):
            super().interface_defaults(section)

    def version_texts(self) -> tuple[str, str]:
        """Banner and processor lines."""
        banner = (
            "Cisco Internetwork Operating System Software \n"
            "IOS (tm) C2950 Software (C2950-I6K2L2Q4-M), Version 12.1(22)EA, RELEASE SOFTWARE (fc1)"
        )
        processor = (
            "Cisco WS-C2950T-24 (RC32300) processor (revision R0) with 20808K bytes of memory.\n"
            f"Processor board ID LAB{self.spec.name.upper()}"
        )
        return banner, processor

    def interface_report(self, interface: Section) -> str:
        """The block of ``show interfaces``."""
        state = "administratively down" if "shutdown" in interface else "up"
        return f"{interface.text.split()[1]} is {state}\n  MTU 1500 bytes, BW {self.bandwidth(interface)} Kbit"

    def clear_counters(self) -> None:
        """The 2950 counts nothing by class."""

    # -- data plane --------------------------------------------------------------------------------------
    def offer(self, into: str, out: str, packets: Sequence[Packets], seconds: float) -> list[Outcome]:
        """Switch packets. ``queue`` is ``queue N``; ``egress_class`` says how that queue is served."""
        ingress, egress = self._up(into), self._up(out)
        budgets: dict[str, float] = {}
        outcomes = []
        for at, group in enumerate(packets):
            name, parts = self._ingress(ingress, group, seconds, budgets)
            for part, alive in parts:
                if not alive:
                    outcomes.append(
                        Outcome(
                            part.dscp, part.cos, name, part.count, part.dscp, part.cos, "", "", 0, at, part.count
                        )
                    )
                    continue
                queue = int(WRR_COS.read(self.running)[part.cos])
                cos = part.cos if "switchport mode trunk" in egress.value("switchport mode") else 0
                outcomes.append(
                    Outcome(
                        part.dscp, part.cos, name, 0, part.dscp, cos, self._service(queue), f"queue {queue}", 0,
                        at, part.count,
                    )
                )  # fmt: skip
        return outcomes

    def _up(self, name: str) -> Section:
        held = self.interface(name)
        if "shutdown" in held:
            raise BoxError(f"{self.spec.name}: interface {name} is shut down")
        return held

    def _service(self, queue: int) -> str:
        weights = self.running.value("wrr-queue bandwidth").split()[2:]
        if not weights:
            return "strict"
        if queue == 4 and weights[3] == "0" and not self.faults.ignore_priority:
            return "expedite"
        return f"weight {weights[queue - 1]}"

    def _cos_of(self, dscp: int) -> int:
        # DSCPs outside the thirteen supported ones are taken by their class selector bits.
        return int(DSCP_COS.read(self.running).get(dscp, str(dscp >> 3)))

    def _ingress(
        self, port: Section, packets: Packets, seconds: float, budgets: dict[str, float]
    ) -> tuple[str, list[tuple[Packets, bool]]]:
        policy = self._policies.policy_on(port)
        if policy is None:
            return "", [(self._trusted(port, packets), True)]
        held = self._policies.classify(policy, packets, port.text.split()[1])
        if held is None:  # what no class takes is best effort
            return "", [(packets.marked(dscp=0, cos=0), True)]
        dscp = written_dscp(held)
        marked = packets.marked(dscp=dscp)
        marked = marked.marked(cos=self._cos_of(marked.dscp))
        name = held.text.split()[1]
        good, exceed = split_by_policer(policed(self.running, held), packets, seconds, budgets, name)
        parts = [(marked.kept(good), True)] if good else []
        if packets.count > good:
            down = marked.kept(packets.count - good)
            if exceed.startswith("dscp"):
                down = down.marked(dscp=dscp_value(exceed.split()[1]))
                down = down.marked(cos=self._cos_of(down.dscp))
            parts.append((down, exceed != "drop"))
        return name, parts

    def _trusted(self, port: Section, packets: Packets) -> Packets:
        default = int((port.value("mls qos cos") or "mls qos cos 0").split()[-1])
        trust = port.value("mls qos trust")
        table = eight_values(self.running, "mls qos map cos-dscp", COS_DSCP)
        if "mls qos trust device" in port:
            trust = ""  # no phone is ever seen here, so the port stays untrusted
        if "mls qos cos override" in port or not trust:
            return packets.marked(cos=default, dscp=table[default])
        if trust.startswith("mls qos trust dscp"):
            return packets.marked(cos=self._cos_of(packets.dscp))
        cos = packets.cos if packets.tagged else default
        return packets.marked(cos=cos, dscp=None if "pass-through" in trust else table[cos])

    # -- checks ------------------------------------------------------------------------------------------
    def _check_port(self, shell: Shell, policy: Section) -> None:
        """What hardware of this port cannot do is refused when the policy is attached (texts unconfirmed)."""
        fast = "FastEthernet" in shell.section.text
        for held in policy.starting("class "):
            limit = policed(self.running, held)
            if limit is None:
                continue
            step = _MEGABIT if fast else 8 * _MEGABIT
            high = _FAST_LIMIT if fast else 1016 * _MEGABIT
            bursts = _SMALL_BURSTS if fast else _BURSTS
            if limit[0] % step or limit[0] > high or limit[1] not in bursts:
                raise Refused(f"%Error: policer of class {held.text.split()[1]} not supported on this interface")
            mapped = self.running.get(f"class-map {held.text.split()[1]}")
            for line in mapped.starting("match access-group") if mapped is not None else ():
                self._check_acl(line.text.split()[-1])

    def _check_acl(self, name: str) -> None:
        try:
            entries = ios_acl.AccessList(self.running, name).entries
        except KeyError:
            return
        if any(entry[0] == "deny" for entry in entries):
            raise Refused(f"%Error: deny entries are not supported in QoS access list {name}")

    # -- show --------------------------------------------------------------------------------------------
    def _show_bandwidth(self) -> str:
        weights = self.running.value("wrr-queue bandwidth").split()[2:]
        if not weights:
            return "wrr-queue bandwidth is disabled"
        columns = "".join(f"{weight:>4}" for weight in weights)
        return f"        WRR Queue  :   1   2   3   4\n\n        Bandwidth  :{columns}\n"

    def _show_cos_map(self) -> str:
        table = WRR_COS.read(self.running)
        values = " ".join(table[cos] for cos in range(8))
        return f"CoS Value       : 0 1 2 3 4 5 6 7\nPriority Queue  : {values}"

    def _show_maps(self, shell: Shell, match: Match) -> str:
        del shell
        lines = []
        if match.get("which", "dscp-cos") == "dscp-cos":
            table = DSCP_COS.read(self.running)
            lines += ["   Dscp-cos map:", "       dscp: " + "".join(f"{dscp:>3}" for dscp in SUPPORTED_DSCPS)]
            lines += ["     " + "-" * 47, "        cos: " + "".join(f"{table[d]:>3}" for d in SUPPORTED_DSCPS), ""]
        if match.get("which", "cos-dscp") == "cos-dscp":
            values = eight_values(self.running, "mls qos map cos-dscp", COS_DSCP)
            lines += ["   Cos-dscp map:", "        cos: " + "".join(f"{cos:>3}" for cos in range(8))]
            lines += ["     " + "-" * 32, "       dscp: " + "".join(f"{value:>3}" for value in values)]
        return "\n".join(lines)

    def _show_ports(self, shell: Shell, match: Match) -> str:
        del shell
        wanted = interface_name(match["interface"].replace(" ", "")) if "interface" in match else None
        blocks = []
        for port in self.interfaces():
            name = port.text.split()[1]
            if (wanted is not None and name != wanted) or name.startswith("Vlan"):
                continue
            trust = port.value("mls qos trust").removeprefix("mls qos trust").split()
            state = f"trust {trust[0]}" if trust else "not trusted"
            override = "ena" if "mls qos cos override" in port else "dis"
            cos = (port.value("mls qos cos") or "mls qos cos 0").split()[-1]
            blocks.append(
                f"{name}\ntrust state: {state}\ntrust mode: {state}\nCOS override: {override}\ndefault COS: {cos}\n"
                f"pass-through: {'dscp' if 'pass-through' in trust else 'none'}\n"
                f"trust device: {'cisco-phone' if 'mls qos trust device' in port else 'none'}\n"
            )
        return "\n".join(blocks)


def _wrr_bandwidth(shell: Shell, match: Match) -> None:
    if match.undone:
        shell.section.remove("wrr-queue bandwidth")
    else:
        shell.store(Section(match.text, key="wrr-queue bandwidth", rank=31))


def _cos_map(shell: Shell, match: Match) -> None:
    if match.undone:
        WRR_COS.reset(shell)
    else:
        WRR_COS.assign(shell, [int(cos) for cos in match.values("cos")], match["queue"])


def _cos_dscp(shell: Shell, match: Match) -> None:
    if match.undone or tuple(map(int, match.values("v"))) == COS_DSCP:
        shell.section.remove("mls qos map cos-dscp")
    else:
        shell.store(Section(match.text, key="mls qos map cos-dscp", rank=33))


def _dscp_cos(shell: Shell, match: Match) -> None:
    if match.undone:
        DSCP_COS.reset(shell)
    else:
        DSCP_COS.assign(shell, [int(dscp) for dscp in match.values("v")], match["cos"])


def _no_trust(shell: Shell, match: Match) -> None:
    """Bare ``mls qos trust`` trusts the DSCP; ``no mls qos trust`` trusts nothing."""
    if match.undone:
        shell.section.remove("mls qos trust")
    else:
        shell.store(Section("mls qos trust dscp", key="mls qos trust", rank=70))
