"""The configuration objects of a Catalyst 9000's plan."""

from __future__ import annotations

from collections.abc import Iterable

from qosforge.plan.model import Plan, Queue, Rule
from qosforge.plan.request import DeviceRequest
from qosforge.platforms.base import Block, LoweredDevice
from qosforge.platforms.catalyst_9000.drops import in_lines
from qosforge.platforms.catalyst_9000.recognition import is_flow, lists_ipv6
from qosforge.platforms.mqc.access_lists import lists_of
from qosforge.platforms.mqc.blocks import every_policy, every_rule
from qosforge.platforms.mqc.lines import ACL_PREFIX, CLASS_DEFAULT
from qosforge.platforms.mqc.policers import police_lines
from qosforge.platforms.mqc.tables import POLICED, marks_of
from qosforge.templating import render


def blocks(plan: Plan, lowered: LoweredDevice, request: DeviceRequest) -> tuple[Block, ...]:
    """Access lists, class-maps, policies and ports, each once."""
    lines = {c.name: c.line for c in request.classes}
    made: dict[tuple[str, str], Block] = {}

    def add(kind: str, name: str, text: str, traffic_class: str | None = None) -> None:
        made.setdefault((kind, name), Block(kind, name, text, traffic_class, lines.get(traffic_class or "")))

    policed = _policed(rule for interface in plan.interfaces for rule in interface.ingress.rules)
    if policed:
        add("table-map", POLICED, render("mqc/table_map.j2", name=POLICED, rows=policed))
    for interface in plan.interfaces:
        for rule in (*interface.ingress.rules, *every_rule(interface.egress)):
            # A name stands for one content on the whole device, with the policies inside it.
            if rule.name == CLASS_DEFAULT or ("class-map", rule.name) in made:
                continue
            traffic_class = lowered.classes.get(rule.name)
            listed = [t for t in rule.any_of if is_flow(t)]
            lists = lists_of(ACL_PREFIX + rule.name, listed, both=lists_ipv6(request))
            for one in lists:
                kind = "ipv6" if one.version == 6 else "ip"
                text = render("mqc/access_list.j2", kind=kind, name=one.name, entries=one.entries)
                add("access-list", one.name, text, traffic_class)
            marks = [t for t in rule.any_of if t not in listed]
            text = render("catalyst_9000/class_map.j2", name=rule.name, marks=marks, lists=lists)
            add("class-map", rule.name, text, traffic_class)
    for interface in plan.interfaces:
        if interface.ingress.policy and ("policy-map", interface.ingress.policy) not in made:
            name, rules = interface.ingress.policy, interface.ingress.rules
            policers = {rule.name: police_lines(rule.police, dscp=_by_table) for rule in rules if rule.police}
            text = render("mqc/marking_policy.j2", name=name, rules=rules, ip="", policers=policers)
            add("policy-map", name, text)
        if ("policy-map", interface.egress.policy) in made:
            continue
        for policy in every_policy(interface.egress):
            assert policy.scheduler is not None
            classes = [(queue, _drops(queue)) for queue in policy.scheduler.queues]
            text = render("catalyst_9000/queueing_policy.j2", name=policy.policy, classes=classes)
            add("policy-map", policy.policy or "", text)
    for interface in plan.interfaces:
        add("interface", interface.name, render("catalyst_9000/interface.j2", interface=interface))
    return tuple(made.values())


def _policed(rules: Iterable[Rule]) -> list[tuple[int, int]]:
    """The rows of the table by which policers mark down: the marks of classes, and what exceeds of each."""
    rows = {
        point: rule.police.exceed.set_dscp
        for rule in rules
        if rule.police is not None and rule.police.exceed.set_dscp is not None
        for point in marks_of(rule) or ()
    }
    return sorted(rows.items())


def _by_table(dscp: int) -> str:
    del dscp  # the table says it
    return f"dscp table {POLICED}"


def _drops(queue: Queue) -> list[str]:
    """The lines of a queue's thresholds and of its detector's curves."""
    tails = [
        f"queue-limit dscp {marks} percent {threshold.percent}"
        for threshold in queue.thresholds
        for marks in in_lines(threshold.dscp)
    ]
    curves = [
        f"random-detect dscp {marks} percent {profile.minimum} {profile.maximum}"
        for profile in (queue.red.profiles if queue.red else ())
        for marks in in_lines(profile.dscp)
    ]
    return [*tails, *(["random-detect dscp-based"] if queue.red else []), *curves]
