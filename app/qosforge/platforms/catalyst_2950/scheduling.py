"""The four queues of a 2950: strict priority as delivered, weighted round robin for the whole switch if set."""

from __future__ import annotations

from collections.abc import Sequence

from qosforge.dscp import CONTROL_DSCP
from qosforge.plan.model import Discipline, Queue, Scheduler, Share, ShareUnit
from qosforge.platforms.catalyst_2950.capabilities import CAPABILITIES
from qosforge.platforms.ios_switch.queues import QueueLayout


def layout() -> QueueLayout:
    """The queues that lowering may use."""
    data = CAPABILITIES
    numbers = tuple(range(1, data.queues.value + 1))
    return QueueLayout(
        data.expedite_queue.value,
        numbers,
        cos_to_queue=data.cos_to_queue.value,
        in_order=True,
        control_dscp=tuple(d for d in CONTROL_DSCP if d in data.supported_dscp.value),
    )


def strict_priority() -> Scheduler:
    """The scheduler as delivered: queue 4 first, queue 1 last."""
    limit = CAPABILITIES.queue_limit.value
    numbers = range(CAPABILITIES.queues.value, 0, -1)
    queues = tuple(Queue(number=n, priority=True, limit_packets=limit) for n in numbers)
    return Scheduler(discipline=Discipline.STRICT, queues=queues)


def round_robin(weights: Sequence[int]) -> Scheduler:
    """The scheduler of ``wrr-queue bandwidth``; a weight of 0 makes the last queue the expedite one."""
    limit = CAPABILITIES.queue_limit.value
    queues = tuple(
        Queue(
            number=number,
            priority=weight == 0,
            share=Share(unit=ShareUnit.WEIGHT, value=weight) if weight else None,
            limit_packets=limit,
        )
        for number, weight in enumerate(weights, start=1)
    )
    return Scheduler(discipline=Discipline.WRR, queues=queues)
