"""A Force10 E300 under FTOS 8.4: modes, prompts, data plane.

Written from the published E-Series guides.  Texts and tables without a published form follow the
house style and say so where they are made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Protocol, cast

from qoslab.boxes.force10_e300 import (
    cam,
    classes,
    interfaces,
    lists,
    lldp,
    maps,
    names,
    policies,
    qos,
    show,
    system,
)
from qoslab.boxes.force10_e300.exec import ENABLE_ROWS, EXEC_ROWS
from qoslab.boxes.force10_e300.plane import conforming, egress, ingress, metered
from qoslab.boxes.force10_e300.state import VERSION, Block, Chassis, Interface, PolicyMap
from qoslab.clock import Clock
from qoslab.errors import BoxError
from qoslab.grammar import Command, Grammar, Match, SyntaxRefused
from qoslab.metering import Metering
from qoslab.packets import Outcome, Packets
from qoslab.shell import Mode, Reply, Row, Shell
from qoslab.spec import BoxSpec
from qoslab.storage import Storage
from qoslab.typed import Held, TypedBox
from qoslab.wiring import Announcement, base_mac

_TYPES = {**qos.TYPES, **lists.TYPES, **names.TYPES}

_FORCE10 = "0001e8"  # Force10's prefix
_SUFFIXES = {
    "class-map": "conf-class-map",
    "qos-policy-input": "conf-qos-policy-in",
    "qos-policy-output": "conf-qos-policy-out",
    "wred-profile": "conf-wred",
    "policy-map-input": "conf-policy-map-in",
    "policy-map-output": "conf-policy-map-out",
    "acl-extended": "config-ext-nacl",
    "acl-standard": "config-std-nacl",
    "acl-mac": "conf-mac-acl",
    "router": "conf-router_ospf",
    "spanning-tree": "conf-rstp",
    "lldp": "conf-lldp",
}


class Printed(Protocol):
    """A configuration object that knows its lines."""

    def lines(self) -> Iterator[str]:
        """The object as the listing shows it."""


class Force10E300(TypedBox[Chassis]):
    """The box: ``state`` is what it is configured to do, ``counters`` what passed through it."""

    # FTOS Configuration Guide for ExaScale 8.4.1.5, p. 395 (the form) and p. 387 (it goes to all terminal lines).
    log_line = "May  8 06:28:35: %RPM0-P:CP %TME-2-PROC_RESTART: Restarting crashed process tacplus"
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
        self.log: list[str] = []
        self._unfit: set[str] = set()
        self.changed_at = clock.stamp(show.STAMP)
        self.modes = _modes()
        self.state = self.factory_state()

    def factory_state(self) -> Chassis:
        return Chassis(self.spec.image or VERSION)

    def factory_reset(self) -> None:
        super().factory_reset()
        self.counters = {}
        self.log = []
        self._unfit = set()

    def changed(self, shell: Shell) -> None:
        self.hostname = self.state.hostname
        self.changed_at = self.clock.stamp(show.STAMP)
        unfit = list(cam.messages(self.state))
        self.log += [f"{self.changed_at}: {text}" for text in unfit if text not in self._unfit]
        self._unfit = set(unfit)
        held = shell.section
        if isinstance(held, Held) and isinstance(held.item, PolicyMap):
            # The rules of the map are installed anew (E600i reference p. 1153).
            for port in self.state.users_of_map(held.item.direction, held.item.name):
                self._counters(self.state.interfaces[port]).forget_matches()

    def running_text(self) -> str:
        return "\n".join(show.body(self.state)) + "\n"

    def attached_policies(self) -> dict[str, str]:
        return {
            f"{interface.name} {direction}": name
            for interface in self.state.interfaces.values()
            for direction, name in interface.policies.items()
        }

    def name_line(self, name: str) -> str:
        return f"hostname {name}"

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

    # -- neighbours ---------------------------------------------------------------------------------------
    @property
    def mac(self) -> str:
        """The chassis's own address."""
        return base_mac(_FORCE10, self.spec.name)

    def port_name(self, name: str) -> str:
        """``gi0/1`` in full."""
        return names.canonical_interface(name) or name

    def sends(self, protocol: str, port: str) -> bool:
        """LLDP, once it is switched on."""
        held = self.state.interfaces.get(port)
        return protocol == "lldp" and lldp.runs(self.state) and held is not None and not held.shutdown

    def announcement(self, protocol: str, port: str) -> Announcement:
        """Port and chassis, and of the rest what ``advertise management-tlv`` names."""
        del protocol
        addresses = (held.address.partition("/")[0] for held in self.state.interfaces.values())
        named = lldp.tells(self.state, "system-name")
        described = lldp.tells(self.state, "system-description")
        return Announcement(
            name=self.state.hostname if named else "",
            port=port,
            address=next(filter(None, addresses), "") if lldp.tells(self.state, "management-address") else "",
            mac=self.mac,
            software=f"Force10 Networks Real Time Operating System Software. {self.state.version}"
            if described
            else "",
            capabilities=("Bridge", "Router") if lldp.tells(self.state, "system-capabilities") else (),
        )

    # -- data plane ---------------------------------------------------------------------------------------
    def port(self, name: str) -> Interface:
        """A physical port that is up. Raises BoxError when the box has no such port."""
        interface = self.state.interfaces.get(names.canonical_interface(name) or "")
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
        self._counters(entry).arrive(way_in.queue, offered.count, offered.bytes)
        if way_in.policy:
            police = way_in.policy.police
            passed = conforming(f"{entry.name} police {way_in.meter}", police, way_in.packets, metering)
        else:
            passed = metered(entry, "police", way_in.packets, metering)
        if way_in.class_map:
            self._counters(entry).match(way_in.queue, offered.count, offered.bytes)
        way_out = egress(self.state, leave, way_in.queue, way_in.colour)
        if way_out.policy:
            limit = way_out.policy.limit
            kept = conforming(f"{leave.name} limit {way_out.meter}", limit, passed, metering).count
        else:
            kept = metered(leave, "limit", passed, metering).count
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


