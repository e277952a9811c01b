"""The configuration objects of an IOS plan."""

from __future__ import annotations

from app.inventory.models import Framing
from app.plan.model import Plan
from app.plan.request import DeviceRequest
from app.platforms.base import Block, Lowered
from app.platforms.cisco_ios.capabilities import capabilities, train
from app.platforms.cisco_ios.grammar import CLASS_DEFAULT
from app.platforms.cisco_ios.matching import class_map
from app.templating import render


def blocks(plan: Plan, lowered: Lowered, request: DeviceRequest) -> tuple[Block, ...]:
    """Class-maps, policy-maps and interfaces, in the order people read them."""
    lines = {c.name: c.line for c in request.classes}
    result: list[Block] = []
    seen: dict[tuple[str, str], None] = {}

    def add(kind: str, name: str, text: str, traffic_class: str | None = None) -> None:
        if (kind, name) not in seen:
            seen[kind, name] = None
            result.append(Block(kind, name, text, traffic_class, lines.get(traffic_class or "")))

    for interface in plan.interfaces:
        for rule in (*interface.ingress.rules, *interface.egress.rules):
            if rule.name == CLASS_DEFAULT:
                continue
            made = class_map(rule)
            for listed in made.access_lists:
                text = render("cisco_ios/access_list.j2", access_list=listed)
                add("access-list", listed.name, text, lowered.classes.get(rule.name))
            text = render("cisco_ios/class_map.j2", class_map=made)
            add("class-map", rule.name, text, lowered.classes.get(rule.name))
    for interface in plan.interfaces:
        if interface.ingress.policy:
            text = render(
                "cisco_ios/marking_policy.j2", name=interface.ingress.policy, rules=interface.ingress.rules
            )
            add("policy-map", interface.ingress.policy, text)
        if interface.egress.policy and interface.egress.scheduler:
            default = interface.egress.default_queue
            usual = capabilities()["class_queue_limit"]["value"]
            queues = [
                q
                for q in interface.egress.scheduler.queues
                if q.share or q.red or q.shape_rate or q.limit_packets != usual or q.number != default
            ]
            text = render(
                "cisco_ios/queueing_policy.j2",
                name=interface.egress.policy,
                queues=queues,
                usual_limit=usual,
                policers={rule.queue: rule.police for rule in interface.egress.rules},
            )
            add("policy-map", interface.egress.policy, text)
    framings = {i.name: i.framing for i in request.interfaces}
    old = train(request.image, request.device) < (12, 3)
    for interface in plan.interfaces:
        text = render(
            "cisco_ios/interface.j2",
            interface=interface,
            spelling="-" if old else " ",
            # HDLC lines compress in the box's own format only (QoS guide, header compression).
            compression="" if framings.get(interface.name) is Framing.HDLC else " iphc-format",
        )
        add("interface", interface.name, text)
    return tuple(result)
