"""Expected beside observed, and trade-offs: what every class was to get, got, and gained or lost by a push."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict

from qosforge.deltaq.objective import Evidence, Quantity
from qosforge.reports.table import format_quantity
from qosforge.tester.measurement.document import FlowResult, Measurement, to_ms
from qosforge.tester.measurement.pooling import ClassSummary, summarise

_DOCUMENT = ConfigDict(frozen=True, extra="forbid")

LEAST_CHANGE = 0.02
"""Part of a class's own figure that it has to change by: less is chance."""
LEAST_PART = 0.005
"""Part of the largest figure of the scenario that a change has to be."""


class AccountSide(BaseModel):
    """What a class was to get and got on one side of a push: IP bits per second, milliseconds.

    ``expected_bps`` is the fluid model's, ``bound_ms`` what no packet that arrives exceeds if the scenario's flows
    are all the traffic; ``None`` where there is none. Where the model knows no single number, ``expected_bps`` is
    the least and ``expected_most_bps`` the most. ``ratio`` is observed ÷ the nearest number that is expected: 1
    between the least and the most.
    """

    model_config = _DOCUMENT

    expected_bps: int | None
    expected_most_bps: int | None = None
    observed_bps: int
    ratio: Quantity
    mean_ms: float | None
    max_ms: float | None
    bound_ms: float | None


class Account(BaseModel):
    """A class on one path of a scenario, before and after; ``offered_bps`` is None where it sends all it can.

    ``evidence`` is what its packets rest on, where a side has paths of different evidence.
    """

    model_config = _DOCUMENT

    scenario: str
    title: str
    path: str
    evidence: Evidence | None = None
    traffic_class: str | None
    offered_bps: int | None
    before: AccountSide | None
    after: AccountSide | None

    @property
    def offered_text(self) -> str:
        """The offered load in kb/s for people."""
        return format_quantity(Quantity.of(None if self.offered_bps is None else self.offered_bps / 1e3), 1)


class TradeOffEntry(BaseModel):
    """What changed for one class, and which part that is of all that was gained or lost.

    Of throughput the part is of the bits per second, of delay that of the milliseconds times the throughput that
    has them: delays that a work-conserving scheduler takes off one class it puts on others so that throughput ×
    delay stays what it was (Kleinrock's conservation law).
    """

    model_config = _DOCUMENT

    traffic_class: str | None
    before: float
    after: float
    change: float
    part: float


class TradeOff(BaseModel):
    """Which classes gained and which lost in a scenario, the largest part first.

    ``throughput`` is in bits per second, ``delay`` the mean of the packets delivered in milliseconds: more of the
    one and less of the other is a gain. The two sides of a balance need not be equal: losses, framing and idle
    capacity are in neither. Where a side has paths of different ``evidence``, each evidence has its own: packets
    that were measured are not pooled with those that were simulated.
    """

    model_config = _DOCUMENT

    scenario: str
    title: str
    what: Literal["throughput", "delay"]
    evidence: Evidence | None = None
    gained: tuple[TradeOffEntry, ...]
    lost: tuple[TradeOffEntry, ...]


def accounts(before: Measurement | None, after: Measurement | None, *, by_path: bool = True) -> tuple[Account, ...]:
    """Expected and observed per scenario, path and class; without ``by_path`` all paths of a scenario together.

    Paths of different evidence are never together.
    """
    parts = by_evidence(before, after).items()
    return tuple(found for evidence, sides in parts for found in _accounts(*sides, evidence, by_path))


def trade_offs(before: Measurement | None, after: Measurement | None) -> tuple[TradeOff, ...]:
    """What some classes gained at the cost of others, per scenario; nothing where one side was not measured.

    Changes of less than `LEAST_CHANGE` of the class's own figure or `LEAST_PART` of the largest are left out.
    """
    parts = by_evidence(before, after).items()
    return tuple(found for evidence, sides in parts for found in _trade_offs(*sides, evidence))


def by_evidence(
    before: Measurement | None, after: Measurement | None
) -> dict[Evidence | None, tuple[Measurement | None, Measurement | None]]:
    """Both sides, by what their paths rest on; by ``None`` where each side rests on one thing."""
    kinds = [dict.fromkeys(map(side.evidence_of, side.scenarios)) for side in (before, after) if side]
    if all(len(found) < 2 for found in kinds):
        return {None: (before, after)}
    return {
        kind: (before.part(kind) if before else None, after.part(kind) if after else None)
        for kind in dict.fromkeys(kind for found in kinds for kind in found)
    }


def _accounts(
    before: Measurement | None, after: Measurement | None, evidence: Evidence | None, by_path: bool
) -> Iterator[Account]:
    for scenario, title in _scenarios(before, after):
        keys = dict.fromkeys(
            (flow.path if by_path else "", flow.traffic_class)
            for measurement in (before, after)
            for flow in _flows(measurement, scenario)
        )
        for path, name in keys:
            earlier, later = (_summary(m, scenario, name, path) for m in (before, after))
            known = later or earlier
            yield Account(
                scenario=scenario,
                title=title,
                path=path,
                evidence=evidence,
                traffic_class=name,
                offered_bps=known.offered_bps if known else None,
                before=_side(earlier),
                after=_side(later),
            )


