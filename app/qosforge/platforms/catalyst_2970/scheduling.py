"""Egress queues of a 2970 port: SRR with sharing, shaping and one queue that may be served first."""

from __future__ import annotations

from qosforge.memoise import memoise
from qosforge.plan.model import Discipline, Queue, Scheduler, Share, ShareUnit
from qosforge.platforms.catalyst_2970.capabilities import CAPABILITIES, default_dscp_to_queue
from qosforge.platforms.catalyst_2970.levels import QueueBuffers, default_depths
from qosforge.platforms.ios_switch.queues import QueueLayout


def layout() -> QueueLayout:
    """The queues that lowering may use."""
    data = CAPABILITIES
    numbers = tuple(range(1, data.queues.value + 1))
    return QueueLayout(data.expedite_queue.value, numbers, data.cos_to_queue.value, default_dscp_to_queue())


def default_share() -> tuple[int, ...]:
    """Weights of ``srr-queue bandwidth share`` as delivered."""
    return (CAPABILITIES.weight.default,) * CAPABILITIES.queues.value


@memoise
def shaped_round_robin(
    share: tuple[int, ...],
    shape: tuple[int, ...],
    expedite: bool,
    limit: int | None = None,
    depths: tuple[QueueBuffers, ...] = (),
) -> Scheduler:
    """The scheduler of a port; ``limit`` is the per cent of its rate that the port may send, ``depths`` what its
    queues hold (as delivered unless given).

    The expedite queue ignores its weights, a shaped one its share.
    """
    first = CAPABILITIES.expedite_queue.value if expedite else None
    queues = tuple(
        Queue(
            number=number,
            priority=number == first,
            share=None if number == first or shaped else Share(unit=ShareUnit.WEIGHT, value=weight),
            shape_weight=shaped if shaped and number != first else None,
            limit_packets=depth.packets,
            thresholds=depth.thresholds,
            buffer_percent=depth.buffer_percent,
        )
        for number, (weight, shaped, depth) in enumerate(
            zip(share, shape, depths or default_depths(), strict=True), start=1
        )
    )
    return Scheduler(discipline=Discipline.SRR, queues=queues, limit_percent=limit)


def best_effort(limit: int | None = None) -> Scheduler:
    """One queue in order of arrival: what a port has while QoS is off."""
    queue = Queue(number=1, limit_packets=CAPABILITIES.port_buffers.value)
    return Scheduler(discipline=Discipline.FIFO, queues=(queue,), limit_percent=limit)
