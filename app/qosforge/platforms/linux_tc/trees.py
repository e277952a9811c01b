"""The queues of an interface: a tree with a FIFO for each class, or a queue that drops before it is full.

HTB serves classes within their rates first, in the order of their ``prio``, and what these leave goes to the same
order of classes (tc-htb(8), "SHARING ALGORITHM"). A priority class that could borrow would so take all of it: ours
never sends more than its rate, and the others share in the ratio of their quanta. Where the kernel has HFSC, the
tree is one of `qosforge.platforms.linux_tc.sharing`: there it may borrow, by its share. Priority without a cap is
that of `qosforge.platforms.linux_tc.bands`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from qosforge.findings import Finding
from qosforge.note import note
from qosforge.plan.model import Discipline, Queue, Scheduler, Share, ShareUnit
from qosforge.plan.places import class_place
from qosforge.plan.request import ClassRequest, DeviceRequest, InterfaceRequest
from qosforge.plan.requested import guaranteed_share, requested_shares
from qosforge.plan.shares import PRIORITY_BURST_SECONDS
from qosforge.platforms.linux_tc.bands import with_quanta
from qosforge.platforms.linux_tc.capabilities import CAPABILITIES, held_burst, held_rate
from qosforge.platforms.linux_tc.class_tree import divisible, nested
from qosforge.platforms.linux_tc.early_drops import lower_early_drops, without_numbers
from qosforge.platforms.linux_tc.fair import lower_fairness
from qosforge.platforms.linux_tc.kinds import TreeKind, choose_tree, is_uncapped, order_findings
from qosforge.platforms.linux_tc.sharing import held_priority_burst, rate_of
from qosforge.platforms.linux_tc.turns import with_readable_quanta
from qosforge.platforms.linux_tc.virtual_queues import fit, numbered
from qosforge.units import format_rate

BURST_SECONDS = 0.001
"""What a class sends at once: timers of the kernel are finer, and more would make others wait."""
_IN_TURN = frozenset({TreeKind.BANDS, TreeKind.TURNS})
"""Trees whose shares are bytes of a turn."""


@dataclass(frozen=True)
class Tree:
    """The queues of an interface that sends ``rate`` bits per second."""

    rate: int
    scheduler: Scheduler


@dataclass(frozen=True)
class Level:
    """Classes that divide ``rate`` b/s of what an interface sends, which is ``link`` b/s.

    The request has these classes alone. ``above`` is the number of the queue that they divide,
    ``filters`` tells whether the kernel takes filters at the output.
    """

    request: DeviceRequest
    interface: str
    kind: TreeKind
    rate: int
    link: int
    above: int | None = None
    filters: bool = True

    def inside(self, queue: Queue, class_request: ClassRequest) -> Level:
        """The classes below a class: parts of what it has for sure."""
        request = self.request.model_copy(update={"classes": class_request.children})
        return replace(self, request=request, rate=rate_of(queue), above=queue.number)


_HEADERS, _ROOM, _ROOM_PART = 36, 64, 128
"""Bytes of the headers and tags of a link, at most; those that a bucket has besides, or one in so many if more."""
Served = Callable[[Level, ClassRequest, int, list[Finding]], dict[str, Any]]
"""What tells how a class of a level is served at its rate (b/s), as fields of its queue."""


def burst(rate: int) -> int:
    """Bytes of the bucket of a rate (b/s) where nothing is said of it."""
    return held_burst(rate * BURST_SECONDS / 8, rate)


def bucket(rate: int, mtu: int | None = None) -> int:
    """Bytes of the bucket of TBF for a rate (b/s) where IP packets have up to ``mtu`` bytes, the usual if None.

    TBF drops a packet for which its bucket is too small, whatever the rate (tbf_enqueue in net/sched/sch_tbf.c).
    What cards have joined before (GRO) it takes apart again, so that packets as the line has them count.
    """
    longest = _longest(mtu)
    return held_burst(max(burst(rate), longest + max(_ROOM, longest // _ROOM_PART)), rate)


def _longest(mtu: int | None) -> int:
    return (mtu or CAPABILITIES.full_packet.value) + _HEADERS


def waiting_bytes(size: int, mtu: int | None = None) -> int:
    """Bytes that wait in a bucket (TBF) of some size until it holds what divides the rate.

    That takes their place with its first line. Were it refused, or had they no room for a packet, the port would
    send nothing. They are less than the bucket holds: ``tc`` shows what takes longer than that to send as a time
    (``lat``, in whole microseconds), which would not tell the bytes again (tbf_print_opt in iproute2's tc/q_tbf.c).
    """
    return max(size // 2, _longest(mtu))


def port_rate(interface_request: InterfaceRequest) -> int:
    """What an interface sends at most (b/s): queues fill in the kernel only where it holds packets back itself."""
    return held_rate(min(interface_request.shape or interface_request.usable, interface_request.usable))


def lower_tree(
    request: DeviceRequest,
    interface_request: InterfaceRequest,
    findings: list[Finding],
    *,
    filters: bool = True,
) -> Tree | None:
    """The tree of an interface, a queue for each class; None where the kernel has no schedulers for it.

    Queues stand in the order of the classes, behind those of priority without a cap where there are such; in a
    queue are those of the classes below its class. The ``features`` of the request are the schedulers that the
    kernel has. ``filters`` tells whether it takes filters at the interface's output.
    """
    rate = port_rate(interface_request)
    kind = choose_tree(request, interface_request, rate, findings)
    if kind is None:
        return None
    sharing = kind is TreeKind.HFSC
    whole = request.model_copy(
        update={"classes": divisible(request, rate=rate, sharing=sharing, findings=findings)}
    )
    queues: list[Queue] = []
    parents: dict[int, int | None] = {}
    levels = deque([Level(whole, interface_request.name, kind, rate, rate, filters=filters)])
    while levels:
        level = levels.popleft()
        shares = dict(
            zip((c.name for c in level.request.classes), _class_rates(level.request, level.rate), strict=True)
        )
        for c in _in_order(level.request.classes, kind):
            queue = _queue(level, c, shares[c.name], queues, findings)
            parents[queue.number] = level.above
            queues.append(queue)
            if c.children:
                levels.append(level.inside(queue, c))
    if kind in _IN_TURN:
        turns = with_quanta(numbered(queues), requested_shares(request.classes, rate))
        if kind is TreeKind.TURNS:
            return Tree(rate, Scheduler(discipline=Discipline.DRR, queues=with_readable_quanta(turns)))
        return Tree(rate, Scheduler(discipline=Discipline.WFQ, queues=turns))
    if kind is TreeKind.INNER_HTB:
        findings.extend(order_findings(request, interface_request))
    return Tree(rate, nested(numbered(queues), parents, decoupled=sharing))


def _queue(
    level: Level, class_request: ClassRequest, share: int, before: Sequence[Queue], findings: list[Finding]
) -> Queue:
    """The queue of a class that has ``share`` b/s, numbered behind those of the port that are ``before`` it."""
    request, treatment = level.request, class_request.treatment
    place = class_place(request, class_request, interface=level.interface, direction="output")
    queue = Queue(
        number=len(before),
        name=class_request.name,
        share=Share(unit=ShareUnit.KBPS, value=share // 1000),
        **({} if class_request.children else _limit(class_request)),
    )
    served = _service(level.kind, queue.number, class_request)
    queue = queue.model_copy(update=served(level, class_request, share, findings))
    queue = queue.model_copy(update=lower_fairness(request, class_request, place, queue, findings))
    drops = lower_early_drops(request, class_request, place, queue, filters=level.filters)
    findings.extend(drops.findings)
    dropping = queue.model_copy(update=drops.fields)
    if treatment.wred is not None and not fit(numbered((*before, dropping))):
        findings.append(without_numbers(place, treatment.wred))
        return queue
    return dropping


def _in_order(classes: Sequence[ClassRequest], kind: TreeKind) -> list[ClassRequest]:
    """The classes as they are served, where they have bands."""
    match kind:
        case TreeKind.BANDS | TreeKind.TURNS:
            return sorted(classes, key=lambda c: c.treatment.priority is None)
        case TreeKind.INNER_HTB:
            return sorted(classes, key=lambda c: not is_uncapped(c))
    return list(classes)


def _service(kind: TreeKind, number: int, class_request: ClassRequest) -> Served:
    """What lowers how a class of a tree is served."""
    if class_request.treatment.priority is not None:
        if kind in _IN_TURN:
            return lambda *_: {"priority": True}
        if kind is TreeKind.INNER_HTB:
            return _at_level(number + 1)
        if kind is TreeKind.HFSC:
            return _in_time
    return _served


def _at_level(level: int) -> Served:
    """What lowers priority beside such without a cap, which is served before it, at its own level."""

    def served(level_of: Level, class_request: ClassRequest, rate: int, findings: list[Finding]) -> dict[str, Any]:
        if is_uncapped(class_request):
            return {"priority": True, "share": None, "level": level}
        after = 1 + sum(map(is_uncapped, level_of.request.classes))
        return {**_served(level_of, class_request, rate, findings), "level": after}

    return served


def _class_rates(request: DeviceRequest, rate: int) -> list[int]:
    """The rates of the classes: their shares, every one above nothing, together no more than the whole.

    Priority without a cap has none: it takes what it is offered.
    """
    shares = requested_shares(request.classes, rate)
    rates = [0 if is_uncapped(c) else held_rate(round(shares[c.name] * rate, 3)) for c in request.classes]
    largest = max(range(len(rates)), key=rates.__getitem__)
    rates[largest] = (
        max(held_rate(rate - sum(rates) + rates[largest]), CAPABILITIES.rate.minimum)
        if (sum(rates) > rate)
        else rates[largest]
    )
    return rates


def _served(level: Level, class_request: ClassRequest, rate: int, findings: list[Finding]) -> dict[str, Any]:
    """The fields of a queue that say whether it is served first, and what it sends at most."""
    treatment = class_request.treatment
    if treatment.priority is not None:
        findings.append(
            note(
                "bounded-by-shape",
                class_place(level.request, class_request, direction="output"),
                requested=f"at most {format_rate(rate)} while others wait",
                applied=f"at most {format_rate(rate)} at any time",
            )
        )
        bucket = held_burst(treatment.priority.burst or rate * PRIORITY_BURST_SECONDS / 8, rate)
        return {"priority": True, "capped": True, **_shaped(rate, bucket)}
    if treatment.bounded or treatment.shape is not None:
        ceiling = _ceiling(level, class_request, findings)
        if ceiling >= level.link:
            return {}
        held = min(rate, ceiling)
        share = Share(unit=ShareUnit.KBPS, value=held // 1000)
        return {"share": share, **_shaped(ceiling, burst(ceiling))}
    return {}


def _in_time(level: Level, class_request: ClassRequest, rate: int, findings: list[Finding]) -> dict[str, Any]:
    """The fields of a queue of priority whose real-time curve is apart from its share.

    An upper limit holds back what the class has by its share alone (tc-hfsc(8)). The real-time curve of a bounded
    class has the same rate, so that this and the limit together are never more than that.
    """
    priority = class_request.treatment.priority
    assert priority is not None
    size = held_priority_burst(priority.burst or rate * PRIORITY_BURST_SECONDS / 8, rate, level.link)
    fields = {"priority": True, "capped": True, "burst": size}
    if class_request.treatment.bounded:
        findings.append(
            note(
                "bounded-by-shape",
                class_place(level.request, class_request, direction="output"),
                requested=f"at most {format_rate(rate)}",
                applied=f"at most {format_rate(rate)} at any time, and what exceeds waits",
            )
        )
        # What it sends at once is its burst: the upper limit does not hold the real-time curve back.
        return fields | _shaped(rate, size)
    return fields


def _shaped(rate: int, bucket: int) -> dict[str, int]:
    return {"shape_rate": rate, "shape_burst_bits": 8 * bucket, "shape_excess_bits": 0}


def _ceiling(level: Level, class_request: ClassRequest, findings: list[Finding]) -> int:
    request, treatment = level.request, class_request.treatment
    asked = [] if treatment.shape is None else [treatment.shape.rate_of(level.rate)]
    if treatment.bounded:
        part = guaranteed_share(request.classes, class_request, level.rate)
        asked.append(int(round(part * level.rate, 3)))
    ceiling = held_rate(min(level.link, *asked))
    if ceiling != min(level.link, *asked):
        findings.append(
            note(
                "shape-approximate",
                class_place(level.request, class_request, direction="output"),
                requested=format_rate(min(asked)),
                applied=format_rate(ceiling),
                variant="multiples",
                image=request.image,
                step=CAPABILITIES.rate.step,
            )
        )
    return ceiling


def _limit(class_request: ClassRequest) -> dict[str, int]:
    requested = class_request.treatment.queue_limit
    if requested is not None and requested.bytes is not None:
        return {"limit_bytes": max(requested.bytes, CAPABILITIES.queue_bytes.minimum)}
    bounds = CAPABILITIES.queue_limit
    asked = bounds.default if requested is None or requested.packets is None else requested.packets
    return {"limit_packets": min(max(asked, bounds.minimum), bounds.maximum)}
