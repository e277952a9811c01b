"""Assign classes to the eight queues, and compute the percentage of each queue."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from qosforge.dscp import dscp_label
from qosforge.errors import Place
from qosforge.findings import Finding
from qosforge.note import note
from qosforge.plan.request import ClassRequest, DeviceRequest
from qosforge.platforms.force10_e300.capabilities import CAPABILITIES, dscp_to_queue
from qosforge.platforms.force10_e300.class_marks import effective_mark, marks, trusted_marks
from qosforge.platforms.force10_e300.mark_queues import needed_queues, place
from qosforge.platforms.force10_e300.matching import layer2
from qosforge.platforms.recognition import dscp_of
from qosforge.queue_assignment.shares import nearest_whole, normalised

_CONTROL_QUEUES = (6, 7)
_LEAST_PART = 0.75
"""Classes get at least this part of what is left for them; the rest may round their ratio better."""


@dataclass(frozen=True)
class QueueChoice:
    """The queue of every class; ``by_map`` says that the fixed map of ``trust diffserv`` agrees with it.

    ``merged`` are classes that share a queue, ``error`` the largest part of the link by which that may make a share
    wrong. ``control`` are the queues that network control takes and no class, ``with_control`` is the class that
    it goes with where it has none of its own.
    """

    queue_of: Mapping[str, int]
    strict: int | None
    by_map: bool
    merged: tuple[tuple[str, ...], ...] = ()
    error: float = 0.0
    control: tuple[int, ...] = ()
    with_control: str | None = None


def assign(request: DeviceRequest, requested: Mapping[str, float]) -> QueueChoice:
    """The fixed map where it keeps classes apart and the default class in queue 0, else queues by marks and order.

    ``requested`` are shares of the link (0-1).
    """
    strict_class = next((c.name for c in request.classes if c.treatment.priority), None)
    single = _mapped_queues(request)
    if single is not None:
        queues = {dscp_to_queue()[d] for d in CAPABILITIES.control_dscps.value}
        control = tuple(sorted(queues - set(single.values())))
        return QueueChoice(single, single.get(strict_class or ""), by_map=True, control=control)
    queue_of, merged, error = place(request, requested)
    # A policy of layer 2 sees no DSCPs: what has no CoS of a class goes to queue 0.
    ethernet = layer2(request)
    free = () if ethernet else _control_queue(request.classes, set(queue_of.values()))
    return QueueChoice(
        queue_of={c.name: queue_of[c.name] for c in request.classes},
        strict=queue_of.get(strict_class or ""),
        by_map=False,
        merged=merged,
        error=error,
        control=free,
        with_control=None if free or ethernet else _kin(request, requested),
    )


def _mapped_queues(request: DeviceRequest) -> Mapping[str, int] | None:
    """The queue of each class by the fixed map; None where it does not keep the classes apart, or their marks."""
    fixed = {name: {dscp_to_queue()[d] for d in dscps} for name, dscps in trusted_marks(request.classes).items()}
    single = {name: next(iter(queues)) for name, queues in fixed.items() if len(queues) == 1}
    recognisable = all(marks(c) and not _unmarked(c) for c in request.classes)
    apart = len(set(single.values())) == len(request.classes)
    if not (recognisable and apart) or layer2(request):
        return None
    needed = needed_queues(request.classes)
    kept = all(needed.get(c.name) == single[c.name] for c in request.classes if effective_mark(c) is not None)
    return single if kept else None


def _control_queue(classes: tuple[ClassRequest, ...], taken: set[int]) -> tuple[int, ...]:
    """The queue of network control where one is free: the second is for what no class tells of it."""
    first, second = _CONTROL_QUEUES
    if first not in taken:
        return (first,)
    claimed = {d for dscps in trusted_marks(classes).values() for d in dscps}
    left = set(CAPABILITIES.control_dscps.value) - claimed
    return (second,) if left and second not in taken else ()


def _kin(request: DeviceRequest, requested: Mapping[str, float]) -> str:
    """The class that network control goes with: one that carries some of it, else that with the largest share."""
    control = set(CAPABILITIES.control_dscps.value)
    weighted = [c for c in request.classes if not c.treatment.priority]
    return max(weighted, key=lambda c: (bool(control & set(marks(c))), requested[c.name])).name


def _unmarked(class_request: ClassRequest) -> bool:
    """Whether something other than marks tells the class from others."""
    return dscp_of(class_request) is None and any(not (t.dscp or t.precedence) for t in class_request.terms)


def queue_findings(request: DeviceRequest, chosen: QueueChoice) -> Iterator[Finding]:
    """What the choice means."""
    if chosen.merged:
        bearable = chosen.error <= request.tolerance
        queues = len(set(chosen.queue_of.values()))
        yield note(
            "classes-merged" if bearable else "queues-exceeded",
            Place(device=request.device, direction="output"),
            requested=f"{len(request.classes)} queues",
            applied=f"{queues} queues, a share wrong by up to {chosen.error * 100:.3g} points of the link",
            variant="by-dscp",
            groups="; ".join(" + ".join(group) for group in chosen.merged),
        )
    yield from _merged_marks(request, chosen)
    yield note(
        "multicast-reserved",
        Place(device=request.device, direction="output"),
        applied=f"{100 - CAPABILITIES.multicast_percent.value:g} % of the port while multicast fills the rest",
        percent=f"{CAPABILITIES.multicast_percent.value:g}",
    )
    if chosen.with_control is not None:
        queue = chosen.queue_of[chosen.with_control]
        yield note(
            "network-control-queue",
            Place(device=request.device, direction="output"),
            variant="unnamed",
            queue=queue,
            with_class=chosen.with_control,
        )
    if not chosen.by_map and not layer2(request):
        yield note(
            "trust-map-not-used",
            Place(device=request.device, direction="output"),
        )
    if chosen.strict is not None and chosen.control and chosen.control[-1] > chosen.strict:
        later = range(chosen.strict + 1, CAPABILITIES.queues.value)
        yield note(
            "served-after-strict",
            Place(device=request.device, direction="output"),
            strict=chosen.strict,
            later=", ".join(map(str, later)),
            control=", ".join(map(str, chosen.control)),
        )


def _merged_marks(request: DeviceRequest, chosen: QueueChoice) -> Iterator[Finding]:
    """Classes of one queue that have marks of their own: the queue's policy writes one."""
    groups: dict[int, list[ClassRequest]] = {}
    for c in request.classes:
        groups.setdefault(chosen.queue_of[c.name], []).append(c)
    for group in groups.values():
        found = {c.name: effective_mark(c) for c in group}
        if len(set(found.values())) > 1:
            yield note(
                "merged-marks-differ",
                Place(device=request.device, direction="output"),
                requested=", ".join(
                    f"{n} {'unmarked' if d is None else f'DSCP {dscp_label(d)}'}" for n, d in found.items()
                ),
                applied="the marks that the packets come with",
                classes=", ".join(found),
            )


