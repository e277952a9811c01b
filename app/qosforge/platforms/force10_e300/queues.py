"""Assign classes to the eight queues, and compute the percentage of each queue.

Classes join pair by pair where there are too many: a search of all ways would give devices other queues.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from qosforge.errors import Place
from qosforge.findings import Finding
from qosforge.memoise import memoise
from qosforge.note import note
from qosforge.plan.request import ClassRequest, DeviceRequest
from qosforge.platforms.force10_e300.capabilities import CAPABILITIES, dscp_to_queue
from qosforge.platforms.force10_e300.matching import layer2
from qosforge.platforms.recognition import dscp_of, points_of
from qosforge.queue_assignment.shape import ERROR, KINDS, Demand, QueueShape
from qosforge.queue_assignment.shares import nearest_division, normalised, whole_numbers
from qosforge.queue_assignment.solver import assign_queues

_DEFAULT_QUEUE = 0
_CONTROL_QUEUE = 6
_SHAPE = QueueShape(weighted=(4, 3, 2, 1), strict=(5,))
_WIDE_SHAPE = QueueShape(weighted=(6, 5, 4, 3, 2, 1), strict=(7,), preference=(KINDS, ERROR), pairwise=True)
"""The queues where there are more classes than below the strict queue's usual place: it is the last one then.

