"""Assign classes to the eight queues, and compute the percentage of each queue."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from qosforge.errors import Place
from qosforge.findings import Finding
from qosforge.note import note
from qosforge.plan.places import class_place
from qosforge.plan.request import ClassRequest, DeviceRequest
from qosforge.platforms.force10_e300.capabilities import CAPABILITIES, dscp_to_queue
from qosforge.platforms.force10_e300.matching import layer2
from qosforge.platforms.recognition import points_of

_DEFAULT_QUEUE = 0
_STRICT_QUEUE = 5
_CONTROL_QUEUE = 6
_WEIGHTED_QUEUES = (4, 3, 2, 1)
_ALL_WEIGHTED = (6, 5, 4, 3, 2, 1)
"""Queues where there are more classes than below the strict queue's usual place: it is the last one then."""
_LAST_QUEUE = 7
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


def dscp_of(class_request: ClassRequest) -> int | None:
    """The DSCP that a class is marked with, a precedence as its class selector; None where it has no such mark."""
    mark = class_request.mark
    if mark is None or mark.dscp is not None:
        return mark.dscp if mark else None
    return None if mark.precedence is None else 8 * mark.precedence


def marks(class_request: ClassRequest) -> tuple[int, ...]:
    """DSCPs that a class carries behind the edge: its mark and what its policer writes, else those it matches."""
    mark = dscp_of(class_request)
    if mark is not None:
        return tuple(dict.fromkeys((mark, *class_request.remarked)))
    if class_request.is_default:
        return (0,)
    alone = [t for t in class_request.terms if set(t.set_fields) <= {"dscp", "precedence"}]
    return tuple(sorted({d for t in alone for d in points_of(t) or ()}))


def priorities(class_request: ClassRequest) -> tuple[int, ...]:
    """802.1p priorities that a class carries behind the edge: its mark, else those it matches."""
    if class_request.mark is not None and class_request.mark.cos is not None:
        return (class_request.mark.cos,)
    return tuple(sorted({cos for t in class_request.terms if t.set_fields == ("cos",) for cos in t.cos}))


def assign(request: DeviceRequest, requested: Mapping[str, float]) -> QueueChoice:
    """The fixed map where it keeps the classes apart and the default class in queue 0, else queues by order.

    ``requested`` are shares of the link (0-1).
    """
    strict_class = next((c for c in request.classes if c.treatment.priority), None)
    fixed = {c.name: {dscp_to_queue()[d] for d in marks(c)} for c in request.classes}
    single = {name: next(iter(queues)) for name, queues in fixed.items() if len(queues) == 1}
    recognisable = all(marks(c) and not _unmarked(c) for c in request.classes)
    apart = len(set(single.values())) == len(request.classes)
    default = request.classes[-1].name
    if recognisable and apart and single.get(default) == _DEFAULT_QUEUE and not layer2(request):
        strict = single[strict_class.name] if strict_class is not None else None
        queues = {dscp_to_queue()[d] for d in CAPABILITIES.control_dscps.value}
        return QueueChoice(single, strict, by_map=True, control=tuple(sorted(queues - set(single.values()))))
    groups, error = _groups(request, requested)
    many = len(groups) > len(_WEIGHTED_QUEUES)
    strict = _LAST_QUEUE if many else _STRICT_QUEUE
    queue_of = {default: _DEFAULT_QUEUE}
    queue_of |= {c.name: strict for c in request.classes if c.treatment.priority}
    for queue, group in zip(_ALL_WEIGHTED if many else _WEIGHTED_QUEUES, groups, strict=False):
        queue_of |= dict.fromkeys(group, queue)
    # A policy of layer 2 sees no DSCPs: what has no CoS of a class goes to queue 0.
    ethernet = layer2(request)
    free = set() if ethernet else {_CONTROL_QUEUE} - set(queue_of.values())
    return QueueChoice(
        queue_of={c.name: queue_of[c.name] for c in request.classes},
        strict=strict if strict_class is not None else None,
        by_map=False,
        merged=tuple(tuple(group) for group in groups if len(group) > 1),
        error=error,
        control=tuple(free),
        with_control=None if free or ethernet else _kin(request, requested),
    )


def _kin(request: DeviceRequest, requested: Mapping[str, float]) -> str:
    """The class that network control goes with: one that carries some of it, else that with the largest share."""
    control = set(CAPABILITIES.control_dscps.value)
    weighted = [c for c in request.classes if not c.treatment.priority]
    return max(weighted, key=lambda c: (bool(control & set(marks(c))), requested[c.name])).name


def _groups(request: DeviceRequest, requested: Mapping[str, float]) -> tuple[list[list[str]], float]:
    """Weighted classes by queue, and the largest error of a share.

    Where there are too many, those go together, two by two, that err least.
    Classes of different marks go together last: a queue has one mark.
    """
    groups = [[c.name] for c in request.classes if not c.treatment.priority and not c.is_default]
    own = {c.name: effective_mark(c) for c in request.classes}
    while len(groups) > len(_ALL_WEIGHTED):
        pairs = combinations(range(len(groups)), 2)
        joined = [(groups[a] + groups[b], a, b) for a, b in pairs]
        best, first, second = min(joined, key=lambda j: (len({own[n] for n in j[0]}), _error(j[0], requested)))
        groups[first] = best
        del groups[second]
    return groups, max((_error(group, requested) for group in groups), default=0.0)


def _error(group: Sequence[str], requested: Mapping[str, float]) -> float:
    """By how much the share of a class may be wrong: by all that the others in its queue ask for."""
    return sum(requested[name] for name in group) - min(requested[name] for name in group)


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
    if chosen.with_control is not None:
        queue = chosen.queue_of[chosen.with_control]
        yield note(
            "network-control-queue",
            Place(device=request.device, direction="output"),
            variant="unnamed",
            queue=queue,
            with_class=chosen.with_control,
        )
    if chosen.by_map:
        yield from _fixed_map_findings(request, chosen)
    elif not layer2(request):
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


def _fixed_map_findings(request: DeviceRequest, chosen: QueueChoice) -> Iterator[Finding]:
    for c in request.classes:
        queue = chosen.queue_of[c.name]
        astray = sorted({d for t in c.terms for d in t.dscp if dscp_to_queue()[d] != queue})
        if astray:
            others = ", ".join(f"{d} in {dscp_to_queue()[d]}" for d in astray)
            yield note(
                "mark-in-another-queue",
                class_place(request, c),
                requested=f"queue {queue}",
                applied=f"DSCP {others}",
                marks=others,
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


def _best(requested: list[float], budget: int) -> list[int]:
    """Whole numbers of at least 1 with a sum up to ``budget`` in the nearest ratio; the largest such sum."""
    total = sum(requested)
    ratios = [a / total for a in requested] if total else [1 / len(requested)] * len(requested)
    best: tuple[float, list[int]] | None = None
    for size in range(budget, max(len(requested), int(budget * _LEAST_PART)) - 1, -1):
        values = _rounded(ratios, size)
        error = max(abs(v / size - r) for v, r in zip(values, ratios, strict=True))
        if best is None or error < best[0] - 1e-9:
            best = (error, values)
    assert best is not None
    return best[1]


def _rounded(ratios: list[float], size: int) -> list[int]:
    values = [max(1, int(ratio * size)) for ratio in ratios]
    while sum(values) != size:
        step = 1 if sum(values) < size else -1
        gaps = [(ratio * size - value) * step for ratio, value in zip(ratios, values, strict=True)]
        movable = [i for i, value in enumerate(values) if value + step >= 1]
        values[max(movable, key=lambda i: gaps[i])] += step
    return values