def percentages(
    classes: Sequence[ClassRequest], requested: Mapping[str, float], chosen: QueueChoice
) -> tuple[int, ...]:
    """Whole percentages of the eight queues that sum to 100 and meet the weighted classes' shares best.

    ``requested`` are shares of the link (0–1). Queues no class uses get the least. What the rounding of the classes
    leaves goes to network control, else to the strict queue, whose percentage is without effect while it is strict,
    else to a queue that serves nothing.
    """
    table = [CAPABILITIES.idle_percent.value] * CAPABILITIES.queues.value
    for queue in chosen.control:
        table[queue] = CAPABILITIES.control_percent.value
    weighted: dict[int, float] = {}
    for c in classes:
        if not c.treatment.priority:
            queue = chosen.queue_of[c.name]
            weighted[queue] = weighted.get(queue, 0.0) + requested[c.name]
    spare = 100 - sum(share for q, share in enumerate(table) if q not in weighted and q != chosen.strict)
    first = 0
    if chosen.strict is not None:
        reserved = sum(requested[c.name] for c in classes if c.treatment.priority)
        first = max(1, min(round(reserved * 100), spare - len(weighted)))
    values = _best(list(weighted.values()), spare - first)
    for queue, value in zip(weighted, values, strict=True):
        table[queue] = value
    if chosen.strict is not None:
        table[chosen.strict] = first
    idle = tuple(q for q in range(len(table)) if q not in weighted)
    sinks = chosen.control or ((chosen.strict,) if chosen.strict is not None else idle[-1:] or tuple(weighted))
    for step in range(100 - sum(table)):
        table[sinks[-1 - step % len(sinks)]] += 1
    return tuple(table)


def _best(requested: Sequence[float], budget: int) -> tuple[int, ...]:
    """Whole numbers of at least 1 with a sum up to ``budget`` in the nearest ratio; the largest such sum."""
    shares = normalised(requested)
    return nearest_whole([shares], shares, budget, max(len(shares), int(budget * _LEAST_PART)), budget)
