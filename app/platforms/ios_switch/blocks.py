"""Configuration objects that the Catalyst switches share: ACLs, class-maps and the policy on host ports."""

from __future__ import annotations

from collections.abc import Iterator

from app.plan.model import Plan
from app.plan.request import DeviceRequest
from app.platforms.base import Block, Lowered
from app.platforms.ios_switch.acl import entries
from app.platforms.ios_switch.classes import ACL_PREFIX, in_list
from app.templating import render


def classifier_blocks(platform: str, plan: Plan, lowered: Lowered, request: DeviceRequest) -> Iterator[Block]:
    """ACLs, then class-maps, then policies of the ports that recognise classes, each once."""
    lines = {c.name: c.line for c in request.classes}
    recognising = {i.name for i in request.interfaces if i.recognise}
    ports = [i.ingress for i in plan.interfaces if i.name in recognising and i.ingress.policy]
    rules = {rule.name: rule for ingress in ports for rule in ingress.rules}
    for rule in rules.values():
        if in_list(rule.any_of[0]):
            name = ACL_PREFIX + rule.name
            text = render(f"{platform}/access_list.j2", name=name, entries=entries(rule.any_of))
            traffic_class = lowered.classes[rule.name]
            yield Block("access-list", name, text, traffic_class, lines[traffic_class])
    for rule in rules.values():
        acl = ACL_PREFIX + rule.name if in_list(rule.any_of[0]) else None
        text = render(f"{platform}/class_map.j2", name=rule.name, acl=acl, dscp=rule.any_of[0].dscp)
        traffic_class = lowered.classes[rule.name]
        yield Block("class-map", rule.name, text, traffic_class, lines[traffic_class])
    for name, policy_rules in {ingress.policy or "": ingress.rules for ingress in ports}.items():
        yield Block("policy-map", name, render(f"{platform}/policy_map.j2", name=name, rules=policy_rules))


def map_blocks(platform: str, plan: Plan) -> Iterator[Block]:
    """The maps between CoS and DSCP that the plan speaks of; as delivered, they are reset."""
    if plan.system.cos_to_dscp is not None:
        text = render(f"{platform}/cos_dscp_map.j2", table=plan.system.cos_to_dscp)
        yield Block("map", "cos-dscp", text)
    if plan.system.dscp_to_cos is not None:
        changed = [(d, cos) for d, cos in enumerate(plan.system.dscp_to_cos) if cos != d // 8]
        rows = [([d for d, c in changed if c == cos], cos) for cos in sorted({c for _, c in changed})]
        text = render(f"{platform}/dscp_cos_map.j2", rows=_split(rows))
        yield Block("map", "dscp-cos", text)


def _split(rows: list[tuple[list[int], int]]) -> list[tuple[list[int], int]]:
    return [(part, key) for values, key in rows for part in eights(values)]


def eights(values: list[int]) -> list[list[int]]:
    """Values in portions of eight: what one line of a map takes on these switches (2970 guide)."""
    return [values[i : i + 8] for i in range(0, len(values), 8)]
