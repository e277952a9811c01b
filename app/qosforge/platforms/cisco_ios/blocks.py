"""The configuration objects of an IOS plan."""

from __future__ import annotations

from collections.abc import Iterator

from qosforge.plan.model import Egress, Plan, Rule
from qosforge.plan.request import DeviceRequest
from qosforge.platforms.base import Block, LoweredDevice
from qosforge.platforms.cisco_ios.applications import protocol_words
from qosforge.platforms.cisco_ios.interfaces import interfaces, map_classes
from qosforge.platforms.cisco_ios.matching import class_map, matches_marks
from qosforge.platforms.cisco_ios.policy_maps import marking_policy, queueing_policies
from qosforge.platforms.cisco_ios.rules import every_class
from qosforge.platforms.mqc.access_lists import ip_entries
from qosforge.platforms.mqc.lines import ACL_PREFIX, CLASS_DEFAULT
from qosforge.templating import render


def blocks(plan: Plan, lowered: LoweredDevice, request: DeviceRequest) -> tuple[Block, ...]:
    """Class-maps, policy-maps and interfaces, in the order people read them."""
    lines = {c.name: c.line for c in every_class(request.classes)}
    result: list[Block] = []
    seen: dict[tuple[str, str], None] = {}

    def add(kind: str, name: str, text: str, traffic_class: str | None = None) -> None:
        if (kind, name) not in seen:
            seen[kind, name] = None
            result.append(Block(kind, name, text, traffic_class, lines.get(traffic_class or "")))

    for interface in plan.interfaces:
        for rule in (*interface.ingress.rules, *_every_rule(interface.egress)):
            if rule.name == CLASS_DEFAULT or ("class-map", rule.name) in seen:
                continue
            made = class_map(rule, marks_in_list=not matches_marks(request))
            for listed in made.access_lists:
                kind = "ipv6" if listed.version == 6 else "ip"
                text = render("mqc/access_list.j2", kind=kind, name=listed.name, entries=listed.entries)
                add("access-list", listed.name, text, lowered.classes.get(rule.name))
            text = render("cisco_ios/class_map.j2", class_map=made, protocol=protocol_words)
            add("class-map", rule.name, text, lowered.classes.get(rule.name))
    for interface in plan.interfaces:
        for policer in (*interface.ingress.policers, *interface.egress.policers):
            if policer.access_list:
                traffic_class = lowered.classes.get(policer.access_list)
                text = render(
                    "cisco_ios/numbered_list.j2",
                    number=policer.access_list,
                    remark=f"{ACL_PREFIX}{traffic_class}",
                    entries=ip_entries(policer.any_of),
                )
                add("access-list", policer.access_list, text, traffic_class)
    for interface in plan.interfaces:
        if interface.ingress.policy and ("policy-map", interface.ingress.policy) not in seen:
            add("policy-map", interface.ingress.policy, marking_policy(request, interface.ingress))
        # A name stands for one content on the whole device, with the policies inside it.
        if ("policy-map", interface.egress.policy) not in seen:
            for name, text in queueing_policies(request, interface.egress):
                add("policy-map", name, text)
    for name, text in map_classes(plan):
        add("map-class", name, text)
    for name, text in interfaces(plan, request):
        add("interface", name, text)
    return tuple(result)


def _every_rule(egress: Egress) -> Iterator[Rule]:
    """The rules of a policy, then those of the policies inside its classes."""
    yield from egress.rules
    for queue in egress.scheduler.queues if egress.scheduler else ():
        if queue.child is not None:
            yield from _every_rule(queue.child)
