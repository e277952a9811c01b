"""What each class of a run gets, before and after its change, in a few figures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from qosforge.deltaq.objective import Outcome, combine
from qosforge.intent.models import TrafficClass, every_class
from qosforge.reports.evidence import observed
from qosforge.reports.table import format_bound
from qosforge.reports.verdict_rows import VerdictRow
from qosforge.tester.measurement.document import When
from qosforge.web.views.run_verdicts import worst_row
from qosforge.web.views.share_words import share_text

_KINDS = ("delay", "loss", "variation", "mean")


@dataclass(frozen=True)
class Metric:
    """One figure of a class on the worst of its paths, where several are judged: what was seen there, also before.

    Texts; empty where not known.
    """

    kind: str
    label: str
    before: str
    value: str
    requested: str
    outcome: Outcome
    path: str


@dataclass(frozen=True)
class ClassTile:
    """A class: what came of its objectives on the side that was judged last, and its figures."""

    name: str
    number: int
    outcome: Outcome
    metrics: tuple[Metric, ...]
    met: int
    open: int
    """Bounds of which it cannot be told."""
    judged: int
    met_before: int
    """Of those that were judged before the change, too: of ``judged_before``, 0 where that is what is shown."""
    judged_before: int
    paths: int
    share: str


def class_numbers(classes: Sequence[TrafficClass]) -> dict[str, int]:
    """The place of each class in its policy, from 1 on, by which it has its colour."""
    return {each.name: number for number, each in enumerate(every_class(classes), 1)}


def class_tiles(
    rows: Sequence[VerdictRow], sides: Sequence[When], classes: Sequence[TrafficClass]
) -> tuple[ClassTile, ...]:
    """The judged classes in the order of the policy; ``sides`` are those on which anything was judged."""
    known = {each.name: each for each in every_class(classes)}
    numbers = class_numbers(classes)
    by_class: dict[str, list[VerdictRow]] = {}
    for row in rows:
        by_class.setdefault(row.traffic_class, []).append(row)
    last = sides[-1] if sides else "after"
    tiles = [
        _tile(name, numbers.get(name, 0), found, last, share_text(known[name]) if name in known else "")
        for name, found in by_class.items()
    ]
    return tuple(sorted(tiles, key=lambda tile: tile.number))


def _tile(name: str, number: int, rows: Sequence[VerdictRow], last: When, share: str) -> ClassTile:
    judged = [row.sides[last] for row in rows if last in row.sides]
    before = [row.sides["before"] for row in rows if last == "after" and "before" in row.sides]
    return ClassTile(
        name=name,
        number=number,
        outcome=combine([bound.outcome for bound in judged]) if judged else "inconclusive",
        metrics=tuple(metric for kind in _KINDS if (metric := _metric(kind, rows, last))),
        met=sum(bound.outcome == "met" for bound in judged),
        open=sum(bound.outcome == "inconclusive" for bound in judged),
        judged=len(judged),
        met_before=sum(bound.outcome == "met" for bound in before),
        judged_before=len(before),
        paths=len({(row.scenario, row.path) for row in rows}),
        share=share,
    )


def _metric(kind: str, rows: Iterable[VerdictRow], last: When) -> Metric | None:
    """The figure of a kind: of delays that of p95 where it is judged, else that of the first."""
    found = [row for row in rows if row.bound.kind == kind and last in row.sides]
    if not found:
        return None
    label = next((row.bound.label for row in found if "p95" in row.bound.label), found[0].bound.label)
    worst = worst_row([row for row in found if row.bound.label == label], last)
    before = worst.sides.get("before")
    return Metric(
        kind=kind,
        label=label,
        before=observed(before) if before is not None and last != "before" else "",
        value=observed(worst.sides[last]),
        requested=format_bound(worst.bound.requested, kind),
        outcome=combine([row.sides[last].outcome for row in found if row.bound.label == label]),
        path=worst.path or worst.scenario,
    )
