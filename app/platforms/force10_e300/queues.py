"""Which of the eight queues serves which class, and what percentage each queue gets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from app.findings import Finding, Severity
from app.plan.request import ClassRequest, DeviceRequest
from app.platforms.force10_e300.capabilities import capabilities, dscp_to_queue

_DEFAULT_QUEUE = 0
_STRICT_QUEUE = 5
_CONTROL_QUEUE = 6
_WEIGHTED_QUEUES = (4, 3, 2, 1)
_LEAST_PART = 0.75
"""Classes get at least this part of what is left for them; the rest may round their ratio better."""


@dataclass(frozen=True)
class Assignment:
    """The queue of every class; ``by_map`` says that the fixed map of ``trust diffserv`` agrees with it."""

    queue_of: Mapping[str, int]
    strict: int | None
    by_map: bool

    @property
    def control(self) -> tuple[int, ...]:
        """The queues that network control takes and no class."""
        queues = (
            {dscp_to_queue()[d] for d in capabilities()["control_dscps"]["value"]}
            if self.by_map
            else {_CONTROL_QUEUE}
        )
        return tuple(sorted(queues - set(self.queue_of.values())))


def marks(wanted: ClassRequest) -> tuple[int, ...]:
    """DSCPs that a class carries behind the edge: its mark, else those it matches."""
    if wanted.mark is not None and wanted.mark.dscp is not None:
        return (wanted.mark.dscp,)
    if wanted.is_default:
        return (0,)
    return tuple(sorted({d for term in wanted.terms if not term.application for d in term.dscp}))


def assign(request: DeviceRequest) -> Assignment:
    """The fixed map where it keeps the classes apart and the default class in queue 0, else queues by order."""
    strict_class = next((c for c in request.classes if c.treatment.priority), None)
    fixed = {c.name: {dscp_to_queue()[d] for d in marks(c)} for c in request.classes}
    single = {name: next(iter(queues)) for name, queues in fixed.items() if len(queues) == 1}
    recognisable = all(marks(c) and not _unmarked(c) for c in request.classes)
    apart = len(set(single.values())) == len(request.classes)
    default = request.classes[-1].name
    if recognisable and apart and single.get(default) == _DEFAULT_QUEUE:
        strict = single[strict_class.name] if strict_class is not None else None
        return Assignment(single, strict, by_map=True)
    free = iter(_WEIGHTED_QUEUES)
    queue_of: dict[str, int] = {}
    for c in request.classes:
        if c.is_default:
            queue_of[c.name] = _DEFAULT_QUEUE
        elif c.treatment.priority:
            queue_of[c.name] = _STRICT_QUEUE
        else:
            queue_of[c.name] = next(free, _WEIGHTED_QUEUES[-1])
    return Assignment(queue_of, _STRICT_QUEUE if strict_class is not None else None, by_map=False)


def _unmarked(wanted: ClassRequest) -> bool:
    """Whether only the class's applications tell it from others."""
    marked = wanted.mark is not None and wanted.mark.dscp is not None
    return not marked and any(t.application for t in wanted.terms)


def queue_findings(request: DeviceRequest, chosen: Assignment) -> Iterator[Finding]:
    """What the choice means."""
    weighted = [c for c in request.classes if not c.treatment.priority and not c.is_default]
    if not chosen.by_map and len(weighted) > len(_WEIGHTED_QUEUES):
        yield _finding(
            request,
            "too-many-classes",
            Severity.ERROR,
            f"{len(weighted)} weighted classes for {len(_WEIGHTED_QUEUES)} queues: the last share one",
            mend="merge classes, or mark them so that their DSCPs differ in the top three bits",
        )
    if chosen.by_map:
        yield from _fixed_map_findings(request, chosen)
    else:
        yield _finding(
            request,
            "trust-map-not-used",
            Severity.INFO,
            "the fixed DSCP map of the box does not keep these classes apart: every port matches their marks",
        )
    if chosen.strict is not None and chosen.control:
        later = range(chosen.strict + 1, capabilities()["queues"]["value"])
        yield _finding(
            request,
            "served-after-strict",
            Severity.INFO,
            f"queue {chosen.strict} is strict: queues {', '.join(map(str, later))} above it are served after it, "
            f"network control in {', '.join(map(str, chosen.control))} among them",
        )


def _fixed_map_findings(request: DeviceRequest, chosen: Assignment) -> Iterator[Finding]:
    for c in request.classes:
        queue = chosen.queue_of[c.name]
        astray = sorted({d for t in c.terms for d in t.dscp if dscp_to_queue()[d] != queue})
        if astray:
            others = ", ".join(f"{d} in {dscp_to_queue()[d]}" for d in astray)
            yield Finding(
                code="mark-in-another-queue",
                severity=Severity.INFO,
                message="a port that trusts marks serves DSCPs of the class that an edge has not remarked by the "
                f"fixed map: {others}",
                device=request.device,
                traffic_class=c.name,
                line=c.line,
                asked=f"queue {queue}",
                will_be=f"DSCP {others}",
                mend="mark the class at the edge",
            )


def _finding(
    request: DeviceRequest, code: str, severity: Severity, message: str, mend: str | None = None
) -> Finding:
    return Finding(
        code=code, severity=severity, message=message, device=request.device, direction="output", mend=mend
    )


def percentages(classes: Sequence[ClassRequest], asked: Mapping[str, float], chosen: Assignment) -> tuple[int, ...]:
    """Whole percentages of the eight queues that sum to 100 and meet the weighted classes' shares best.

    ``asked`` are shares of the link (0–1). Queues no class uses get the least; network control gets what the
    rounding of the classes leaves. The strict queue's percentage is without effect while it is strict.
    """
    table = [capabilities()["idle_percent"]["value"]] * capabilities()["queues"]["value"]
    for queue in chosen.control:
        table[queue] = capabilities()["control_percent"]["value"]
    weighted: dict[int, float] = {}
    for c in classes:
        if not c.treatment.priority:
            queue = chosen.queue_of[c.name]
            weighted[queue] = weighted.get(queue, 0.0) + asked[c.name]
    spare = 100 - sum(share for q, share in enumerate(table) if q not in weighted and q != chosen.strict)
    first = 0
    if chosen.strict is not None:
        reserved = sum(asked[c.name] for c in classes if c.treatment.priority)
        first = max(1, min(round(reserved * 100), spare - len(weighted)))
    values = _best(list(weighted.values()), spare - first)
    for queue, value in zip(weighted, values, strict=True):
        table[queue] = value
    if chosen.strict is not None:
        table[chosen.strict] = first
    sinks = chosen.control or ((chosen.strict,) if chosen.strict is not None else tuple(weighted))
    for step in range(100 - sum(table)):
        table[sinks[-1 - step % len(sinks)]] += 1
    return tuple(table)


def _best(asked: list[float], budget: int) -> list[int]:
    """Whole numbers of at least 1 with a sum up to ``budget`` in the nearest ratio; the largest such sum."""
    total = sum(asked)
    ratios = [a / total for a in asked] if total else [1 / len(asked)] * len(asked)
    best: tuple[float, list[int]] | None = None
    for size in range(budget, max(len(asked), int(budget * _LEAST_PART)) - 1, -1):
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
