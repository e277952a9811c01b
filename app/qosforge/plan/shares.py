"""A scheduler in the fluid model: the share of a link that each queue gets, by the offered load."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from qosforge.plan.fluid import FluidClass, throughput
from qosforge.plan.model import Discipline, Queue, Scheduler, Share, ShareUnit
from qosforge.plan.percentages import shaped_rate

Path = tuple[int, ...]
"""A queue by the numbers that lead to it: its own, after those of the queues that it divides."""

Load = float | tuple[FluidClass, ...]
"""What is offered to a queue: bits per second, or the streams that share it.

Those with a priority share it in order of arrival, those without by weight what that leaves; by weight all of them
where the queue is fair among flows.
"""

PRIORITY_BURST_SECONDS = 0.2
"""Burst that a policed priority queue may send where it states none: 200 ms of its rate (IOS QoS guide)."""

_BY_FLOW = frozenset({Discipline.FIFO, Discipline.FLOW_WFQ})


def expected_shares(
    scheduler: Scheduler,
    rate: int,
    *,
    priority_load: float = 1.0,
    backlogged: Collection[int] | None = None,
    bounds: Mapping[int, float] | None = None,
) -> tuple[float, ...]:
    """Shares of the link rate (0–1) by queue, in the scheduler's order.

    ``backlogged`` are the numbers of the queues that have traffic (all unless given); ``priority_load`` is what is
    offered to an uncapped priority queue, as a part of the link; a capped one is offered its cap. ``bounds`` are
    parts of the link that queues get at most, by number, beside what their shapers and policers say.
    """
    load: dict[Path, Load] = {}
    for queue in scheduler.queues:
        idle = backlogged is not None and queue.number not in backlogged
        load |= _backlog(queue, (), 0.0 if idle else _wish(queue, rate, priority_load))
    # In parts of the link, so that shares that say nothing of its rate come out the same at any.
    found = throughput(scheduler_tree(scheduler, rate, load, bounds=bounds or {}, unit=rate), 1.0)
    return tuple(found[path_name((queue.number,))] for queue in scheduler.queues)


def guaranteed_parts(scheduler: Scheduler, rate: float) -> tuple[float, ...]:
    """Parts of the link rate (0–1) that the queues have for sure, in the scheduler's order.

    That is a queue's own share; without one an equal part of what the others leave. Remaining per cents and weights
    are parts of what capped priority leaves; a priority without a cap has all there is.
    """
    limit = 1.0 if scheduler.limit_percent is None else scheduler.limit_percent / 100
    weights = _weights(scheduler, rate, {}, (), whole=1.0, limit=limit)
    scale = 1.0
    if any(q.share and q.share.unit is ShareUnit.WEIGHT for q in scheduler.queues if not q.priority):
        first = sum(_reserved(q, rate, 1.0, 0.0) for q in scheduler.queues if q.priority)
        scale = max(limit - first, 0.0) / (math.fsum(weights) or 1.0)
    return tuple(
        weight * scale if not queue.priority else _absolute(queue.share, rate) if queue.capped else 1.0
        for queue, weight in zip(scheduler.queues, weights, strict=True)
    )


def divided_rate(scheduler: Scheduler, queue: Queue, rate: float) -> int | None:
    """Bits per second that a policy inside a shaped queue divides; None where nothing shapes the queue.

    Raises:
        ValueError: the queue is none of the scheduler's.
    """
    shaped = shaped_rate(queue, rate)
    if shaped is None or not scheduler.divides_guarantees or len(scheduler.queues) == 1:
        return shaped
    sure = guaranteed_parts(scheduler, rate)[scheduler.queues.index(queue)]
    # Down to whole bits per second, but not for the last digit of a fraction.
    return max(1, min(shaped, int(round(sure * rate, 3))))


def scheduler_tree(
    scheduler: Scheduler,
    rate: float,
    load: Mapping[Path, Load],
    *,
    path: Path = (),
    bounds: Mapping[int, float] | None = None,
    packet_bytes: Mapping[Path, float] | None = None,
    lengths: Mapping[Path, float] | None = None,
    oversize: Mapping[Path, tuple[FluidClass, ...]] | None = None,
    unit: float = 1.0,
) -> FluidClass:
    """The link-sharing tree of a scheduler on ``rate`` bits per second, with every innermost queue's load.

    Queues are named by `path_name`. Guarantees in kb/s or per cent are of the rate, remaining per cents of what
    capped priority leaves; a class without one takes what they leave, and all are weights of what is divided (IOS
    QoS guide, CBWFQ). A capped priority queue is policed under congestion (LLQ). Shaped SRR queues get their part
    of the rate and no share (Catalyst 2970 guide, SRR). Queues with a policer or a shaper take no more than it
    lets through, and what they are divided into divides that. ``packet_bytes`` are mean frame sizes of queues, by
    which round robin by packets weighs them. The tree's rates, and those of ``load``, are multiples of ``unit``
    bits per second.
    """
    limit = 1.0 if scheduler.limit_percent is None else scheduler.limit_percent / 100
    whole = rate / unit
    weights = _weights(scheduler, rate, load, path, whole=whole, limit=limit)
    limits = bounds or {}
    if scheduler.discipline is Discipline.WRR and packet_bytes:
        usual = max(packet_bytes.values())
        sizes = [packet_bytes.get((*path, q.number), usual) for q in scheduler.queues]
        weights = [weight * size for weight, size in zip(weights, sizes, strict=True)]
    children = []
    for position, (queue, weight) in enumerate(zip(scheduler.queues, weights, strict=True)):
        place = (*path, queue.number)
        inside = queue.child.dividing.scheduler if queue.child else None
        own = min((r for r in (shaped_rate(queue, rate), _policed(queue)) if r is not None), default=math.inf)
        ceiling = min(own * (lengths or {}).get(place, 1.0) / unit, limits.get(queue.number, math.inf) * whole)
        if queue.shape_weight and not queue.priority:
            ceiling = min(ceiling, whole / queue.shape_weight)
        guaranteed = whole * _absolute(queue.share, rate)
        divided = divided_rate(scheduler, queue, rate) if inside and scheduler.divides_guarantees else None
        below = (
            scheduler_tree(
                inside,
                min(ceiling * unit, guaranteed * unit if divided is None else divided),
                load,
                path=place,
                packet_bytes=packet_bytes,
                lengths=lengths,
                oversize=oversize,
                unit=unit,
            )
            if inside
            else _leaf(place, load.get(place, 0.0), fair=queue.fair or scheduler.discipline is Discipline.FLOW_WFQ)
        )
        served = FluidClass(
            name=path_name(place),
            offered=below.offered,
            weight=weight,
            priority=_place(scheduler, position),
            conforming=guaranteed if queue.priority and queue.capped and not scheduler.decoupled else math.inf,
            ceiling=min(ceiling, below.ceiling),
            children=below.children,
            division=below.division,
        )
        children.append(served)
        if too_large := (oversize or {}).get(place):
            children.append(
                replace(served, name=oversize_name(place), offered=0.0, conforming=0.0, children=too_large)
            )
    ceiling = math.inf if scheduler.limit_percent is None else limit * whole
    return FluidClass(path_name(path), ceiling=ceiling, children=tuple(children))


def path_name(path: Path) -> str:
    """The name that a queue has in the tree; of the whole scheduler, ``link``."""
    return "queue " + ".".join(map(str, path)) if path else "link"


def oversize_name(path: Path) -> str:
    """The name in the tree of what of a queue its policer's bucket cannot hold."""
    return f"{path_name(path)} above its burst"