Classes of different marks share a queue last: it has one mark.
"""
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


def marks(class_request: ClassRequest) -> tuple[int, ...]:
    """DSCPs that a class carries behind the edge: its mark and what its policer writes, else those it matches."""
    mark = dscp_of(class_request)
    if mark is not None:
        return tuple(dict.fromkeys((mark, *class_request.remarked)))
    return (0,) if class_request.is_default else _listed_dscps(class_request)


def _listed_dscps(class_request: ClassRequest) -> tuple[int, ...]:
    alone = [t for t in class_request.terms if set(t.set_fields) <= {"dscp", "precedence"}]
    return tuple(sorted({d for t in alone for d in points_of(t) or ()}))


def priorities(class_request: ClassRequest) -> tuple[int, ...]:
    """802.1p priorities that a class carries behind the edge: its mark, else those it matches."""
    if class_request.mark is not None and class_request.mark.cos is not None:
        return (class_request.mark.cos,)
    return _listed_priorities(class_request)


def _listed_priorities(class_request: ClassRequest) -> tuple[int, ...]:
    return tuple(sorted({cos for t in class_request.terms if t.set_fields == ("cos",) for cos in t.cos}))


@memoise
def trusted_marks(classes: tuple[ClassRequest, ...]) -> Mapping[str, tuple[int, ...]]:
    """By which DSCPs a port that trusts them tells each class: its marks, and what else it matches.

    A mark is that of the class that sets it, else of the first that matches it.
    """
    setting = {d: c.name for c in reversed(classes) if c.is_default or dscp_of(c) is not None for d in marks(c)}
    return _told_apart(classes, setting, {c.name: (*marks(c), *_listed_dscps(c)) for c in classes})


@memoise
def trusted_priorities(classes: tuple[ClassRequest, ...]) -> Mapping[str, tuple[int, ...]]:
    """By which 802.1p priorities a port that trusts them tells each class, as `trusted_marks`."""
    setting = {c.mark.cos: c.name for c in reversed(classes) if c.mark and c.mark.cos is not None}
    told = {c.name: (*priorities(c), *_listed_priorities(c)) for c in classes if not c.is_default}
    return _told_apart(classes, {0: classes[-1].name, **setting}, told)


def _told_apart(
    classes: Sequence[ClassRequest], setting: Mapping[int, str], told: Mapping[str, Sequence[int]]
) -> Mapping[str, tuple[int, ...]]:
    """Each mark with one class: the one of ``setting``, else the first of those that are ``told`` by it."""
    owner = dict(setting)
    for c in classes:
        for value in told.get(c.name, ()):
            owner.setdefault(value, c.name)
    return {c.name: tuple(v for v in dict.fromkeys(told.get(c.name, ())) if owner[v] == c.name) for c in classes}


def assign(request: DeviceRequest, requested: Mapping[str, float]) -> QueueChoice:
    """The fixed map where it keeps the classes apart and the default class in queue 0, else queues by order.

    ``requested`` are shares of the link (0-1).
    """
    strict_class = next((c for c in request.classes if c.treatment.priority), None)
    fixed = {name: {dscp_to_queue()[d] for d in dscps} for name, dscps in trusted_marks(request.classes).items()}
    single = {name: next(iter(queues)) for name, queues in fixed.items() if len(queues) == 1}
    recognisable = all(marks(c) and not _unmarked(c) for c in request.classes)
    apart = len(set(single.values())) == len(request.classes)
    default = request.classes[-1].name
    if recognisable and apart and single.get(default) == _DEFAULT_QUEUE and not layer2(request):
        strict = single[strict_class.name] if strict_class is not None else None
        queues = {dscp_to_queue()[d] for d in CAPABILITIES.control_dscps.value}
        return QueueChoice(single, strict, by_map=True, control=tuple(sorted(queues - set(single.values()))))
    sharing = sum(not (c.treatment.priority or c.is_default) for c in request.classes)
    shape = _SHAPE if sharing <= len(_SHAPE.weighted) else _WIDE_SHAPE
    found = assign_queues(shape, _demands(request, requested))
    # A policy of layer 2 sees no DSCPs: what has no CoS of a class goes to queue 0.
    ethernet = layer2(request)
    free = set() if ethernet else {_CONTROL_QUEUE} - set(found.queue_of.values())
    return QueueChoice(
        queue_of={c.name: found.queue_of[c.name] for c in request.classes},
        strict=None if strict_class is None else found.queue_of[strict_class.name],
        by_map=False,
        merged=found.merged,
        error=found.error,
        control=tuple(free),
        with_control=None if free or ethernet else _kin(request, requested),
    )


def _kin(request: DeviceRequest, requested: Mapping[str, float]) -> str:
    """The class that network control goes with: one that carries some of it, else that with the largest share."""
    control = set(CAPABILITIES.control_dscps.value)
    weighted = [c for c in request.classes if not c.treatment.priority]
    return max(weighted, key=lambda c: (bool(control & set(marks(c))), requested[c.name])).name


def _demands(request: DeviceRequest, requested: Mapping[str, float]) -> tuple[Demand, ...]:
    """What the classes demand, the default class its own queue; their kinds are the marks to write."""
    return tuple(
        Demand(
            c.name,
            (requested[c.name],),
            priority=c.treatment.priority is not None,
            queue=_DEFAULT_QUEUE if c.is_default else None,
            kinds=frozenset({effective_mark(c)}),
        )
        for c in request.classes
    )


def effective_mark(class_request: ClassRequest) -> int | None:
    """The DSCP that has to be written; None where the class has no mark or nothing but that mark."""
    mark = dscp_of(class_request)
    same = class_request.terms and all(t.set_fields == ("dscp",) and t.dscp == (mark,) for t in class_request.terms)
    return None if same else mark


def _unmarked(class_request: ClassRequest) -> bool:
    """Whether something other than marks tells the class from others."""
    return dscp_of(class_request) is None and any(not (t.dscp or t.precedence) for t in class_request.terms)


def queue_findings(request: DeviceRequest, chosen: QueueChoice) -> Iterator[Finding]:
    """What the choice means."""
    if chosen.merged:
        bearable = chosen.error <= request.tolerance
        queues = CAPABILITIES.queues.value
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
                requested=", ".join(f"{n} {'unmarked' if d is None else f'DSCP {d}'}" for n, d in found.items()),
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
    sums = range(budget, max(len(shares), int(budget * _LEAST_PART)) - 1, -1)
    return nearest_division([shares], (whole_numbers([share * size for share in shares], size) for size in sums))
