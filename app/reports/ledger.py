"""Expected beside observed, and who paid: what every class was to get, got, and gained or lost by a push."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict

from app.deltaq.objective import Quantity
from app.reports.table import format_quantity
from app.tester.measurement import ClassSummary, FlowResult, Measurement, summarise, to_ms

_DOCUMENT = ConfigDict(frozen=True, extra="forbid")

LEAST_CHANGE = 0.02
"""Part of a class's own figure that it has to change by: less is chance."""
LEAST_PART = 0.005
"""Part of all that a scenario carries, or has waiting, that a change has to be."""


class Side(BaseModel):
    """What a class was to get and got on one side of a push: IP bits per second, milliseconds.

    ``expected_bps`` is the fluid model's, ``bound_ms`` what no packet that arrives exceeds; ``None`` where there is
    none. ``ratio`` is observed ÷ expected.
    """

    model_config = _DOCUMENT

    expected_bps: int | None
    observed_bps: int
    ratio: Quantity
    mean_ms: float | None
    max_ms: float | None
    bound_ms: float | None


class Account(BaseModel):
    """A class on one path of a scenario, before and after; ``offered_bps`` is None where it sends all it can."""

    model_config = _DOCUMENT

    scenario: str
    title: str
    path: str
    traffic_class: str | None
    offered_bps: int | None
    before: Side | None
    after: Side | None

    @property
    def offered_text(self) -> str:
        """The offered load in kb/s for people."""
        return format_quantity(Quantity.of(None if self.offered_bps is None else self.offered_bps / 1e3), 1)


class Entry(BaseModel):
    """What one class gained (above 0) or paid (below 0), and which part that is of all that was gained or paid."""

    model_config = _DOCUMENT

    traffic_class: str | None
    before: float
    after: float
    change: float
    part: float


class Ledger(BaseModel):
    """Who gained and who paid in a scenario, the largest first.

    ``throughput`` is in bits per second. ``backlog`` is throughput × mean delay, the bits that a class has under
    way (Little 1961), which a work-conserving scheduler can pass from one class to another but not abolish
    (Kleinrock's conservation law): less is a gain. The two sides of a ledger need not be equal: losses, framing and
    idle capacity are in neither.
    """

    model_config = _DOCUMENT

    scenario: str
    title: str
    what: Literal["throughput", "backlog"]
    gained: tuple[Entry, ...]
    paid: tuple[Entry, ...]


def accounts(before: Measurement | None, after: Measurement | None, *, by_path: bool = True) -> tuple[Account, ...]:
    """Expected and observed per scenario, path and class; without ``by_path`` all paths of a scenario together."""
    found = []
    for scenario, title in _scenarios(before, after):
        keys = dict.fromkeys(
            (flow.path if by_path else "", flow.traffic_class)
            for measurement in (before, after)
            for flow in _flows(measurement, scenario)
        )
        for path, name in keys:
            earlier, later = (_summary(m, scenario, name, path) for m in (before, after))
            known = later or earlier
            found.append(
                Account(
                    scenario=scenario,
                    title=title,
                    path=path,
                    traffic_class=name,
                    offered_bps=known.offered_bps if known else None,
                    before=_side(earlier),
                    after=_side(later),
                )
            )
    return tuple(found)


def who_paid(before: Measurement | None, after: Measurement | None) -> tuple[Ledger, ...]:
    """Which classes paid for what others gained, per scenario; nothing where one side was not measured.

    Changes of less than `LEAST_CHANGE` of the class's own figure or `LEAST_PART` of the scenario's are left out.
    """
    found = []
    for scenario, title in _scenarios(before, after):
        if not _flows(before, scenario) or not _flows(after, scenario):
            continue
        names = list(dict.fromkeys(f.traffic_class for m in (before, after) for f in _flows(m, scenario)))
        sides = [[_summary(m, scenario, name, "") for name in names] for m in (before, after)]
        rates = [[float(s.throughput_bps) if s else 0.0 for s in side] for side in sides]
        waiting = [[_backlog(s) for s in side] for side in sides]
        found += [
            _ledger(scenario, title, "throughput", names, rates),
            _ledger(scenario, title, "backlog", names, waiting),
        ]
    return tuple(ledger for ledger in found if ledger.gained or ledger.paid)


SIDE_HEADINGS = ("expected", "observed", "ratio", "max delay", "bound")
"""What `side_texts` gives: throughputs in kb/s, observed ÷ expected, delays in ms."""


