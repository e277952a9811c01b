"""The numbers of a plot as a table: what stands beside it for those who want figures or cannot see it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby

from qosforge.deltaq.distribution import DeltaQ
from qosforge.deltaq.objective import Objective, quantile_of
from qosforge.plots.curve import PS_PER_MS, Curve, names, percent

_NEVER = "∞"
_QUANTILES = ("p50", "p95", "p99")


@dataclass(frozen=True, slots=True)
class TableCell:
    """A figure for people; ``above`` where it exceeds what was asked."""

    text: str
    above: bool = False


@dataclass(frozen=True, slots=True)
class TableRow:
    """Figures of one curve or one bar; ``group`` begins the names of those that belong together."""

    name: str
    cells: tuple[TableCell, ...]
    group: str = ""

    @property
    def name_in_group(self) -> str:
        """Its name below that of its group."""
        return self.name.removeprefix(f"{self.group}, ")


@dataclass(frozen=True, slots=True)
class Table:
    """Headings, the first of which is that of the rows' names, rows, and what is to be said below them."""

    headings: tuple[str, ...]
    rows: tuple[TableRow, ...]
    note: str = ""

    @property
    def groups(self) -> tuple[tuple[str, tuple[TableRow, ...]], ...]:
        """The rows by their groups, in their order."""
        return tuple((name, tuple(rows)) for name, rows in groupby(self.rows, lambda row: row.group))


@dataclass(frozen=True, slots=True)
class _Column:
    """A heading, how a figure is read off a distribution and formatted, and the bound on it."""

    heading: str
    read: Callable[[DeltaQ], float]
    format: Callable[[float], str]
    bound: float | None = None


def plot_table(curves: Sequence[Curve], objective: Objective | None = None) -> Table:
    """Quantiles, largest delay and loss of every curve, and what was asked of them in the last row.

    Milliseconds and percent. A quantile at which the packet is lost is "∞".
    """
    columns = _columns(objective)
    rows = []
    for name, curve in zip(names(curves), curves, strict=True):
        values = [(column, column.read(curve.distribution)) for column in columns]
        rows.append(
            TableRow(
                name,
                tuple(
                    TableCell(column.format(value), above=column.bound is not None and value > column.bound)
                    for column, value in values
                ),
            )
        )
    if objective is not None:
        requested = (TableCell("" if c.bound is None else f"≤ {c.format(c.bound)}") for c in columns)
        rows.append(TableRow("requested", tuple(requested)))
    endless = any(cell.text == _NEVER for row in rows for cell in row.cells)
    note = f"{_NEVER}: so many packets were lost that this share of them never arrives." if endless else ""
    return Table(("", *(column.heading for column in columns)), tuple(rows), note)


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
        columns.append(_Column(f"jitter p{share * 100:g} (ms)", _variation(share), _ms, bound))
    columns.append(_Column("loss (%)", lambda of: of.loss, percent, objective.loss if objective else None))
    return columns


def _quantile(label: str) -> Callable[[DeltaQ], float]:
    return lambda of: of.quantile_ps(quantile_of(label)) / PS_PER_MS


def _variation(share: float) -> Callable[[DeltaQ], float]:
    def read(of: DeltaQ) -> float:
        return (of.quantile_ps(share) - of.delays_ps[0]) / PS_PER_MS if of.delays_ps.size else math.inf

    return read


def _in_ms(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1e3


def _ms(value: float) -> str:
    return _NEVER if math.isinf(value) else f"{value:.4g}"
