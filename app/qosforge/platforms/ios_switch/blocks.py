"""Configuration objects that the Catalyst switches share: ACLs, class-maps and the policy on host ports."""

from __future__ import annotations

from collections.abc import Iterator

from qosforge.plan.model import Ingress, Plan, Trust
from qosforge.plan.request import DeviceRequest
from qosforge.platforms.base import Block, LoweredDevice
from qosforge.platforms.ios_switch.acl import entries
from qosforge.platforms.ios_switch.classes import ACL_PREFIX, CLASS_DEFAULT, list_kind
from qosforge.platforms.ios_switch.mac_acl import mac_entries
from qosforge.templating import render


def classifier_blocks(platform: str, plan: Plan, lowered: LoweredDevice, request: DeviceRequest) -> Iterator[Block]:
    """Access lists, then class-maps, then policies of the ports that recognise classes, each once."""
    lines = {c.name: c.line for c in request.classes}
    recognising = {i.name for i in request.interfaces if i.recognise}
    ports = [i.ingress for i in plan.interfaces if i.name in recognising and i.ingress.policy]
    rules = {rule.name: rule for ingress in ports for rule in ingress.rules if rule.name != CLASS_DEFAULT}
    for rule in rules.values():
        kind = list_kind(rule)
        if kind is not None:
            name = ACL_PREFIX + rule.name
            held = mac_entries(rule.any_of) if kind == "mac" else entries(rule.any_of)
            text = render("ios_switch/access_list.j2", kind=kind, name=name, entries=held)
            traffic_class = lowered.classes[rule.name]
            yield Block("access-list", name, text, traffic_class, lines[traffic_class])
    for rule in rules.values():
        acl = ACL_PREFIX + rule.name if list_kind(rule) else None
        text = render(f"{platform}/class_map.j2", name=rule.name, acl=acl, marks=rule.any_of[0])
        traffic_class = lowered.classes[rule.name]
        yield Block("class-map", rule.name, text, traffic_class, lines[traffic_class])
    for name, policy_rules in {ingress.policy or "": ingress.rules for ingress in ports}.items():
        yield Block("policy-map", name, render(f"{platform}/policy_map.j2", name=name, rules=policy_rules))


def trust_line(ingress: Ingress) -> str:
    """The mark that a port without a policy trusts; a phone's is the CoS."""
    mark = {Trust.DSCP: "dscp", Trust.COS: "cos", Trust.PHONE: "cos"}.get(ingress.trust)
    return f"mls qos trust {mark}" if mark else "no mls qos trust"


def map_blocks(plan: Plan) -> Iterator[Block]:
    """The maps between CoS and DSCP that the plan speaks of; as delivered, they are reset."""
    if plan.system.cos_to_dscp is not None:
        text = render("ios_switch/cos_dscp_map.j2", table=plan.system.cos_to_dscp)
        yield Block("map", "cos-dscp", text)
    if plan.system.dscp_to_cos is not None:
        changed = [(d, cos) for d, cos in enumerate(plan.system.dscp_to_cos) if cos != d // 8]
        rows = [([d for d, c in changed if c == cos], cos) for cos in sorted({c for _, c in changed})]
        text = render("ios_switch/dscp_cos_map.j2", rows=_split(rows))
        yield Block("map", "dscp-cos", text)


def _split(rows: list[tuple[list[int], int]]) -> list[tuple[list[int], int]]:
    return [(part, key) for values, key in rows for part in eights(values)]


def eights(values: list[int]) -> list[list[int]]:
    """Values in portions of eight: what one line of a map takes on these switches (2970 guide)."""
    return [values[i : i + 8] for i in range(0, len(values), 8)]
