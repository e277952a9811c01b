"""A Force10 E300 under FTOS 8.4: login, modes, exec commands, data plane.

Written from the published E-Series guides.  Texts and tables without a published form follow the
house style and say so where they are made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Protocol, cast

from app.lab.boxes import force10_e300_lists as lists
from app.lab.boxes import force10_e300_qos as qos
from app.lab.boxes import force10_e300_show as show
from app.lab.boxes import force10_e300_system as system
from app.lab.boxes.force10_e300_plane import egress, ingress, passing
from app.lab.boxes.force10_e300_state import (
    PREDEFINED_WRED,
    SHORT_NAMES,
    VERSION,
    Block,
    Chassis,
    Interface,
    PolicyMap,
)
from app.lab.clock import Clock
from app.lab.errors import BoxError
from app.lab.grammar import Command, Grammar, Match, Refused, SyntaxRefused
from app.lab.metering import Metering
from app.lab.packets import Outcome, Packets
from app.lab.shell import Mode, Question, Reply, Row, Shell
from app.lab.spec import BoxSpec
from app.lab.storage import Storage
from app.lab.typed import Held, TypedBox

_TYPES = {**qos.TYPES, **lists.TYPES, **system.TYPES}

_SUFFIXES = {
    "class-map": "conf-class-map",
    "qos-policy-input": "conf-qos-policy-in",
    "qos-policy-output": "conf-qos-policy-out",
    "wred-profile": "conf-wred",
    "policy-map-input": "conf-policy-map-in",
    "policy-map-output": "conf-policy-map-out",
    "acl-extended": "config-ext-nacl",
    "acl-standard": "config-std-nacl",
    "router": "conf-router_ospf",
    "spanning-tree": "conf-rstp",
}


class Printed(Protocol):
    """A configuration object that knows its lines."""

    def lines(self) -> Iterator[str]:
        """The object as the listing shows it."""


class Force10E300(TypedBox[Chassis]):
    """The box: ``state`` is what it is configured to do, ``counters`` what passed through it."""

    more_prompt = "--More--"
    output_filters: ClassVar[Mapping[str, str]] = {
        "grep": "include",
        "except": "exclude",
        "find": "begin",
        "no-more": "all",
    }

    def __init__(self, spec: BoxSpec, storage: Storage, clock: Clock) -> None:
        super().__init__(spec, storage, clock)
        self.counters: dict[str, show.QueueCounters] = {}
        self.changed_at = clock.stamp(show.STAMP)
        self.modes = _modes()
        self.state = self.factory_state()

    def factory_state(self) -> Chassis:
        return Chassis(self.spec.image or VERSION)

    def factory_reset(self) -> None:
        super().factory_reset()
        self.counters = {}

    def changed(self, shell: Shell) -> None:
        self.hostname = self.state.hostname
        self.changed_at = self.clock.stamp(show.STAMP)
        held = shell.section
        if isinstance(held, Held) and isinstance(held.item, PolicyMap):
            # The rules of the map are installed anew (E600i reference p. 1153).
            for port in self.state.users_of_map(held.item.direction, held.item.name):
                self._counters(self.state.interfaces[port]).forget_matches()

    def running_text(self) -> str:
        return "\n".join(show.body(self.state)) + "\n"

    def prompt(self, shell: Shell) -> str:
        if not shell.configuring:
            return self.state.hostname + ("#" if shell.privileged else ">")
        return f"{self.state.hostname}({_suffix(shell)})#"

    def syntax_error(self, shell: Shell, error: SyntaxRefused) -> str:
        if error.kind == "incomplete":
            return "% Error: Incomplete command."
        if error.kind == "ambiguous":
            return "% Error: Ambiguous command."
        return " " * (len(shell.prompt) + error.column) + '^\n% Invalid input at "^" marker.'

    # -- data plane ---------------------------------------------------------------------------------------
    def port(self, name: str) -> Interface:
        """A physical port that is up. Raises BoxError when the box has no such port."""
        interface = self.state.interfaces.get(system.canonical_interface(name) or "")
        if interface is None or not interface.physical:
            raise BoxError(f"{self.spec.name}: no port {name!r}")
        if interface.shutdown:
            raise BoxError(f"{self.spec.name}: port {interface.name} is shut down")
        return interface

    def offer(self, into: str, out: str, packets: Sequence[Packets], seconds: float) -> list[Outcome]:
        entry, leave, metering = self.port(into), self.port(out), Metering(seconds)
        return [replace(self._forward(entry, leave, group, metering), group=at) for at, group in enumerate(packets)]

    def _forward(self, entry: Interface, leave: Interface, offered: Packets, metering: Metering) -> Outcome:
        way_in = ingress(self.state, entry, replace(offered, cos=offered.cos if offered.tagged else 0))
        police = way_in.policy.police if way_in.policy else ""
        passed = _metered(police, entry, "rate police", way_in.packets, metering)
        if way_in.class_map:
            self._counters(entry).match(way_in.queue, offered.count, offered.bytes)
        way_out = egress(self.state, leave, way_in.queue, way_in.colour)
        limit = way_out.policy.limit if way_out.policy else ""
        kept = _metered(limit, leave, "rate limit", passed, metering).count
        kept = kept if way_out.scheduled else 0
        self._counters(leave).queue(way_in.queue, kept, passed.bytes)
        strict = way_out.strict and not self.faults.ignore_priority
        return Outcome(
            dscp_in=passed.dscp,
            cos_in=passed.cos,
            ingress_class=way_in.class_map,
            dropped_in=offered.count - passed.count,
            dscp_out=passed.dscp,
            cos_out=passed.cos,
            egress_class=way_out.policy.name if way_out.policy else "",
            queue=f"{way_in.queue} strict" if strict else str(way_in.queue),
            dropped_out=passed.count - kept,
        )

    def _counters(self, interface: Interface) -> show.QueueCounters:
        return self.counters.setdefault(interface.name, show.QueueCounters())


def _metered(rate: str, interface: Interface, option: str, packets: Packets, metering: Metering) -> Packets:
    """The packets that a policy's meter (``rate``) or else the port's own (``option``) lets pass."""
    rate = rate or interface.options.get(option, "").removeprefix(f"{option} ")
    if not rate:
        return packets
    return packets.kept(passing(f"{interface.name} {option} {rate}", rate, packets, metering))


def _suffix(shell: Shell) -> str:
    """The part of the prompt in parentheses."""
    held = shell.section
    if isinstance(held, Held) and isinstance(held.item, Interface):
        return f"conf-if-{SHORT_NAMES[held.item.family]}-{held.item.number}"
    if isinstance(held, Held) and isinstance(held.item, Block) and held.item.head.startswith("line "):
        return f"config-line-{held.item.head.split()[1]}"
    return _SUFFIXES.get(shell.mode.name, "conf")


def _box(shell: Shell) -> Force10E300:
    assert isinstance(shell.box, Force10E300)
    return shell.box


# -- exec commands ------------------------------------------------------------------------------------


def _enable(shell: Shell, match: Match) -> Reply:
    del match
    if not shell.box.spec.secret or shell.privileged:
        shell.privileged = True
        return Reply()

    def check(answer: str) -> Reply:
        shell.privileged = answer == shell.box.spec.secret
        return Reply("" if shell.privileged else "% Error: Access denied.")

    return Reply(ask=Question("Password: ", check, echo=False))


def _disable(shell: Shell, match: Match) -> None:
    del match
    shell.privileged = False


def _terminal(shell: Shell, match: Match) -> None:
    if "length" in match:
        shell.length = match.number("length")
    else:
        shell.width = match.number("width")


def _configure(shell: Shell, match: Match) -> None:
    del match
    shell.enter("config", shell.box.running)


def _quit(shell: Shell, match: Match) -> Reply:
    del shell, match
    return Reply(close=True)


def _saved(shell: Shell) -> str:
    shell.box.save()
    return f"!\n{len(shell.box.running_text())} bytes successfully copied"


def _write(shell: Shell, match: Match) -> str:
    del match
    return _saved(shell)


def _copy(shell: Shell, match: Match) -> Reply:
    del match

    def decide(answer: str) -> Reply:
        return Reply(_saved(shell) if "yes".startswith(answer.strip().lower() or "no") else "")

    question = Question("Proceed to copy the file [confirm yes/no]: ", decide)
    return Reply("File with same name already exist.", ask=question)


def _reload(shell: Shell, match: Match) -> Reply:
    del match

    def decide(answer: str) -> Reply:
        if not "yes".startswith(answer.strip().lower() or "no"):
            return Reply()
        shell.box.reboot()
        return Reply(abort=True)

    return Reply(ask=Question("Proceed with reload [confirm yes/no]: ", decide))


def _show_running(shell: Shell, match: Match) -> str:
    box = _box(shell)
    if "part" not in match:
        return "\n".join(show.listing(box.state, box.changed_at))
    return "\n".join(show.part(box.state, match["part"], match.get("name")))


def _show_startup(shell: Shell, match: Match) -> str:
    del match
    return shell.box.storage.startup().rstrip("\n")


def _show_version(shell: Shell, match: Match) -> str:
    del match
    return "\n".join(show.version(_box(shell).state, shell.box.clock.seconds() - shell.box.booted_at))


def _show_policy_map(shell: Shell, match: Match) -> str:
    state = _box(shell).state
    if match["form"] == "summary":
        return "\n".join(show.policy_summary(state))
    return "\n".join(show.policy_detail(state, match.get("interface")))


def _show_statistics(shell: Shell, match: Match) -> str:
    box = _box(shell)
    only = match.get("interface")
    if "wred" in match:
        return "\n".join(show.wred_statistics(box.state, only))
    return "\n".join(show.qos_statistics(box.state, box.counters, only))


def _show_wred(shell: Shell, match: Match) -> str:
    state, name = _box(shell).state, match.get("name")
    if name and name not in {*PREDEFINED_WRED, *state.wred}:
        raise Refused(f"% Error: WRED profile {name} does not exist.")
    return "\n".join(show.wred_profiles(state, name))


def _show_object(shell: Shell, match: Match) -> str:
    return "\n".join(show.part(_box(shell).state, match["part"], match.get("name")))


def _clear(shell: Shell, match: Match) -> None:
    box = _box(shell)
    if "interface" in match:
        box.counters.pop(match["interface"], None)
    else:
        box.counters.clear()


_OBJECTS = (
    "{class-map|qos-policy-input|qos-policy-output|policy-map-input|policy-map-output|wred-profile}:part"
    " [WORD:name]"
)

_EXEC_ROWS: list[Row] = [
    Command("enable", _enable),
    Command("exit", _quit),
    Command("logout", _quit),
    Command("quit", _quit),
    Command("terminal {length <0-512>:length|width <0-511>:width}", _terminal),
    Command("show version", _show_version),
]
_ENABLE_ROWS: list[Row] = [
    *_EXEC_ROWS,
    Command("disable", _disable),
    Command("end", lambda shell, match: None),
    Command("configure [terminal]", _configure),
    Command("write [memory]", _write),
    Command("copy running-config startup-config", _copy),
    Command("reload", _reload),
    Command("show running-config", _show_running),
    Command(f"show running-config {_OBJECTS}", _show_running),
    Command(f"show running-config interface:part [{system.NAMED.replace(':interface', ':name')}]", _show_running),
    Command("show startup-config", _show_startup),
    Command("show qos policy-map {summary|detail}:form", _show_policy_map),
    Command(f"show qos policy-map detail:form {system.NAMED}", _show_policy_map),
    Command("show qos wred-profile [WORD:name]", _show_wred),
    Command(f"show qos {_OBJECTS.replace('|wred-profile', '')}", _show_object),
    Command(f"show qos statistics [wred-profile:wred] [{system.NAMED}]", _show_statistics),
    Command(f"clear qos statistics [{system.NAMED}]", _clear),
]


# -- modes --------------------------------------------------------------------------------------------


def _exit(shell: Shell, match: Match) -> None:
    del match
    if len(shell.levels) == 1:
        shell.end()
    else:
        shell.leave()


def _end(shell: Shell, match: Match) -> None:
    del match
    shell.end()


def _do(shell: Shell, match: Match) -> Reply:
    return shell.run_exec(match["line"])


def _show_config(shell: Shell, match: Match) -> str:
    del match
    held = shell.section
    assert isinstance(held, Held)
    return "\n".join(["!", *cast("Printed", held.item).lines()])


_ALWAYS: list[Row] = [Command("exit", _exit), Command("end", _end), Command("do LINE:line", _do)]

_SUBMODE_ROWS: dict[str, list[Row]] = {
    "class-map": qos.CLASS_MAP_ROWS,
    "qos-policy-input": qos.INPUT_POLICY_ROWS,
    "qos-policy-output": qos.OUTPUT_POLICY_ROWS,
    "wred-profile": qos.WRED_ROWS,
    "policy-map-input": qos.POLICY_MAP_INPUT_ROWS,
    "policy-map-output": qos.POLICY_MAP_OUTPUT_ROWS,
    "acl-extended": lists.EXTENDED_ROWS,
    "acl-standard": lists.STANDARD_ROWS,
    "interface": system.INTERFACE_ROWS,
    "router": system.ROUTER_ROWS,
    "line": system.LINE_ROWS,
    "spanning-tree": system.TREE_ROWS,
}


def _modes() -> dict[str, Mode]:
    tables: dict[str, list[Row]] = {
        "exec": _EXEC_ROWS,
        "enable": _ENABLE_ROWS,
        "config": [*_ALWAYS, *system.SYSTEM_ROWS, *lists.LIST_ROWS, *qos.QOS_ROWS],
    }
    for name, rows in _SUBMODE_ROWS.items():
        tables[name] = [*_ALWAYS, Command("show config", _show_config), *rows]
    return {name: Mode(name, name, Grammar(rows, _TYPES)) for name, rows in tables.items()}
