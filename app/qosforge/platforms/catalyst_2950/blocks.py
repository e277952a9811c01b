"""The configuration objects of a 2950's plan."""

from __future__ import annotations

from qosforge.plan.model import Discipline, Plan
from qosforge.plan.request import DeviceRequest
from qosforge.platforms.base import Block, LoweredDevice
from qosforge.platforms.blocks import BlockWriter
from qosforge.platforms.catalyst_2950.capabilities import CAPABILITIES, DSCP_TO_COS
from qosforge.platforms.ios_switch.blocks import add_classifiers, add_maps, trust_line


def blocks(plan: Plan, lowered: LoweredDevice, request: DeviceRequest) -> tuple[Block, ...]:
    """Maps, queues, access lists, class-maps, the policy and the ports, in the order people read them."""
    result = BlockWriter("catalyst_2950", lowered, request)
    add_maps(result, plan, DSCP_TO_COS)
    scheduler = plan.system.scheduler
    if scheduler is not None:
        weighted = scheduler.queues if scheduler.discipline is Discipline.WRR else ()
        weights = [q.share.value if q.share else 0 for q in weighted]
        result.add("scheduler", "wrr-queue bandwidth", "catalyst_2950/wrr_bandwidth", weights=weights)
    if plan.system.cos_to_queue is not None:
        rows = _queue_rows(plan.system.cos_to_queue)
        result.add("map", "wrr-queue cos-map", "catalyst_2950/queue_map", rows=rows)
    add_classifiers(result, plan, request)
    ours = {i.name for i in request.interfaces if i.recognise or i.trust}
    for port in plan.interfaces:
        if port.name in ours:
            result.add("interface", port.name, interface=port, trust=trust_line(port.ingress))
    return tuple(result.blocks)


def _queue_rows(table: tuple[int, ...]) -> list[tuple[int, list[int]]]:
    """CoS values of every queue that has others than as delivered."""
    default = CAPABILITIES.cos_to_queue.value
    rows = []
    for number in range(1, 5):
        held = [cos for cos, queue in enumerate(table) if queue == number]
        if held and held != [cos for cos, queue in enumerate(default) if queue == number]:
            rows.append((number, held))
    return rows
