"""The configuration objects of a 2970's plan."""

from __future__ import annotations

from app.plan.model import Plan, Scheduler
from app.plan.request import DeviceRequest
from app.platforms.base import Block, Lowered
from app.platforms.catalyst_2970.capabilities import default_cos_to_queue, default_dscp_to_queue
from app.platforms.ios_switch.blocks import classifier_blocks, eights, map_blocks
from app.templating import render


def blocks(plan: Plan, lowered: Lowered, request: DeviceRequest) -> tuple[Block, ...]:
    """Maps, queue maps, the switch for QoS, access lists, class-maps, the policy and the ports."""
    result = list(map_blocks("catalyst_2970", plan))
    tables = (
        ("cos", plan.system.cos_to_queue, default_cos_to_queue()),
        ("dscp", plan.system.dscp_to_queue, default_dscp_to_queue()),
    )
    for kind, table, default in tables:
        if table is not None:
            text = render("catalyst_2970/queue_map.j2", kind=kind, rows=_rows(table, default))
            result.append(Block("map", f"{kind}-output-q", text))
    result.append(Block("qos", "mls qos", render("catalyst_2970/qos.j2")))
    result.extend(classifier_blocks("catalyst_2970", plan, lowered, request))
    for interface in plan.interfaces:
        wanted = next(i for i in request.interfaces if i.name == interface.name)
        scheduler = interface.egress.scheduler if wanted.schedule else None
        text = render(
            "catalyst_2970/interface.j2",
            interface=interface,
            classified=wanted.recognise or wanted.trust,
            share=_share(scheduler) if scheduler else None,
            expedite=any(q.priority for q in scheduler.queues) if scheduler else False,
        )
        if wanted.recognise or wanted.trust or wanted.schedule:
            result.append(Block("interface", interface.name, text))
    return tuple(result)


def _share(scheduler: Scheduler) -> list[int]:
    """Weights to share by; the expedite queue's is ignored by the box, which wants one all the same."""
    return [q.share.value if q.share else 1 for q in scheduler.queues]


def _rows(table: tuple[int, ...], default: tuple[int, ...]) -> list[tuple[int, list[int]]]:
    """Values of every queue that are not as delivered, at most eight a line."""
    changed = [v for v, queue in enumerate(table) if queue != default[v]]
    return [
        (number, part)
        for number in sorted({table[v] for v in changed})
        for part in eights([v for v in changed if table[v] == number])
    ]
