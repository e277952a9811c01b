"""The configuration objects of a 2970's plan."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from qosforge.plan.model import InputQueues, Plan, Queue, Scheduler
from qosforge.plan.request import DeviceRequest
from qosforge.platforms.base import Block, LoweredDevice
from qosforge.platforms.catalyst_2970.capabilities import CAPABILITIES
from qosforge.platforms.catalyst_2970.input_queues import default_input_queues
from qosforge.platforms.catalyst_2970.levels import as_delivered, default_maps, default_queue_set, rows_of
from qosforge.platforms.ios_switch.blocks import classifier_blocks, eights, map_blocks, trust_line
from qosforge.templating import render

Places = Sequence[tuple[int, int]]
"""Queue and threshold of each CoS or DSCP."""


def blocks(plan: Plan, lowered: LoweredDevice, request: DeviceRequest) -> tuple[Block, ...]:
    """Maps, queues, the switch for QoS, access lists, class-maps, the policy and the ports."""
    result = [*map_blocks(plan), *_policed_block(plan)]
    if plan.system.input_queues is not None:
        result.extend(_input_blocks(plan.system.input_queues))
    scheduled = {i.name for i in request.interfaces if i.schedule}
    schedulers = [i.egress.scheduler for i in plan.interfaces if i.name in scheduled and i.egress.scheduler]
    queues = schedulers[0].queues if schedulers else ()
    tables = (
        ("cos", plan.system.cos_to_queue, default_maps().cos),
        ("dscp", plan.system.dscp_to_queue, default_maps().dscp),
    )
    for kind, table, default in tables:
        if table is not None:
            result.append(_map_block("output", kind, _places(table, queues, kind), default))
    own = not as_delivered(queues)
    if own:
        result.append(_queue_set_block(queues))
    result.append(Block("qos", "mls qos", render("catalyst_2970/qos.j2")))
    result.extend(classifier_blocks("catalyst_2970", plan, lowered, request))
    for interface in plan.interfaces:
        interface_request = next(i for i in request.interfaces if i.name == interface.name)
        scheduler = interface.egress.scheduler if interface_request.schedule else None
        text = render(
            "catalyst_2970/interface.j2",
            interface=interface,
            classified=interface_request.recognise or interface_request.trust,
            trust=trust_line(interface.ingress),
            share=_share(scheduler) if scheduler else None,
            shape=[q.shape_weight or 0 for q in scheduler.queues] if scheduler else [],
            limit=scheduler.limit_percent if scheduler else None,
            queue_set=CAPABILITIES.own_queue_set.value if own else None,
            expedite=any(q.priority for q in scheduler.queues) if scheduler else False,
        )
        if interface_request.recognise or interface_request.trust or interface_request.schedule:
            result.append(Block("interface", interface.name, text))
    return tuple(result)


def _policed_block(plan: Plan) -> Iterator[Block]:
    if plan.system.policed_dscp is None:
        return
    changed = [(d, to) for d, to in enumerate(plan.system.policed_dscp) if d != to]
    rows = [
        (part, to)
        for to in sorted({to for _, to in changed})
        for part in eights([d for d, target in changed if target == to])
    ]
    yield Block("map", "policed-dscp", render("catalyst_2970/policed_dscp_map.j2", rows=rows))


def _input_blocks(input_queues: InputQueues) -> Iterator[Block]:
    default = default_input_queues()
    text = render("catalyst_2970/input_queues.j2", queues=input_queues, default=default)
    yield Block("scheduler", "input-queues", text)
    for kind in ("cos", "dscp"):
        table, delivered = ([(q, 1) for q in getattr(side, f"{kind}_to_queue")] for side in (input_queues, default))
        yield _map_block("input", kind, table, delivered)


def _queue_set_block(queues: Sequence[Queue]) -> Block:
    number = CAPABILITIES.own_queue_set.value
    text = render(
        "catalyst_2970/queue_set.j2",
        number=number,
        buffers=[q.buffer_percent for q in queues],
        default=list(default_queue_set().buffers),
        thresholds=[(q.number, rows_of(q)) for q in queues],
    )
    return Block("queue-set", str(number), text)


def _places(table: Sequence[int], queues: Sequence[Queue], kind: str) -> Places:
    """Queue and threshold of every mark; threshold 1 where a queue tells none apart."""
    return [
        (
            queue,
            next(
                (
                    at
                    for q in queues
                    if q.number == queue
                    for at, t in enumerate(q.thresholds, 1)
                    if mark in getattr(t, kind)
                ),
                1,
            ),
        )
        for mark, queue in enumerate(table)
    ]


def _map_block(side: str, kind: str, table: Places, default: Places) -> Block:
    """Marks that are not where they are as delivered, at most eight a line."""
    changed = [mark for mark, place in enumerate(table) if place != default[mark]]
    rows = [
        (*place, part)
        for place in sorted({table[mark] for mark in changed})
        for part in eights([mark for mark in changed if table[mark] == place])
    ]
    text = render("catalyst_2970/queue_map.j2", side=side, kind=kind, rows=rows)
    return Block("map", f"{kind}-{side}-q", text)


def _share(scheduler: Scheduler) -> list[int]:
    """Weights to share by; the device ignores those of expedite and shaped queues and wants one all the same."""
    return [q.share.value if q.share else 1 for q in scheduler.queues]