def priority_burst(queue: Queue, rate: int) -> int:
    """Bytes that the policer of a priority queue of ``rate`` b/s lets through at once."""
    return queue.burst or max(1, round(rate * PRIORITY_BURST_SECONDS / 8))


def _leaf(path: Path, load: Load, *, fair: bool) -> FluidClass:
    if isinstance(load, tuple):
        # Flow-based queueing knows no order of arrival among flows.
        streams = tuple(replace(stream, priority=None) for stream in load) if fair else load
        return FluidClass(path_name(path), children=streams)
    return FluidClass(path_name(path), offered=load)


def _backlog(queue: Queue, above: Path, wish: float) -> dict[Path, Load]:
    """A load on every innermost queue of a queue: together what it is offered."""
    path = (*above, queue.number)
    inside = queue.child.dividing.scheduler if queue.child else None
    if inside is None or not inside.queues:
        return {path: wish}
    part = wish / len(inside.queues)
    return {at: load for child in inside.queues for at, load in _backlog(child, path, part).items()}


def _wish(queue: Queue, rate: float, priority_load: float) -> float:
    """What a backlogged queue is offered, as a part of the link."""
    if not queue.priority:
        return math.inf
    return _absolute(queue.share, rate) if queue.capped else priority_load


def _policed(queue: Queue) -> int | None:
    police = queue.police
    return police.rate if police is not None and police.exceed.drop else None


