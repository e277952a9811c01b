"""The configuration objects of a 2950's plan."""

from __future__ import annotations

from qosforge.plan.model import Discipline, Plan
from qosforge.plan.request import DeviceRequest
from qosforge.platforms.base import Block, LoweredDevice
from qosforge.platforms.catalyst_2950.capabilities import CAPABILITIES
from qosforge.platforms.ios_switch.blocks import classifier_blocks, map_blocks, trust_line
from qosforge.templating import render


def blocks(plan: Plan, lowered: LoweredDevice, request: DeviceRequest) -> tuple[Block, ...]:
    """Maps, queues, access lists, class-maps, the policy and the ports, in the order people read them."""
    result = list(map_blocks(plan))
    if plan.system.scheduler is not None:
        scheduler = plan.system.scheduler
        weights = (
            [q.share.value if q.share else 0 for q in scheduler.queues]
            if scheduler.discipline is Discipline.WRR
            else []
        )
        text = render("catalyst_2950/wrr_bandwidth.j2", weights=weights)
        result.append(Block("scheduler", "wrr-queue bandwidth", text))
    if plan.system.cos_to_queue is not None:
        text = render("catalyst_2950/queue_map.j2", rows=_queue_rows(plan.system.cos_to_queue))
        result.append(Block("map", "wrr-queue cos-map", text))
    result.extend(classifier_blocks("catalyst_2950", plan, lowered, request))
    for interface in plan.interfaces:
        interface_request = next(i for i in request.interfaces if i.name == interface.name)
        if interface_request.recognise or interface_request.trust:
            text = render("catalyst_2950/interface.j2", interface=interface, trust=trust_line(interface.ingress))
            result.append(Block("interface", interface.name, text))
    return tuple(result)


def _queue_rows(table: tuple[int, ...]) -> list[tuple[int, list[int]]]:
    """CoS values of every queue that has others than as delivered."""
    default = CAPABILITIES.cos_to_queue.value
    rows = []
    for number in range(1, 5):
        held = [cos for cos, queue in enumerate(table) if queue == number]
        if held and held != [cos for cos, queue in enumerate(default) if queue == number]:
            rows.append((number, held))
    return rows
