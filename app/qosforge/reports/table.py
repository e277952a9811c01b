"""The comparison table: each class before and after a push, and the benefit, as data.

The benefit is before ÷ after − 1 in percent, the figure in which published QoS experiments state their
result. Times are milliseconds; a quantile that lies beyond the packets delivered is infinite.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict

from qosforge.deltaq.objective import Quantity
from qosforge.tester.measurement.document import FlowResult, Measurement, to_ms
from qosforge.tester.measurement.pooling import ClassSummary, summarise


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its heading, its unit, how many decimals it shows, and whether a benefit makes sense.

    ``of_arrived`` where it is of the packets that arrived alone.
    """

    heading: str
    unit: str
    decimals: int
    compared: bool = True
    short_heading: str = ""
    of_arrived: bool = False

    @property
    def short(self) -> str:
        """Heading where space is scarce."""
        return self.short_heading or self.heading


MOST_LOST = 0.01
"""Loss up to which the packets that arrived before and after a push are the same ones in all that matters."""

COLUMNS: tuple[Column, ...] = (
    Column("packets", "", 0, compared=False),
    Column("mean delay", "ms", 3, of_arrived=True),
    Column("sd", "ms", 3, of_arrived=True),
    Column("jitter (inter-arrival sd)", "ms", 3, short_heading="jitter", of_arrived=True),
    Column("p50", "ms", 3),
    Column("p95", "ms", 3),
    Column("p99", "ms", 3),
    Column("loss", "%", 3, compared=False),
)
"""What every line holds, in this order."""


class FigureLine(BaseModel):
    """One line of figures, one per column of ``COLUMNS``; a benefit is in percent."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    what: Literal["before", "after", "benefit"]
    values: tuple[Quantity, ...]

    def texts(self) -> tuple[str, ...]:
        """Return the figures as people read them: "∞" for infinity, "–" for what there is none of."""
        if self.what == "benefit":
            return tuple(format_quantity(value, _benefit_decimals(value)) for value in self.values)
        return tuple(
            format_quantity(value, column.decimals) for value, column in zip(self.values, COLUMNS, strict=True)
        )


class ComparisonGroup(BaseModel):
    """The lines of one class, kind and path in one scenario: before, after, benefit, as far as they exist."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    scenario: str
    title: str
    path: str
    traffic_class: str | None
    kind: str
    lines: tuple[FigureLine, ...]

    @property
    def label(self) -> str:
        """Name for people: the class and what of it, or the kind of background traffic."""
        if self.traffic_class is None:
            return f"{self.kind or 'other'} (background)"
        return f"{self.traffic_class}: {self.kind}" if self.kind else self.traffic_class


def comparison_table(
    before: Measurement | None, after: Measurement | None, *, by_path: bool = True
) -> tuple[ComparisonGroup, ...]:
    """Pair the flows of two measurements by scenario, path, class and kind, in the order they were listed.

    Without ``by_path`` all paths of a scenario are pooled.

    Either side may be missing; its lines, and the benefit, are then left out.
    """
    groups: dict[tuple[str, str, str | None, str], str] = {}
    for measurement in (before, after):
        for scenario in measurement.scenarios if measurement else ():
            for flow in scenario.flows:
                path = flow.path if by_path else ""
                groups.setdefault((scenario.name, path, flow.traffic_class, flow.kind), scenario.title)
    # Scenarios stay together, and background traffic comes after the classes that were promised something.
    order = {name: position for position, name in enumerate(dict.fromkeys(key[0] for key in groups))}
    keys = sorted(groups, key=lambda key: (order[key[0]], key[2] is None))
    return tuple(
        ComparisonGroup(
            scenario=key[0],
            title=groups[key],
            path=key[1],
            traffic_class=key[2],
            kind=key[3],
            lines=_lines(_summary(before, key), _summary(after, key)),
        )
        for key in keys
    )