def side_texts(side: Side | None) -> tuple[str, ...]:
    """A side's figures for people: "–" for what there is none of."""
    if side is None:
        return ("–",) * len(SIDE_HEADINGS)
    expected = None if side.expected_bps is None else side.expected_bps / 1e3
    return (
        format_quantity(Quantity.of(expected), 1),
        format_quantity(Quantity.of(side.observed_bps / 1e3), 1),
        format_quantity(side.ratio, 2),
        format_quantity(Quantity.of(side.max_ms), 1),
        format_quantity(Quantity.of(side.bound_ms), 1),
    )


def in_words(ledger: Ledger) -> str:
    """A ledger as a sentence."""
    unit, of = (1e3, "kb/s") if ledger.what == "throughput" else (8e3, "kB under way")
    gained = _listed((f"{_name(e)} {abs(e.change) / unit:,.1f} {of}") for e in ledger.gained)
    paid = _listed((f"{_name(e)} {abs(e.change) / unit:,.1f} {of} ({e.part:.0%})") for e in ledger.paid)
    if ledger.gained and ledger.paid:
        return f"{ledger.what}: {gained} gained; {paid} paid"
    if ledger.gained:
        return f"{ledger.what}: {gained} gained, and nobody paid"
    return f"{ledger.what}: {paid} paid, and nobody gained"


def _name(entry: Entry) -> str:
    return entry.traffic_class or "background"


_Change = tuple[str | None, float, float, float]
"""A class, its figures before and after, and what it gained."""


def _listed(texts: Iterable[str]) -> str:
    return ", ".join(texts)


def _ledger(
    scenario: str,
    title: str,
    what: Literal["throughput", "backlog"],
    names: Sequence[str | None],
    sides: Sequence[Sequence[float]],
) -> Ledger:
    whole = max(math.fsum(side) for side in sides)
    # Less on the way is better, more carried is.
    sign = 1.0 if what == "throughput" else -1.0
    gained: list[_Change] = []
    paid: list[_Change] = []
    for name, before, after in zip(names, *sides, strict=True):
        change = sign * (after - before)
        if abs(change) > max(LEAST_CHANGE * max(before, after), LEAST_PART * whole):
            (gained if change > 0 else paid).append((name, before, after, change))
    return Ledger(scenario=scenario, title=title, what=what, gained=_entries(gained), paid=_entries(paid))


def _entries(found: list[_Change]) -> tuple[Entry, ...]:
    total = math.fsum(abs(change) for *_, change in found)
    ordered = sorted(found, key=lambda entry: -abs(entry[3]))
    return tuple(
        Entry(traffic_class=name, before=before, after=after, change=change, part=abs(change) / total)
        for name, before, after, change in ordered
    )


def _backlog(summary: ClassSummary | None) -> float:
    if summary is None or summary.mean_delay_ps is None:
        return 0.0
    return summary.throughput_bps * summary.mean_delay_ps * 1e-12


def _side(summary: ClassSummary | None) -> Side | None:
    if summary is None:
        return None
    return Side(
        expected_bps=summary.expected_bps,
        observed_bps=summary.throughput_bps,
        ratio=_ratio(summary.throughput_bps, summary.expected_bps),
        mean_ms=summary.mean_delay_ms,
        max_ms=to_ms(summary.max_delay_ps),
        bound_ms=to_ms(summary.delay_bound_ps),
    )


def _ratio(observed: int, expected: int | None) -> Quantity:
    if expected is None or (expected == 0 and observed == 0):
        return Quantity()
    return Quantity.of(observed / expected if expected else math.inf)


def _scenarios(before: Measurement | None, after: Measurement | None) -> dict[tuple[str, str], None]:
    return dict.fromkeys((s.name, s.title) for m in (before, after) if m for s in m.scenarios)


def _flows(measurement: Measurement | None, scenario: str) -> list[FlowResult]:
    scenarios = measurement.scenarios if measurement else ()
    return [flow for each in scenarios if each.name == scenario for flow in each.flows]


def _summary(
    measurement: Measurement | None, scenario: str, traffic_class: str | None, path: str
) -> ClassSummary | None:
    flows = [
        flow
        for flow in _flows(measurement, scenario)
        if flow.traffic_class == traffic_class and path in ("", flow.path)
    ]
    return summarise(flows) if flows else None
