"""Commands of the 5510 for access-lists: ``qos ip-acl``, ``qos l2-acl`` and ``qos acl-assign``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from qoslab.boxes.nortel_5510.acl import AclAssignment, AclEntry
from qoslab.boxes.nortel_5510.arguments import (
    config,
    incomplete,
    new_name,
    number,
    parse_ports,
    refused,
    single,
)
from qoslab.boxes.nortel_5510.criteria import IP_OPTIONS, L2_OPTIONS, ip_fields, l2_fields
from qoslab.boxes.nortel_5510.fields import IpFields, L2Fields
from qoslab.boxes.nortel_5510.resources import fitting
from qoslab.boxes.nortel_5510.state import QosConfig
from qoslab.grammar import Match
from qoslab.shell import Row, Run, Shell
from qoslab.typed import row

LAST_NUMBER = 55_000


def _free_number(taken: Iterable[int]) -> int:
    found = max(taken, default=0) + 1
    if found > LAST_NUMBER:
        raise refused("Inappropriate value - insufficient resources")
    return found


def _unassigned(state: QosConfig, kind: str, name: str) -> None:
    if any((held.kind, held.name) == (kind, name) for held in state.acl_assignments.values()):
        raise refused("Access list is assigned to a port")


def _entry(kind: str, fields: Callable[[Match], IpFields | L2Fields]) -> Run:
    """The command that adds an entry to a list of ``kind`` or removes one by its number."""

    def run(shell: Shell, match: Match) -> None:
        state = config(shell)
        held = state.acls[kind]
        if match.negated:
            present = held.get(match.number("id"))
            if present is None:
                raise refused(f"Access list entry {match['id']} does not exist")
            _unassigned(state, kind, present.name)
            del held[present.number]
            return
        single(match)
        if "name" not in match:
            raise incomplete(match)
        made = AclEntry(
            _free_number(held),
            kind,
            new_name(match),
            fields(match),
            match.get("drop"),
            number(match, "mark"),
            number(match, "cos"),
            match.get("precedence"),
            match.get("block"),
        )
        _unassigned(state, kind, made.name)
        others = [entry for entry in state.entries(kind, made.name) if made.block and entry.block == made.block]
        if any(entry.fields.mask() != made.fields.mask() for entry in others):
            raise refused("All members of a block must have the same mask")
        held[made.number] = made

    return run


def _assign(shell: Shell, match: Match) -> None:
    state, kind, name = config(shell), match["kind"], match["name"]
    ports = tuple(parse_ports(match["ports"]) or ())
    if not state.entries(kind, name):
        raise refused(f"Access list {name} does not exist")
    for held in state.acl_assignments.values():
        if (held.kind, held.name) == (kind, name) and set(held.ports) & set(ports):
            raise refused(f"Access list {name} is already assigned to the port")
    made = AclAssignment(_free_number(state.acl_assignments), kind, name, ports)
    with fitting(state):
        state.acl_assignments[made.number] = made


def _assignment(state: QosConfig, match: Match) -> AclAssignment:
    found = state.acl_assignments.get(match.number("id"))
    if found is None:
        raise refused(f"Access list assignment {match['id']} does not exist")
    return found


def _unassign(shell: Shell, match: Match) -> None:
    state = config(shell)
    held, ports = _assignment(state, match), parse_ports(match["ports"]) or []
    if not set(ports) <= set(held.ports):
        raise refused(f"Access list is not assigned to port {match['ports']}")
    rest = tuple(port for port in held.ports if port not in ports)
    with fitting(state):
        if rest:
            state.acl_assignments[held.number] = replace(held, ports=rest)
        else:
            del state.acl_assignments[held.number]


def _assignment_state(shell: Shell, match: Match) -> None:
    if match.negated:
        _unassign(shell, match)
        return
    state = config(shell)
    held = _assignment(state, match)
    with fitting(state):
        state.acl_assignments[held.number] = replace(held, enabled=match["state"] == "enable")


_TREATMENT = (
    "|drop-action {enable|disable|deferred-pass}:drop|update-dscp <0-63>:mark|update-1p <0-7>:cos"
    "|set-drop-prec {low-drop|high-drop}:precedence|block NAME:block"
)

ACL_ROWS: list[Row] = [
    row(f"qos ip-acl {{name NAME:name|{IP_OPTIONS}{_TREATMENT}}}*16", _entry("ip", ip_fields),
        no="qos ip-acl <1-55000>:id"),
    row(f"qos l2-acl {{name NAME:name|{L2_OPTIONS}{_TREATMENT}}}*15", _entry("l2", l2_fields),
        no="qos l2-acl <1-55000>:id"),
    row("qos acl-assign port PORTS:ports acl-type {ip|l2}:kind name NAME:name", _assign),
    row("qos acl-assign <1-55000>:id {enable|disable}:state", _assignment_state,
        no="qos acl-assign <1-55000>:id port PORTS:ports"),
]  # fmt: skip
