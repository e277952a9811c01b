"""Buffers of the egress queues of a port: queue sets, and the drop threshold of each mark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from qosforge.plan.early_drop import TailThreshold
from qosforge.plan.model import Queue
from qosforge.platforms.catalyst_2970.capabilities import CAPABILITIES, default_dscp_to_queue

Thresholds = tuple[int, int, int, int]
"""Threshold 1, threshold 2, reserved part and maximum of a queue, in per cent of its buffers."""
_COLUMN = {1: 0, 2: 1, 3: 3}
"""Where the per cent of a threshold stands: the third is the queue's maximum."""


@dataclass(frozen=True)
class QueueSet:
    """Per cent of a port's buffers for each queue, and the thresholds of each."""

    buffers: tuple[int, ...]
    thresholds: tuple[Thresholds, ...]

    def percent(self, queue: int, threshold: int) -> int:
        """Per cent of a queue's buffers at which a threshold drops."""
        return self.thresholds[queue - 1][_COLUMN[threshold]]


@dataclass(frozen=True)
class OutputMaps:
    """Queue and threshold of every CoS (8) and DSCP (64)."""

    cos: tuple[tuple[int, int], ...]
    dscp: tuple[tuple[int, int], ...]


@cache
def default_queue_set() -> QueueSet:
    """Both queue sets as delivered."""
    return QueueSet(CAPABILITIES.queue_set.buffers, CAPABILITIES.queue_set.thresholds)


@cache
def default_maps() -> OutputMaps:
    """The output maps as delivered: threshold 1 for all."""
    return OutputMaps(
        tuple((queue, 1) for queue in CAPABILITIES.cos_to_queue.value),
        tuple((queue, 1) for queue in default_dscp_to_queue()),
    )


@dataclass(frozen=True)
class QueueBuffers:
    """What a queue holds: packets, its part of the buffers, and what is dropped before it is full.

    ``thresholds`` are empty where all marks of the queue are dropped where they are as delivered.
    """

    packets: int
    buffer_percent: int
    thresholds: tuple[TailThreshold, ...]


def depths(queue_set: QueueSet, maps: OutputMaps) -> tuple[QueueBuffers, ...]:
    """The depth of every queue of a port in a queue set."""
    return tuple(_depth(queue_set, maps, queue) for queue in range(1, len(queue_set.buffers) + 1))


def _depth(queue_set: QueueSet, maps: OutputMaps, queue: int) -> QueueBuffers:
    marks: dict[int, tuple[list[int], list[int]]] = {}
    for kind, table in enumerate((maps.cos, maps.dscp)):
        for value, (number, threshold) in enumerate(table):
            if number == queue:
                marks.setdefault(queue_set.percent(queue, threshold), ([], []))[kind].append(value)
    used = sorted(marks) or [queue_set.percent(queue, 1)]
    buffers = queue_set.buffers[queue - 1]
    thresholds: tuple[TailThreshold, ...] = ()
    if used != [default_queue_set().percent(queue, 1)]:
        thresholds = tuple(
            TailThreshold(cos=tuple(marks.get(p, ([], []))[0]), dscp=tuple(marks.get(p, ([], []))[1]), percent=p)
            for p in used
        )
    return QueueBuffers(packets_at(buffers, used[-1]), buffers, thresholds)


def packets_at(buffers: int, percent: int) -> int:
    """Packets in a queue with this per cent of the port's buffers when a threshold drops."""
    return CAPABILITIES.port_buffers.value * buffers * percent // 10_000


@cache
def default_depths() -> tuple[QueueBuffers, ...]:
    """The depths of a port as delivered."""
    return depths(default_queue_set(), default_maps())


def as_delivered(queues: Sequence[Queue]) -> bool:
    """Whether the queues of a port hold what those of a queue set as delivered do."""
    default = default_queue_set().buffers
    return all(not q.thresholds and q.buffer_percent in (None, default[q.number - 1]) for q in queues)


def rows_of(queue: Queue) -> Thresholds | None:
    """The thresholds that a queue of a plan needs in its queue set; None where they are as delivered."""
    percents = [t.percent for t in queue.thresholds]
    if not percents:
        return None
    return threshold_row(percents)


def threshold_row(percents: Sequence[int]) -> Thresholds:
    """What a queue set holds for a queue that drops at these per cents, ascending, of its buffers."""
    return percents[0], percents[min(1, len(percents) - 1)], CAPABILITIES.threshold.reserved, percents[-1]
