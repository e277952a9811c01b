"""Trade-offs of the classes without an objective: nothing judges them, so their figures are told where worse.

`qosforge.reports.trade_offs` weighs every class of a scenario against the others, by what it gained or lost of its
throughput and mean delay over all paths; here a class is told by the path where it loses or waits notably more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from qosforge.intent.models import TrafficClass, every_class
from qosforge.reports.table import format_bound
from qosforge.tester.measurement.document import FlowResult, Measurement
from qosforge.tester.measurement.pooling import summarise

LEAST_LOSS = 0.01
"""Part of its packets that a class has to lose more than before, for that to be told."""
LEAST_DELAY_MS = 1.0
LEAST_DELAY_RATIO = 1.5
"""The mean delay of a path has to grow by both, for that to be told."""


@dataclass(frozen=True)
class TradeOffFigure:
    """A figure of a class on the path where it got worse most; ``before`` is empty where that is not known."""

    label: str
    before: str
    value: str
    path: str


@dataclass(frozen=True)
class UnjudgedTradeOff:
    """A class without an objective that got worse; ``number`` is its place in the policy, from 1 on."""

    name: str
    number: int
    figures: tuple[TradeOffFigure, ...]
    paths: int

    @property
    def is_compared(self) -> bool:
        """Whether it is known what it got before, so that the change is what made it worse."""
        return any(figure.before for figure in self.figures)


@dataclass(frozen=True)
class PathFigures:
    """What a class lost on a path, as a part of its packets, and how long the others took in ms."""

    loss: float
    mean_ms: float | None


PathKey = tuple[str, str]
"""A scenario, and a path in it."""
FiguresByClass = Mapping[str, Mapping[PathKey, PathFigures]]
"""By the class's name, then by scenario and path."""


def unjudged_trade_offs(
    classes: Sequence[TrafficClass], before: FiguresByClass, after: FiguresByClass
) -> tuple[UnjudgedTradeOff, ...]:
    """The classes without an objective that fare notably worse ``after``; where nothing is known from before, those
    that lose notably.
    """
    found = []
    for number, each in enumerate(every_class(classes), 1):
        if each.objective is not None or each.name not in after:
            continue
        now = after[each.name]
        was = before.get(each.name, {})
        shared = {path: (was[path], figures) for path, figures in now.items() if path in was}
        figures = tuple(_changes(shared) if shared else _losses(now))
        if figures:
            found.append(UnjudgedTradeOff(each.name, number, figures, len(now)))
    return tuple(found)


def figures_by_class(measurement: Measurement) -> FiguresByClass:
    """What each class got on each path."""
    found: dict[str, dict[PathKey, PathFigures]] = {}
    for scenario in measurement.scenarios:
        flows: dict[tuple[str, str], list[FlowResult]] = {}
        for flow in scenario.flows:
            if flow.traffic_class:
                flows.setdefault((flow.traffic_class, flow.path), []).append(flow)
        for (name, path), some in flows.items():
            summary = summarise(some)
            found.setdefault(name, {})[scenario.name, path] = PathFigures(
                summary.loss or 0.0, summary.mean_delay_ms
            )
    return found


def _changes(paths: Mapping[PathKey, tuple[PathFigures, PathFigures]]) -> Iterator[TradeOffFigure]:
    """What got notably worse, each by the path on which it did most."""
    lost = {key: (one.loss, two.loss) for key, (one, two) in paths.items() if two.loss - one.loss >= LEAST_LOSS}
    if lost:
        key, (less, more) = max(lost.items(), key=_growth)
        yield TradeOffFigure("loss", format_bound(less, "loss"), format_bound(more, "loss"), _name(key))
    delays = {
        key: (one.mean_ms, two.mean_ms)
        for key, (one, two) in paths.items()
        if one.mean_ms is not None and two.mean_ms is not None
    }
    slowed = {key: sides for key, sides in delays.items() if _is_slower(*sides)}
    if slowed:
        key, (fast, slow) = max(slowed.items(), key=_growth)
        yield TradeOffFigure("mean delay", _delay_text(fast), _delay_text(slow), _name(key))


def _is_slower(before_ms: float, after_ms: float) -> bool:
    return after_ms - before_ms >= LEAST_DELAY_MS and after_ms >= LEAST_DELAY_RATIO * before_ms


def _growth(found: tuple[PathKey, tuple[float, float]]) -> float:
    before, after = found[1]
    return after - before


def _losses(paths: Mapping[PathKey, PathFigures]) -> Iterator[TradeOffFigure]:
    """What is lost where nothing is known from before."""
    key, worst = max(paths.items(), key=lambda found: found[1].loss)
    if worst.loss >= LEAST_LOSS:
        yield TradeOffFigure("loss", "", format_bound(worst.loss, "loss"), _name(key))


def _name(key: PathKey) -> str:
    """A path as it is told: by itself, or by its scenario where it has no name."""
    scenario, path = key
    return path or scenario


def _delay_text(ms: float) -> str:
    return f"{ms:.3g} ms" if ms < 1e3 else f"{ms / 1e3:.3g} s"