def _suffix(shell: Shell) -> str:
    """The part of the prompt in parentheses."""
    held = shell.section
    if isinstance(held, Held) and isinstance(held.item, Interface):
        return f"conf-if-{names.SHORT_NAMES[held.item.family]}-{held.item.number}"
    if isinstance(held, Held) and isinstance(held.item, interfaces.InterfaceRange):
        return f"conf-if-range-{held.item.text}"
    if isinstance(held, Held) and isinstance(held.item, Block) and held.item.head.startswith("line "):
        return f"config-line-{held.item.head.split()[1]}"
    return _SUFFIXES.get(shell.mode.name, "conf")


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
    "class-map": classes.CLASS_MAP_ROWS,
    "qos-policy-input": policies.INPUT_POLICY_ROWS,
    "qos-policy-output": policies.OUTPUT_POLICY_ROWS,
    "wred-profile": policies.WRED_ROWS,
    "policy-map-input": maps.POLICY_MAP_INPUT_ROWS,
    "policy-map-output": maps.POLICY_MAP_OUTPUT_ROWS,
    "acl-extended": lists.EXTENDED_ROWS,
    "acl-standard": lists.STANDARD_ROWS,
    "acl-mac": lists.MAC_ROWS,
    "interface": interfaces.INTERFACE_ROWS,
    "router": system.ROUTER_ROWS,
    "line": system.LINE_ROWS,
    "spanning-tree": system.TREE_ROWS,
    "lldp": lldp.LLDP_ROWS,
}


def _modes() -> dict[str, Mode]:
    tables: dict[str, list[Row]] = {
        "exec": EXEC_ROWS,
        "enable": ENABLE_ROWS,
        "interface-range": [*_ALWAYS, *interfaces.RANGE_ROWS],
        "config": [
            *_ALWAYS,
            *system.SYSTEM_ROWS,
            *lists.LIST_ROWS,
            *classes.CLASS_ROWS,
            *policies.POLICY_ROWS,
            *maps.MAP_ROWS,
            *interfaces.OPEN_ROWS,
            *lldp.OPEN_ROWS,
        ],
    }
    for name, rows in _SUBMODE_ROWS.items():
        tables[name] = [*_ALWAYS, Command("show config", _show_config), *rows]
    return {name: Mode(name, name, Grammar(rows, _TYPES)) for name, rows in tables.items()}
