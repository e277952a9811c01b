"""Configuration objects that the Catalyst switches share: ACLs, class-maps and the policy on host ports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from qosforge.plan.model import Ingress, Plan, Term, Trust
from qosforge.plan.request import DeviceRequest
from qosforge.platforms.blocks import BlockWriter
from qosforge.platforms.ios_switch.classes import list_kind
from qosforge.platforms.ios_switch.marks import DEFAULT_DSCP_TO_COS
from qosforge.platforms.mqc.access_lists import entries
from qosforge.platforms.mqc.lines import ACL_PREFIX, CLASS_DEFAULT

T = TypeVar("T", int, tuple[int, int])


def add_classifiers(result: BlockWriter, plan: Plan, request: DeviceRequest, **spelling: bool) -> None:
    """Access lists, then class-maps, then policies (with ``spelling``) of ports that recognise classes."""
    recognising = {i.name for i in request.interfaces if i.recognise}
    ports = [i.ingress for i in plan.interfaces if i.name in recognising and i.ingress.policy]
    rules = {rule.name: rule for ingress in ports for rule in ingress.rules if rule.name != CLASS_DEFAULT}
    for rule in rules.values():
        kind, name = list_kind(rule), ACL_PREFIX + rule.name
        if kind is not None:
            lines = mac_entries(rule.any_of) if kind == "mac" else entries(rule.any_of)
            template = "mqc/access_list"
            result.add("access-list", name, template, of=rule.name, kind=kind, name=name, entries=lines)
    for rule in rules.values():
        acl = ACL_PREFIX + rule.name if list_kind(rule) else None
        result.add("class-map", rule.name, of=rule.name, name=rule.name, acl=acl, marks=rule.any_of[0])
    for ingress in ports:
        name = ingress.policy or ""
        result.add_once("policy-map", name, name=name, rules=ingress.rules, **spelling)


def trust_line(ingress: Ingress) -> str:
    """The mark that a port without a policy trusts; a phone's is the CoS."""
    mark = {Trust.DSCP: "dscp", Trust.COS: "cos", Trust.PHONE: "cos"}.get(ingress.trust)
    return f"mls qos trust {mark}" if mark else "no mls qos trust"


def add_maps(result: BlockWriter, plan: Plan, delivered: tuple[int, ...] = DEFAULT_DSCP_TO_COS) -> None:
    """The maps between CoS and DSCP that the plan speaks of; as delivered, they are reset.

    ``delivered`` is the CoS of every DSCP as delivered.
    """
    if plan.system.cos_to_dscp is not None:
        result.add("map", "cos-dscp", "ios_switch/cos_dscp_map", table=plan.system.cos_to_dscp)
    if plan.system.dscp_to_cos is not None:
        rows = map_rows(plan.system.dscp_to_cos, delivered)
        result.add("map", "dscp-cos", "ios_switch/dscp_cos_map", rows=rows)


def map_rows(table: Sequence[T], default: Sequence[T]) -> list[tuple[list[int], T]]:
    """What is not as delivered in a map: marks and their value, at most eight marks a line (2970 guide)."""
    changed = [mark for mark, value in enumerate(table) if value != default[mark]]
    return [
        (marks[at : at + 8], value)
        for value in sorted({table[mark] for mark in changed})
        for marks in [[mark for mark in changed if table[mark] == value]]
        for at in range(0, len(marks), 8)
    ]


def mac_entries(terms: tuple[Term, ...]) -> tuple[str, ...]:
    """The entry of every term of MAC addresses."""
    ends = [[f"host {mac}" if mac else "any" for mac in (t.source_mac, t.destination_mac)] for t in terms]
    return tuple(f"permit {source} {destination}" for source, destination in ends)
