"""The configuration objects of a 2970's plan."""

from __future__ import annotations

from collections.abc import Sequence

from qosforge.plan.input_queues import InputQueues
from qosforge.plan.model import Plan, Queue, Scheduler
from qosforge.plan.request import DeviceRequest
from qosforge.platforms.base import Block, LoweredDevice
from qosforge.platforms.blocks import BlockWriter
from qosforge.platforms.catalyst_2970.capabilities import CAPABILITIES, spells_ip
from qosforge.platforms.catalyst_2970.input_queues import default_input_queues
from qosforge.platforms.catalyst_2970.levels import as_delivered, default_maps, default_queue_set, rows_of
from qosforge.platforms.ios_switch.blocks import add_classifiers, add_maps, map_rows, trust_line

Places = Sequence[tuple[int, int]]
"""Queue and threshold of each CoS or DSCP."""


def blocks(plan: Plan, lowered: LoweredDevice, request: DeviceRequest) -> tuple[Block, ...]:
    """Maps, queues, the switch for QoS, access lists, class-maps, the policy and the ports."""
    result, system = BlockWriter("catalyst_2970", lowered, request), plan.system
    add_maps(result, plan)
    if system.policed_dscp is not None:
        rows = map_rows(system.policed_dscp, range(64))
        result.add("map", "policed-dscp", "catalyst_2970/policed_dscp_map", rows=rows)
    if system.input_queues is not None:
        _add_input_queues(result, system.input_queues)
    scheduled = {i.name for i in request.interfaces if i.schedule}
    schedulers = [i.egress.scheduler for i in plan.interfaces if i.name in scheduled and i.egress.scheduler]
    queues = schedulers[0].queues if schedulers else ()
    if system.cos_to_queue is not None:
        _add_map(result, "output", "cos", _places(system.cos_to_queue, queues, "cos"), default_maps().cos)
    if system.dscp_to_queue is not None:
        _add_map(result, "output", "dscp", _places(system.dscp_to_queue, queues, "dscp"), default_maps().dscp)
    own = CAPABILITIES.own_queue_set.value if not as_delivered(queues) else None
    if own is not None:
        result.add(
            "queue-set",
            str(own),
            number=own,
            buffers=[q.buffer_percent for q in queues],
            default=list(default_queue_set().buffers),
            thresholds=[(q.number, rows_of(q)) for q in queues],
        )
    result.add("qos", "mls qos")
    add_classifiers(result, plan, request, spells_ip=spells_ip(request.image))
    interface_requests = {i.name: i for i in request.interfaces}
    for port in plan.interfaces:
        asked = interface_requests[port.name]
        classified = asked.recognise or asked.trust
        scheduler = port.egress.scheduler if asked.schedule else None
        if classified or asked.schedule:
            result.add(
                "interface",
                port.name,
                interface=port,
                classified=classified,
                trust=trust_line(port.ingress),
                share=_share(scheduler) if scheduler else None,
                shape=[q.shape_weight or 0 for q in scheduler.queues] if scheduler else [],
                limit=scheduler.limit_percent if scheduler else None,
                queue_set=own,
                expedite=any(q.priority for q in scheduler.queues) if scheduler else False,
            )
    return tuple(result.blocks)


def _add_input_queues(result: BlockWriter, queues: InputQueues) -> None:
    default = default_input_queues()
    result.add("scheduler", "input-queues", "catalyst_2970/input_queues", queues=queues, default=default)
    for kind in ("cos", "dscp"):
        table, delivered = ([(q, 1) for q in getattr(side, f"{kind}_to_queue")] for side in (queues, default))
        _add_map(result, "input", kind, table, delivered)


def _places(table: Sequence[int], queues: Sequence[Queue], kind: str) -> Places:
    """Queue and threshold of every mark; threshold 1 where a queue tells none apart."""
    levels = {
        (q.number, mark): at for q in queues for at, t in enumerate(q.thresholds, 1) for mark in getattr(t, kind)
    }
    return [(queue, levels.get((queue, mark), 1)) for mark, queue in enumerate(table)]


def _add_map(result: BlockWriter, side: str, kind: str, table: Places, default: Places) -> None:
    rows = [(*place, marks) for marks, place in map_rows(table, default)]
    result.add("map", f"{kind}-{side}-q", "catalyst_2970/queue_map", side=side, kind=kind, rows=rows)


def _share(scheduler: Scheduler) -> list[int]:
    """Weights to share by; the device ignores those of expedite and shaped queues and wants one all the same."""
    return [q.share.value if q.share else 1 for q in scheduler.queues]
