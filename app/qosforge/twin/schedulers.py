"""Schedulers and shapers of the twin's scenario."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from qosforge.twin.part import ScenarioPart

BURST_BYTES = 1600
"""Bucket of a shaper of ``tree`` and ``htb`` that states none."""

Counting = Literal["exact", "rounded_up"]
Guideline = Literal["formal", "top_level", "ancestor_only"]
Mode = Literal["packets", "bytes"]
Named = Literal["high", "low"]
Priority = Named | int
Weights = tuple[int | None, ...] | dict[int, int]
"""By queue: one for each, or those of some."""
LevelSpec = int | Weights
"""A queue, or queues that take turns with so many packets each."""


class ShapeSpec(ScenarioPart, frozen=True, kw_only=True):
    """A shaper over frame bytes; of ``whole_frames`` each waits for all its tokens."""

    rate_bps: int
    burst_bytes: int
    whole_frames: bool = False


class LeakSpec(ScenarioPart, frozen=True, kw_only=True):
    """Of ``out_of`` turns of a level, ``packets`` go to the next lower one that waits."""

    packets: int
    out_of: int


LeaksSpec = LeakSpec | tuple[LeakSpec | None, ...]


class _Scheduler(ScenarioPart, frozen=True, kw_only=True, tag_field="kind"):
    pass


class _Shaped(_Scheduler, frozen=True, kw_only=True):
    shapes: dict[int, ShapeSpec] | None = None


class FifoScheduler(_Shaped, frozen=True, kw_only=True, tag="fifo"):
    """One queue."""


class StrictScheduler(_Shaped, frozen=True, kw_only=True, tag="strict"):
    """Levels, first served first."""

    order: tuple[LevelSpec, ...]
    leak: LeaksSpec | None = None


class WrrScheduler(_Shaped, frozen=True, kw_only=True, tag="wrr"):
    """Weighted round robin by packets, or by quanta of bytes."""

    weights: Weights
    quantum_bytes: int | None = None
    counting: Counting | None = None


class DrrScheduler(_Shaped, frozen=True, kw_only=True, tag="drr"):
    """Deficit round robin; ``strict`` queues are served before those that take turns."""

    quantum_bytes: Weights
    strict: tuple[int, ...] = ()


class StrictWrrScheduler(_Shaped, frozen=True, kw_only=True, tag="strict_wrr"):
    """Some queues first, the rest by round robin."""

    strict: tuple[int, ...]
    weights: Weights
    mode: Mode


class SrrScheduler(_Shaped, frozen=True, kw_only=True, tag="srr"):
    """Shared round robin: shares, and queues shaped to parts of the line."""

    weights: Weights
    strict: int | None = None
    shape: Weights | None = None


class FairScheduler(_Scheduler, frozen=True, kw_only=True, tag="wfq"):
    """Flow-based fair queueing with a store of its own."""

    dynamic_queues: int = 256
    congestive_discard_threshold: int = 64
    hold_queue: int = 1000


class PrioritySpec(ScenarioPart, frozen=True, kw_only=True):
    """A policed priority queue of ``cbwfq``."""

    queue: int
    rate_bps: int
    burst_bytes: int
    level: int = 1


class CbwfqScheduler(_Shaped, frozen=True, kw_only=True, tag="cbwfq"):
    """Class-based weighted fair queueing with priority queues."""

    priority: tuple[PrioritySpec, ...] = ()
    weights: Weights


class EstimatorSpec(ScenarioPart, frozen=True, kw_only=True):
    """The estimator of class-based queueing."""

    gain_exponent: int = 4
    burst_packets: int = 8
    steady_burst_packets: int = 1
    packet_bytes: int = 1000


class CbqClassSpec(ScenarioPart, frozen=True, kw_only=True):
    """A class of class-based queueing."""

    name: str
    parent: str | None = None
    share: float
    priority: Priority = "low"
    borrow: bool = True
    queue: int | None = None


USUAL_ESTIMATOR = EstimatorSpec()


class CbqScheduler(_Shaped, frozen=True, kw_only=True, tag="cbq"):
    """Class-based queueing."""

    classes: tuple[CbqClassSpec, ...]
    estimator: EstimatorSpec = USUAL_ESTIMATOR
    guideline: Guideline = "formal"
    efficient: bool = False
    leaf_suspension: bool = False
    ns2_wrr_flaw: bool = False
    count_visits: bool = False


class _Decoupled(_Shaped, frozen=True, kw_only=True):
    classes: tuple[CbqClassSpec, ...]
    estimator: EstimatorSpec = USUAL_ESTIMATOR
    timer_hz: int | None = None
    count_visits: bool = False


class DcbqScheduler(_Decoupled, frozen=True, kw_only=True, tag="dcbq"):
    """Decoupled class-based queueing."""


class DcbqeScheduler(_Decoupled, frozen=True, kw_only=True, tag="dcbqe"):
    """Decoupled class-based queueing that sends rather than waits."""


class HtbClassSpec(ScenarioPart, frozen=True, kw_only=True):
    """A class of a hierarchical token bucket."""

    name: str
    parent: str | None = None
    rate_bps: int
    ceil_bps: int | None = None
    burst_bytes: int = BURST_BYTES
    cburst_bytes: int = BURST_BYTES
    prio: int = 0
    quantum_bytes: int | None = None
    queue: int | None = None


class HtbScheduler(_Shaped, frozen=True, kw_only=True, tag="htb"):
    """Hierarchical token buckets."""

    classes: tuple[HtbClassSpec, ...]


class TreeNodeSpec(ScenarioPart, frozen=True, kw_only=True):
    """A class of a tree: a queue, or classes of its own."""

    name: str | None = None
    weight: int | None = None
    rate_bps: int | None = None
    priority: int | None = None
    ceil_bps: int | None = None
    burst_bytes: int = BURST_BYTES
    police: ShapeSpec | None = None
    queue: int | None = None
    children: tuple[TreeNodeSpec, ...] = ()


class TreeScheduler(_Shaped, frozen=True, kw_only=True, tag="tree"):
    """Start-time fair queueing on several levels."""

    children: tuple[TreeNodeSpec, ...]


SchedulerSpec = (
    FifoScheduler
    | StrictScheduler
    | WrrScheduler
    | DrrScheduler
    | StrictWrrScheduler
    | SrrScheduler
    | FairScheduler
    | CbwfqScheduler
    | CbqScheduler
    | DcbqScheduler
    | DcbqeScheduler
    | HtbScheduler
    | TreeScheduler
)

FIFO = FifoScheduler()


def queue_shapes(scheduler: SchedulerSpec) -> Mapping[int, ShapeSpec]:
    """The shapers of a scheduler's queues, by the queue's number."""
    return {} if isinstance(scheduler, FairScheduler) else scheduler.shapes or {}


def weight_of(weights: Weights | None, queue: int) -> int:
    """The weight of a queue, 0 where it has none."""
    if weights is None:
        return 0
    return (weights.get(queue) if isinstance(weights, dict) else weights[queue]) or 0