def _place(scheduler: Scheduler, position: int) -> int | None:
    """Place in the strict order: priority queues, then what SRR shapes; None for what is weighted."""
    queue = scheduler.queues[position]
    if scheduler.decoupled:
        return None
    if scheduler.discipline is Discipline.STRICT:
        return position + 1
    if queue.priority:
        # Priority classes of a policy share one queue a level; strict queues of a switch follow each other.
        return (queue.level or 1) if scheduler.discipline is Discipline.LLQ_CBWFQ else position + 1
    if not queue.shape_weight:
        return None
    return max(q.level or 1 for q in scheduler.queues) + len(scheduler.queues) + 1


def _absolute(share: Share | None, rate: float) -> float:
    """A share as part of the rate; all of it where none is given or it says nothing of the rate (weights)."""
    if share is None or share.unit is ShareUnit.WEIGHT:
        return 1.0
    return share.value * 1000 / rate if share.unit is ShareUnit.KBPS else share.value / 100


def _weights(
    scheduler: Scheduler, rate: float, load: Mapping[Path, Load], path: Path, *, whole: float, limit: float
) -> Sequence[float]:
    if scheduler.discipline in _BY_FLOW:
        return [1.0] * len(scheduler.queues)
    left = limit
    for queue in scheduler.queues:
        if queue.priority and not scheduler.decoupled:
            left -= min(left, _reserved(queue, rate, whole, load.get((*path, queue.number), 0.0)))
    weights = [
        0.0 if (q.priority and not scheduler.decoupled) or q.shape_weight else _weight(q.share, rate, left)
        for q in scheduler.queues
    ]
    return _with_default(scheduler, weights, left) if scheduler.discipline is Discipline.LLQ_CBWFQ else weights


def _reserved(queue: Queue, rate: float, whole: float, load: Load) -> float:
    """Part of the link that a priority queue leaves to nobody: its cap, or what is offered to it."""
    if queue.capped:
        return _absolute(queue.share, rate)
    return (math.fsum(s.demand for s in load) if isinstance(load, tuple) else load) / whole


def _weight(share: Share | None, rate: float, left: float) -> float:
    if share is None:
        return 0.0
    if share.unit is ShareUnit.REMAINING_PERCENT:
        return left * share.value / 100
    return float(share.value) if share.unit is ShareUnit.WEIGHT else _absolute(share, rate)


def _with_default(scheduler: Scheduler, weights: list[float], left: float) -> list[float]:
    """A class without a guarantee (class-default) takes what the others leave; among weights it has weight 1."""
    unset = [i for i, q in enumerate(scheduler.queues) if not q.priority and q.share is None]
    if any(q.share and q.share.unit is ShareUnit.WEIGHT for q in scheduler.queues if not q.priority):
        return [1.0 if i in unset else w for i, w in enumerate(weights)]
    free = max(left - sum(weights), 0.0)
    return [free / len(unset) if i in unset else w for i, w in enumerate(weights)]


def leaf_paths(scheduler: Scheduler, above: Path = ()) -> tuple[Path, ...]:
    """The innermost queues of a scheduler, in its order, each after those of the classes before it."""
    found: list[Path] = []
    for queue in scheduler.queues:
        inside = queue.child.dividing.scheduler if queue.child else None
        path = (*above, queue.number)
        found += leaf_paths(inside, path) if inside and inside.queues else [path]
    return tuple(found)
