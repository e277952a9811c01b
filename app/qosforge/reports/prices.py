"""What a change costs the classes without an objective: nothing judges them, so their figures are told."""

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
"""The mean delay has to grow by both, for that to be told."""


@dataclass(frozen=True)
class PriceFigure:
    """A figure of a class on the path where it is worst, as text; ``before`` is empty where that is not known."""

    label: str
    before: str
    value: str


@dataclass(frozen=True)
class Price:
    """A class without an objective that got worse; ``number`` is its place in the policy, from 1 on."""

    name: str
    number: int
    figures: tuple[PriceFigure, ...]
    paths: int


@dataclass(frozen=True)
class PathFigures:
    """What a class lost on a path, as a part of its packets, and how long the others took in ms."""

    loss: float
    mean_ms: float | None


FiguresByClass = Mapping[str, Mapping[tuple[str, str], PathFigures]]
"""By the class's name, then by scenario and path."""


def prices(classes: Sequence[TrafficClass], before: FiguresByClass, after: FiguresByClass) -> tuple[Price, ...]:
    """The classes without an objective that fare notably worse ``after``; where nothing is known from before, those
    that lose notably.
    """
    found = []
    for number, each in enumerate(every_class(classes), 1):
        if each.objective is not None or each.name not in after:
            continue
        now = after[each.name]
        was = before.get(each.name, {})
        figures = tuple(_figures([was[path] for path in now if path in was], list(now.values())))
        if figures:
            found.append(Price(each.name, number, figures, len(now)))
    return tuple(found)


def figures_by_class(measurement: Measurement) -> FiguresByClass:
    """What each class got on each path."""
    found: dict[str, dict[tuple[str, str], PathFigures]] = {}
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


def _figures(before: Sequence[PathFigures], after: Sequence[PathFigures]) -> Iterator[PriceFigure]:
    was, now = max((one.loss for one in before), default=0.0), max(one.loss for one in after)
    if now - was >= LEAST_LOSS:
        yield PriceFigure("loss", format_bound(was, "loss") if before else "", format_bound(now, "loss"))
    slow, slower = _slowest(before), _slowest(after)
    if slow is None or slower is None or slower - slow < LEAST_DELAY_MS or slower < LEAST_DELAY_RATIO * slow:
        return
    yield PriceFigure("mean delay", format_bound(slow / 1e3, "mean"), format_bound(slower / 1e3, "mean"))


def _slowest(figures: Sequence[PathFigures]) -> float | None:
    return max((one.mean_ms for one in figures if one.mean_ms is not None), default=None)
