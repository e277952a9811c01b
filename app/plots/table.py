"""The numbers of a plot as a table: what stands beside it for those who want figures or cannot see it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.deltaq.distribution import DeltaQ
from app.deltaq.objective import Objective, quantile_of
from app.plots.curve import PS_PER_MS, Curve

_QUANTILES = ("p50", "p95", "p99")


@dataclass(frozen=True, slots=True)
class Cell:
    """A figure for people; ``above`` where it exceeds what was asked."""

    text: str
    above: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """Figures of one curve or one bar group."""

    name: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Headings, the first of which is that of the rows' names, and rows."""

    headings: tuple[str, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class _Column:
    """A heading, how a figure is read off a distribution and written, and the bound on it."""

    heading: str
    read: Callable[[DeltaQ], float]
    written: Callable[[float], str]
    bound: float | None = None


def plot_table(curves: Sequence[Curve], objective: Objective | None = None) -> Table:
    """Quantiles, largest delay and loss of every curve, and what was asked of them in the last row.

    Milliseconds and percent. A quantile that more packets missed by being lost is "∞".
    """
    columns = _columns(objective)
    same = len({curve.label for curve in curves}) == 1
    rows = []
    for curve in curves:
        values = [(column, column.read(curve.distribution)) for column in columns]
        rows.append(
            Row(
                curve.when if same else f"{curve.label}, {curve.when}",
                tuple(
                    Cell(column.written(value), above=column.bound is not None and value > column.bound)
                    for column, value in values
                ),
            )
        )
    if objective is not None:
        asked = (Cell("" if c.bound is None else f"≤ {c.written(c.bound)}") for c in columns)
        rows.append(Row("asked", tuple(asked)))
    return Table(("", *(column.heading for column in columns)), tuple(rows))


def _columns(objective: Objective | None) -> list[_Column]:
    delay = objective.delay if objective else {}
    labels = sorted({*_QUANTILES, *delay}, key=quantile_of)
    columns = [_Column(f"{label} (ms)", _quantile(label), _ms, _in_ms(delay.get(label))) for label in labels]
    if objective is not None and objective.mean is not None:
        mean = _in_ms(objective.mean)
        columns.append(_Column("mean (ms)", lambda of: of.mean_delivered_ps() / PS_PER_MS, _ms, mean))
    columns.append(
        _Column("max (ms)", lambda of: of.delays_ps[-1] / PS_PER_MS if of.delays_ps.size else math.inf, _ms)
    )
    if objective is not None and objective.variation is not None:
        share, bound = objective.variation_quantile, _in_ms(objective.variation)
        columns.append(_Column(f"variation p{share * 100:g} (ms)", _variation(share), _ms, bound))
    columns.append(_Column("loss (%)", lambda of: of.loss * 100, _percent, _in_percent(objective)))
    return columns


def _quantile(label: str) -> Callable[[DeltaQ], float]:
    return lambda of: of.quantile_ps(quantile_of(label)) / PS_PER_MS


def _variation(share: float) -> Callable[[DeltaQ], float]:
    def read(of: DeltaQ) -> float:
        return (of.quantile_ps(share) - of.delays_ps[0]) / PS_PER_MS if of.delays_ps.size else math.inf

    return read


def _in_ms(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1e3


def _in_percent(objective: Objective | None) -> float | None:
    return objective.loss * 100 if objective is not None and objective.loss is not None else None


def _ms(value: float) -> str:
    return "∞" if math.isinf(value) else f"{value:.4g}"


def _percent(value: float) -> str:
    return f"{value:.3g}" if value >= 1e-7 else "0"
