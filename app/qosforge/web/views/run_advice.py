"""What can be done where objectives are not met: class by class, with the figure that could be asked for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from qosforge.deltaq.objective import BoundVerdict, Kind
from qosforge.findings import Finding
from qosforge.reports.evidence import excess
from qosforge.reports.table import format_bound
from qosforge.reports.verdict_rows import VerdictRow
from qosforge.tester.measurement.document import When

BELOW = "objective-below-minimum"


@dataclass(frozen=True)
class LinksAlone:
    """The path of a class on which the links alone take the longest, and longer than an objective allows.

    Texts: ``minimum`` is what they take, ``least`` what can be asked for at all, ``allowed`` what would have to be
    allowed with the policy as it is, on the worst of such paths; ``option`` is what of link efficiency would do,
    with the time ``with_option``. Empty where not known.
    """

    path: str
    minimum: str
    least: str
    allowed: str
    option: str
    with_option: str


@dataclass(frozen=True)
class ClassAdvice:
    """A class whose objectives are not all met.

    ``below`` says that the links alone take longer than some of them allow, ``links_alone`` by how much where that
    is known. ``share_helps`` says that more of the link may meet others; ``label`` is the bound of these that is
    missed the most, and ``allowed`` what would have to be allowed of it; empty where no limit was seen.
    """

    name: str
    below: bool
    links_alone: LinksAlone | None
    share_helps: bool
    label: str
    allowed: str


def class_advice(rows: Sequence[VerdictRow], side: When, findings: Sequence[Finding]) -> tuple[ClassAdvice, ...]:
    """What can be done about each class with bounds not met on a side, by the rows of a run and its findings."""
    unmet: dict[str, list[VerdictRow]] = {}
    for row in rows:
        if side in row.sides and row.sides[side].outcome != "met":
            unmet.setdefault(row.traffic_class, []).append(row)
    return tuple(_advice(name, some, side, findings) for name, some in unmet.items())


def _advice(name: str, rows: Sequence[VerdictRow], side: When, findings: Sequence[Finding]) -> ClassAdvice:
    floors = {_path(one): one for one in findings if one.code == BELOW and one.traffic_class == name}
    below = [row for row in rows if row.path in floors and _is_below(row.bound, floors[row.path])]
    others = [row.sides[side] for row in rows if not any(row is one for one in below)]
    worst = max(others, key=excess, default=None)
    known = [row for row in below if "minimum_seconds" in floors[str(row.path)].facts]
    slowest = max(known, key=lambda row: (_minimum(floors[str(row.path)]), excess(row.sides[side])), default=None)
    return ClassAdvice(
        name=name,
        below=bool(below),
        links_alone=None
        if slowest is None
        else _links_alone(floors[str(slowest.path)], [r.sides[side] for r in below]),
        share_helps=bool(others),
        label="" if worst is None else worst.label,
        allowed="" if worst is None else _allowed(worst),
    )


def _path(finding: Finding) -> str:
    return f"{finding.facts['source']}→{finding.facts['target']}"


def _minimum(finding: Finding) -> float:
    return float(finding.facts["minimum_seconds"])


def _is_below(bound: BoundVerdict, finding: Finding) -> bool:
    """Whether a bound is one that a finding is about: of a path, where it was kept without its figures."""
    return bound.kind == "delay" and ("minimum_seconds" not in finding.facts or bound.requested < _minimum(finding))


def _links_alone(finding: Finding, below: Sequence[BoundVerdict]) -> LinksAlone:
    would_do = finding.variant == "option"
    return LinksAlone(
        path=_path(finding),
        minimum=format_bound(float(f"{_minimum(finding):.3g}"), "delay"),
        least=_round_up(_minimum(finding), "delay"),
        allowed=_allowed(max(below, key=_largest)),
        option=str(finding.facts["option"]) if would_do else "",
        with_option=str(finding.facts["seconds"]) if would_do else "",
    )


def _allowed(bound: BoundVerdict) -> str:
    figure = _largest(bound)
    return _round_up(figure, bound.kind) if math.isfinite(figure) else ""


def _largest(bound: BoundVerdict) -> float:
    """What may have been as large as that; infinite where no limit was seen."""
    return bound.high.number() or bound.observed.number() or math.inf


def _round_up(figure: float, kind: Kind) -> str:
    """The next figure above one that a person would ask for: two digits of it, and of a delay no part of a unit."""
    unit = 0.01 if kind == "loss" else 1e-3 if figure >= 1e-3 else 1e-6
    scaled = figure / unit
    step = 10.0 ** (math.floor(math.log10(scaled)) - 1)
    if kind != "loss":
        step = max(step, 1.0)
    return format_bound(math.ceil(round(scaled / step, 6)) * step * unit, kind)