def _trade_offs(
    before: Measurement | None, after: Measurement | None, evidence: Evidence | None
) -> Iterator[TradeOff]:
    for scenario, title in _scenarios(before, after):
        if not _flows(before, scenario) or not _flows(after, scenario):
            continue
        names = dict.fromkeys(f.traffic_class for m in (before, after) for f in _flows(m, scenario))
        sides = [
            (name, _summary(before, scenario, name, ""), _summary(after, scenario, name, "")) for name in names
        ]
        for what in ("throughput", "delay"):
            gained, lost = _split_changes(
                [_change(what, *side) for side in sides], better=1 if what == "throughput" else -1
            )
            if gained or lost:
                yield TradeOff(
                    scenario=scenario, title=title, what=what, evidence=evidence, gained=gained, lost=lost
                )


SIDE_HEADINGS = ("expected kb/s", "observed kb/s", "ratio", "max delay ms", "bound ms")
"""What `side_texts` gives; of an expectation from least to most, both."""


def side_texts(side: AccountSide | None) -> tuple[str, ...]:
    """A side's figures for people: "–" for what there is none of."""
    if side is None:
        return ("–",) * len(SIDE_HEADINGS)
    return (
        _expected_text(side),
        format_quantity(Quantity.of(side.observed_bps / 1e3), 1),
        format_quantity(side.ratio, 2),
        format_quantity(Quantity.of(side.max_ms), 1),
        format_quantity(Quantity.of(side.bound_ms), 1),
    )


def _expected_text(side: AccountSide) -> str:
    """What was expected in kb/s; "20.0–70.0" where only its limits are known."""
    ends = [side.expected_bps] if side.expected_most_bps is None else [side.expected_bps, side.expected_most_bps]
    return "–".join(format_quantity(Quantity.of(None if end is None else end / 1e3), 1) for end in ends)


def trade_off_text(balance: TradeOff) -> str:
    """A balance as a sentence."""
    scale, unit = (1e3, "kb/s") if balance.what == "throughput" else (1.0, "ms")
    gained = ", ".join(f"{_name(e)} {e.change / scale:+,.1f} {unit}" for e in balance.gained)
    lost = ", ".join(f"{_name(e)} {e.change / scale:+,.1f} {unit} ({e.part:.0%})" for e in balance.lost)
    what = f"{balance.what}, {balance.evidence}" if balance.evidence else balance.what
    if not lost:
        return f"{what}: {gained}, at nobody's cost"
    return f"{what}: {gained}; at the cost of {lost}" if gained else f"{what}: {lost}, and nobody gained"


def _name(entry: TradeOffEntry) -> str:
    return entry.traffic_class or "background"


@dataclass(frozen=True, slots=True)
class _Change:
    """A figure of a class on both sides, and the weight that a unit of it has among the classes."""

    traffic_class: str | None
    before: float
    after: float
    weight: float


def _change(what: str, name: str | None, before: ClassSummary | None, after: ClassSummary | None) -> _Change | None:
    """What became of a class; None where it has no such figure on one side."""
    rates = [side.throughput_bps if side else 0 for side in (before, after)]
    if what == "throughput":
        return _Change(name, rates[0], rates[1], 1.0)
    delays = [side.mean_delay_ms if side else None for side in (before, after)]
    if delays[0] is None or delays[1] is None:
        return None
    return _Change(name, delays[0], delays[1], sum(rates) / 2)


def _split_changes(
    changes: Sequence[_Change | None], better: int
) -> tuple[tuple[TradeOffEntry, ...], tuple[TradeOffEntry, ...]]:
    """The changes that are no chance, those for the better first."""
    known = [change for change in changes if change is not None]
    most = max((max(c.before, c.after) for c in known), default=0.0)
    sides: tuple[list[_Change], list[_Change]] = ([], [])
    for c in known:
        grown = c.after - c.before
        if abs(grown) > max(LEAST_CHANGE * max(c.before, c.after), LEAST_PART * most):
            sides[0 if grown * better > 0 else 1].append(c)
    return _entries(sides[0]), _entries(sides[1])


def _entries(changes: Sequence[_Change]) -> tuple[TradeOffEntry, ...]:
    amounts = [abs(c.after - c.before) * c.weight for c in changes]
    total = math.fsum(amounts)
    ordered = sorted(zip(changes, amounts, strict=True), key=lambda pair: -pair[1])
    return tuple(
        TradeOffEntry(
            traffic_class=c.traffic_class,
            before=c.before,
            after=c.after,
            change=c.after - c.before,
            part=amount / total if total else 1 / len(changes),
        )
        for c, amount in ordered
    )


def _side(summary: ClassSummary | None) -> AccountSide | None:
    if summary is None:
        return None
    return AccountSide(
        expected_bps=summary.expected_bps,
        expected_most_bps=summary.expected_most_bps,
        observed_bps=summary.throughput_bps,
        ratio=_ratio(summary),
        mean_ms=summary.mean_delay_ms,
        max_ms=to_ms(summary.max_delay_ps),
        bound_ms=to_ms(summary.delay_bound_ps),
    )


def _ratio(summary: ClassSummary) -> Quantity:
    observed, expected = summary.throughput_bps, summary.expected_bps
    if expected is not None and summary.expected_most_bps is not None:
        expected = min(max(observed, expected), summary.expected_most_bps)
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
