"""The configuration objects of a plan of the 5510."""

from __future__ import annotations

from app.plan.model import Plan, Trust
from app.plan.request import DeviceRequest
from app.platforms.base import Block, Lowered
from app.platforms.nortel_5510.filters import numbered
from app.platforms.nortel_5510.marks import egress_rows, priorities
from app.templating import render

_CLASSES = {Trust.NONE: "untrusted", Trust.DSCP: "trusted", Trust.KEEP: "unrestricted"}


def blocks(plan: Plan, lowered: Lowered, request: DeviceRequest) -> tuple[Block, ...]:
    """Groups, filters, assignments, maps and queues, in the order people read them."""
    lines = {c.name: c.line for c in request.classes}
    result: list[Block] = []

    def add(kind: str, name: str, called: str | None = None, **values: object) -> None:
        text = render(f"nortel_5510/{kind.replace('-', '_')}.j2", **values)
        traffic_class = lowered.classes.get(called or "")
        result.append(Block(kind, name, text, traffic_class, lines.get(traffic_class or "")))

    wanted = {i.name: i for i in request.interfaces}
    ours = [i for i in plan.interfaces if wanted[i.name].recognise or wanted[i.name].trust]
    for group, trust in {i.ingress.policy: i.ingress.trust for i in ours}.items():
        add("if-group", group or "", group=group, trust=_CLASSES[trust])
    host = next((i.ingress for i in ours if i.ingress.rules), None)
    if host is not None:
        actions, filters = numbered(host.rules)
        called = {action.number: action.rule.name for action in actions}
        for entry in filters:
            add("ip-element", entry.name, called[entry.action], entry=entry)
        for entry in filters:
            add("classifier", entry.name, called[entry.action], entry=entry)
        for action in actions:
            add("action", action.rule.name, action.rule.name, action=action)
        for entry in filters:
            add("policy", entry.name, called[entry.action], entry=entry, group=host.policy)
    for interface in ours:
        add("if-assign", interface.name, port=interface.name, group=interface.ingress.policy)
    if plan.system.dscp_to_cos is not None and plan.system.cos_to_dscp is not None:
        table = plan.system.dscp_to_cos
        add("egressmap", "egressmap", rows=[(dscp, table[dscp]) for dscp in egress_rows(request.classes)])
        stated = sorted(set(priorities(request.classes).values()))
        add("ingressmap", "ingressmap", rows=[(cos, plan.system.cos_to_dscp[cos]) for cos in stated])
    if plan.system.cos_to_queue is not None:
        queues = list(enumerate(plan.system.cos_to_queue))
        add("queue-assignment", "queue-assignment", queue_set=plan.system.queue_set, rows=queues)
    return tuple(result)
