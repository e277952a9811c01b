"""Schedulers and shapers of the twin's scenario, from a plan."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from qosforge.plan.model import Discipline, Egress, InterfacePlan, Plan, Queue, Scheduler, ShareUnit
from qosforge.plan.percentages import with_rates
from qosforge.plan.shares import divided_rate, expected_shares, priority_burst
from qosforge.tester.scenario.queues import DEFAULT_LIMIT
from qosforge.twin.schedulers import (
    BURST_BYTES,
    FIFO,
    CbqClassSpec,
    CbwfqScheduler,
    DcbqScheduler,
    DrrScheduler,
    FairScheduler,
    PrioritySpec,
    SchedulerSpec,
    ShapeSpec,
    SrrScheduler,
    StrictScheduler,
    StrictWrrScheduler,
    TreeNodeSpec,
    TreeScheduler,
)

_SHAPE_SECONDS = 0.025
_SHAPE_BURST_BYTES = 1000
"""Committed burst of a shaper that states none: 25 ms of its rate, and 8000 bits below 320 kb/s (IOS shaping,
second-hand: Cisco's text was not at hand)."""
_LEAST_SHARE = 1e-6
"""Part of the rate that a class of no share has in D-CBQ, whose classes all have one."""
_CONVERSATIONS = ((64_000, 16), (128_000, 32), (256_000, 64), (512_000, 128))
"""Queues of flow-based fair queueing up to a bandwidth in b/s (IOS fair-queue, recalled)."""
_MOST_CONVERSATIONS = 256


@dataclass(frozen=True, slots=True)
class PortService:
    """The service of an interface: the policy that divides it, and the port's shaper around it.

    ``assumed_rate`` (b/s) is what the device takes its shares of, ``shape`` the port's shaper as the twin has it.
    The classes of HFSC have rates and no shares: for them it is what the twin divides, behind that shaper.
    """

    egress: Egress
    scheduler: Scheduler | None
    assumed_rate: int
    shape: ShapeSpec | None


def port_service(plan: Plan, interface: InterfacePlan, rate: int, line: int) -> PortService:
    """The service of an interface; ``rate`` (b/s) is the part of the ``line``'s rate that it may use.

    A policy that does nothing but shape around another one is the port's shaper. One that lets the whole line pass
    holds nothing.
    """
    # A device takes its percentages of what it believes its rate to be.
    assumed_rate = interface.bandwidth_kbps * 1000 if interface.bandwidth_kbps else rate
    egress = with_rates(interface, line).egress
    shapers = [twin_shaper(egress.shape_rate, egress.shape_burst)] if egress.shape_rate else []
    while (inside := egress.dividing) is not egress and inside.scheduler and egress.scheduler:
        if (around := _queue_shaper(egress.scheduler.queues[0])) is not None:
            shapers.append(around)
            assumed_rate = min(assumed_rate, around.rate_bps)
        egress = inside
    scheduler = egress.scheduler or plan.system.scheduler
    if scheduler is not None and scheduler.limit_percent is not None:
        shapers.append(twin_shaper(max(1, line * scheduler.limit_percent // 100)))
    tightest = min(shapers, key=lambda each: each.rate_bps, default=None)
    shape = tightest if tightest and tightest.rate_bps < line else None
    if scheduler is not None and scheduler.decoupled:
        assumed_rate = shape.rate_bps if shape else line
    return PortService(egress, scheduler, assumed_rate, shape)


def twin_shaper(rate: int, burst: int | None = None) -> ShapeSpec:
    """A shaper of ``rate`` b/s; ``burst`` in bytes, the usual one unless given."""
    usual = max(_SHAPE_BURST_BYTES, round(rate * _SHAPE_SECONDS / 8))
    return ShapeSpec(rate_bps=rate, burst_bytes=burst or usual)


def _queue_shaper(queue: Queue) -> ShapeSpec | None:
    """The shaper of a queue; a bucket that holds no packet would never fill.

    It holds both bursts; an excess burst that is not stated is the committed one (IOS shows both:
    ``shape (average) cir 614400 bc 6144 be 6144``).
    """
    if not queue.shape_rate:
        return None
    bits = queue.shape_burst_bits
    if bits is None:
        return twin_shaper(queue.shape_rate)
    excess = bits if queue.shape_excess_bits is None else queue.shape_excess_bits
    return twin_shaper(queue.shape_rate, max(_SHAPE_BURST_BYTES, (bits + excess) // 8))


def conversations(rate: int) -> int:
    """Queues that flow-based fair queueing hashes its flows into on a line of ``rate`` b/s."""
    return next((count for most, count in _CONVERSATIONS if rate <= most), _MOST_CONVERSATIONS)


def drain_rates(scheduler: Scheduler, rate: int) -> list[int]:
    """The rate (b/s) that each innermost queue drains at where all have traffic, in the order of `leaf_paths`."""
    found: list[int] = []
    for queue, share in zip(scheduler.queues, expected_shares(scheduler, rate), strict=True):
        part = round(share * rate)
        inside = _inside(queue)
        found += drain_rates(inside, max(part, 1)) if inside else [part]
    return found


def leaf_queues(scheduler: Scheduler) -> list[Queue]:
    """The innermost queues, in the order of `leaf_paths`."""
    found: list[Queue] = []
    for queue in scheduler.queues:
        inside = _inside(queue)
        found += leaf_queues(inside) if inside else [queue]
    return found


def twin_scheduler(scheduler: Scheduler, rate: int) -> SchedulerSpec:
    """The discipline that serves the innermost queues on ``rate`` b/s."""
    if scheduler.decoupled:
        return _decoupled(scheduler, rate)
    if any(_inside(queue) for queue in scheduler.queues):
        return TreeScheduler(children=_nodes(scheduler, rate, 0))
    found = _flat(scheduler, rate)
    shapes = {i: shaped for i, q in enumerate(scheduler.queues) if (shaped := _queue_shaper(q)) is not None}
    # The twin has no shapers in flow-based fair queueing: such plans are refused before.
    return replace(found, shapes=shapes) if shapes and not isinstance(found, FairScheduler) else found


def _decoupled(scheduler: Scheduler, rate: int) -> DcbqScheduler:
    """Priority apart from shares as D-CBQ has it, which gives what HFSC gives (`kernel-hfsc` in docs/kernel.md)."""
    leaves = enumerate(leaf_queues(scheduler))
    shapes = {i: shaped for i, q in leaves if (shaped := _queue_shaper(q)) is not None}
    return DcbqScheduler(classes=tuple(_decoupled_classes(scheduler, rate)), shapes=shapes or None)


def _decoupled_classes(
    scheduler: Scheduler, rate: int, *, above: CbqClassSpec | None = None, first: int = 0
) -> Iterator[CbqClassSpec]:
    """The classes of a level, each before those below it; ``first`` is the number of its first innermost queue.

    ``rate`` is what the level divides (b/s), a part of the link that is the share of the class ``above``.
    """
    rates = [queue.share.value * 1000 if queue.share else 0 for queue in scheduler.queues]
    shares = [max(held / rate, _LEAST_SHARE) for held in rates]
    # The router may hold a tree for more than the line has: what its classes have then counts as weights, and a
    # limit at a rate that is not there any more does not keep a class from borrowing.
    excess, crowded = max(math.fsum(shares), 1.0), sum(rates) > rate
    for number, (queue, held, share) in enumerate(zip(scheduler.queues, rates, shares, strict=True)):
        inside = _inside(queue)
        made = CbqClassSpec(
            name=f"{above.name}.{number}" if above else f"{number}",
            parent=above.name if above else None,
            share=share / excess * (above.share if above else 1.0),
            priority="high" if queue.priority else "low",
            borrow=crowded or queue.shape_rate is None or queue.shape_rate > held,
            queue=None if inside else first,
        )
        yield made
        if inside:
            yield from _decoupled_classes(inside, max(held, 1), above=made, first=first)
        first += len(leaf_queues(inside)) if inside else 1


def _inside(queue: Queue) -> Scheduler | None:
    """What divides a queue among classes of its own."""
    scheduler = queue.child.scheduler if queue.child else None
    return scheduler if scheduler and scheduler.queues else None


def _nodes(scheduler: Scheduler, rate: int, first: int) -> tuple[TreeNodeSpec, ...]:
    """The classes of a policy as siblings of a tree; ``first`` is the number of its first innermost queue."""
    found = []
    for queue, guaranteed in zip(scheduler.queues, _guarantees(scheduler, rate), strict=True):
        inside = _inside(queue)
        bucket = _queue_shaper(queue)
        divided = divided_rate(scheduler, queue, rate) if inside else None
        police = None
        if queue.priority and queue.capped and inside is None:
            police = ShapeSpec(rate_bps=guaranteed, burst_bytes=priority_burst(queue, guaranteed))
        found.append(
            TreeNodeSpec(
                name=queue.name or f"q{queue.number}",
                priority=(queue.level or 1) if queue.priority else None,
                weight=None if queue.priority else guaranteed,
                police=police,
                ceil_bps=None if bucket is None else bucket.rate_bps,
                burst_bytes=BURST_BYTES if bucket is None else bucket.burst_bytes,
                queue=first if inside is None else None,
                # Classes inside take their shares of what the class is shaped to, else of its guarantee.
                children=_nodes(inside, guaranteed if divided is None else divided, first) if inside else (),
            )
        )
        first += len(leaf_queues(inside)) if inside else 1
    return tuple(found)


def _guarantees(scheduler: Scheduler, rate: int) -> list[int]:
    """What each queue has of the rate for sure (b/s), whatever shapes or meters it besides.

    A priority that nothing caps has all of it, and takes nothing from the weights of the others.
    """
    unbound = {"shape_rate": None, "police": None, "child": None}
    queues = tuple(queue.model_copy(update=unbound) for queue in scheduler.queues)
    bare = scheduler.model_copy(update={"queues": queues})
    shares = expected_shares(bare, rate, priority_load=0.0)
    return [
        rate if queue.priority and not queue.capped else max(round(share * rate), 1)
        for queue, share in zip(queues, shares, strict=True)
    ]


def priority_bursts(discipline: SchedulerSpec) -> dict[int, int]:
    """Bytes that each policed priority queue of a discipline lets through at once, by the queue's number."""
    if isinstance(discipline, CbwfqScheduler):
        return {each.queue: each.burst_bytes for each in discipline.priority}
    found = {}
    waiting = list(discipline.children) if isinstance(discipline, TreeScheduler) else []
    while waiting:
        node = waiting.pop()
        if node.police is not None and node.queue is not None:
            found[node.queue] = node.police.burst_bytes
        waiting.extend(node.children)
    return found


def _flat(scheduler: Scheduler, rate: int) -> SchedulerSpec:
    queues = scheduler.queues
    strict = [i for i, q in enumerate(queues) if q.priority]
    match scheduler.discipline:
        case Discipline.FIFO:
            return FIFO
        case Discipline.FLOW_WFQ:
            threshold = queues[0].limit_packets or DEFAULT_LIMIT
            return FairScheduler(dynamic_queues=conversations(rate), congestive_discard_threshold=threshold)
        case Discipline.STRICT:
            return StrictScheduler(order=tuple(strict or range(len(queues))))
        case Discipline.LLQ_CBWFQ:
            guaranteed = _guarantees(scheduler, rate)
            return CbwfqScheduler(
                priority=tuple(
                    PrioritySpec(
                        queue=i,
                        rate_bps=guaranteed[i],
                        level=queues[i].level or 1,
                        burst_bytes=priority_burst(queues[i], guaranteed[i]),
                    )
                    for i in strict
                ),
                weights={i: guaranteed[i] for i in range(len(queues)) if i not in strict},
            )
        case Discipline.SRR if len(strict) <= 1:
            shape = {i: q.shape_weight for i, q in enumerate(queues) if q.shape_weight and i not in strict}
            return SrrScheduler(
                weights=dict(enumerate(map(_share, queues))),
                strict=strict[0] if strict else None,
                shape=shape or None,
            )
        case Discipline.DRR | Discipline.WFQ if _take_turns(queues):
            quanta = {i: _share(q) for i, q in enumerate(queues) if i not in strict}
            return DrrScheduler(quantum_bytes=quanta, strict=tuple(strict))
    return StrictWrrScheduler(
        strict=tuple(strict),
        weights={i: _share(q) for i, q in enumerate(queues) if i not in strict},
        mode="packets" if scheduler.discipline is Discipline.WRR else "bytes",
    )


def _take_turns(queues: Sequence[Queue]) -> bool:
    """Whether the weights of queues are bytes of a turn: those of fair queueing, too (`ets`), where they are no
    percentages. A queue without any has a turn of one byte; no platform's plan has one in such a scheduler.
    """
    return all(q.priority or q.share is None or q.share.unit is ShareUnit.WEIGHT for q in queues)


def _share(queue: Queue) -> int:
    return max(queue.share.value, 1) if queue.share else 1