def format_quantity(quantity: Quantity, decimals: int) -> str:
    """Write a figure for people: "∞" for infinity, "–" for an unknown one."""
    number = quantity.number()
    if number is None:
        return "–"
    return "∞" if math.isinf(number) else f"{number:,.{decimals}f}"


def _benefit_decimals(benefit: Quantity) -> int:
    """The paper's two decimals; none where the figure has four digits before the point."""
    return 2 if abs(benefit.number() or 0) < 1000 else 0


def benefit_percent(before: Quantity, after: Quantity) -> Quantity:
    """Return before ÷ after − 1 in percent: unknown if either is, or both are infinite or zero."""
    earlier, later = before.number(), after.number()
    if earlier is None or later is None or (math.isinf(earlier) and math.isinf(later)):
        return Quantity()
    if later == 0:
        return Quantity.of(math.inf if earlier > 0 else None)
    return Quantity.of((earlier / later - 1) * 100)


def _summary(measurement: Measurement | None, key: tuple[str, str, str | None, str]) -> ClassSummary | None:
    """Pool the flows that belong to one group; ``None`` when there is none."""
    name, path, traffic_class, kind = key
    flows: Sequence[FlowResult] = [
        flow
        for scenario in (measurement.scenarios if measurement else ())
        if scenario.name == name
        for flow in scenario.flows
        if (flow.traffic_class, flow.kind) == (traffic_class, kind) and path in ("", flow.path)
    ]
    return summarise(flows) if flows else None


def _lines(before: ClassSummary | None, after: ClassSummary | None) -> tuple[FigureLine, ...]:
    lines = []
    if before is not None:
        lines.append(FigureLine(what="before", values=_values(before)))
    if after is not None:
        lines.append(FigureLine(what="after", values=_values(after)))
    if len(lines) == 2:
        pairs = zip(COLUMNS, lines[0].values, lines[1].values, strict=True)
        alike = all(side is None or (side.loss or 0) <= MOST_LOST for side in (before, after))
        gains = tuple(
            benefit_percent(first, second) if column.compared and (alike or not column.of_arrived) else Quantity()
            for column, first, second in pairs
        )
        lines.append(FigureLine(what="benefit", values=gains))
    return tuple(lines)


def _values(summary: ClassSummary) -> tuple[Quantity, ...]:
    """Figures of one side, in the order of ``COLUMNS``."""
    return (
        Quantity.of(summary.sent),
        Quantity.of(summary.mean_delay_ms),
        Quantity.of(summary.sd_delay_ms),
        Quantity.of(summary.interarrival_sd_ms),
        *(_quantile(summary, label) for label in ("p50", "p95", "p99")),
        Quantity.of(None if summary.loss is None else summary.loss * 100),
    )


def _quantile(summary: ClassSummary, label: str) -> Quantity:
    """Return a quantile in ms; one that the summary knows and that has no value lies at infinity."""
    if label not in summary.quantiles_ps:
        return Quantity()
    value = summary.quantiles_ps[label]
    return Quantity.of(math.inf if value is None else to_ms(value))


_LEAST_OF_A_SECOND_MS = 999.5
"""From here on, three digits of milliseconds would be a thousand."""


def format_delay(ms: float) -> str:
    """Write a delay that nothing bounds for people, to three digits: milliseconds, or seconds from one on."""
    return f"{ms:.3g} ms" if ms < _LEAST_OF_A_SECOND_MS else f"{ms / 1e3:,.3g} s"


_SECONDS_FROM = 9.9995
"""Seconds from which milliseconds would have more digits before the point than are written."""


def format_bound(number: Quantity | float, kind: str) -> str:
    """Write a bound's figure for people: loss in percent, anything else in milliseconds, or seconds from ten on."""
    quantity = number if isinstance(number, Quantity) else Quantity.of(number)
    value = quantity.number()
    if value is None or math.isinf(value):
        return format_quantity(quantity, 0)
    if kind == "loss":
        return f"{value * 100:.3g} %"
    return f"{value:.4g} s" if abs(value) >= _SECONDS_FROM else f"{value * 1e3:.4g} ms"
