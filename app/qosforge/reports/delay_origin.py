"""Delay by hop: what each hop of a path adds to a class, composed and compared with the measurement."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from qosforge.deltaq.objective import DEFAULT_CONFIDENCE, Quantity, quantile_of
from qosforge.reports.model import RunReport
from qosforge.reports.table import format_delay, format_quantity
from qosforge.tester.measurement.document import Measurement, When
from qosforge.tester.measurement.judging import ClassVerdict
from qosforge.tester.measurement.path_delay import HopDelay, PathDelay

USUAL = "p95"
"""The high quantile that is shown where the objective bounds none."""

AGREES = 0.05
"""Relative difference between composed and measured up to which hops are called independent."""

QUANTILES = ("p50", "p95", "p99")
"""The quantiles that are compared."""

_PS_PER_MS = 1e9


@dataclass(frozen=True, slots=True)
class HopLine:
    """One hop for people, in milliseconds: ``fixed`` G, ``serialisation`` S, ``waiting`` V by mean and quantile."""

    place: str
    fixed: str
    serialisation: str
    waiting: str
    high: str
    loss: str

    @property
    def cells(self) -> tuple[str, ...]:
        """The figures in the order of the table."""
        return (self.fixed, self.serialisation, self.waiting, self.high, self.loss)


@dataclass(frozen=True, slots=True)
class CheckLine:
    """Quantiles and loss of the whole path, for people: composed of the hops, or measured."""

    name: str
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DelayOrigin:
    """Where the delay of one class on one path arises on one side of a push.

    ``summary`` is one line, ``quantile`` the label of the high quantile, ``hops`` end with the whole path.
    ``agreement`` says what composed and measured have in common, ``ends`` what the ends alone see of G and S.
    """

    scenario: str
    title: str
    traffic_class: str
    path: str
    when: When
    quantile: str
    summary: str
    hops: tuple[HopLine, ...]
    checks: tuple[CheckLine, ...]
    agreement: str
    ends: str

    @property
    def heading(self) -> str:
        """Of what it is."""
        return f"{self.traffic_class}, {self.path}, {self.when}"


def run_origins(report: RunReport) -> tuple[DelayOrigin, ...]:
    """Those of a run, class by class and path by path: before, predicted, after."""
    measurements = [each for each in (report.before, report.predicted, report.after) if each]
    return delay_origins(
        measurements, (*report.verdicts_after, *report.verdicts_predicted, *report.verdicts_before)
    )


def delay_origins(measurements: Sequence[Measurement], verdicts: Iterable[ClassVerdict]) -> tuple[DelayOrigin, ...]:
    """Those of measurements of the same scenarios that recorded it; ``verdicts`` tell which quantile counts."""
    judged = tuple(verdicts)
    found = [
        _origin(scenario.name, scenario.title, measurement.when, one, judged)
        for measurement in measurements
        for scenario in measurement.scenarios
        for one in scenario.path_delays or ()
        if one.sent
    ]
    order = {key: n for n, key in enumerate(dict.fromkeys((e.scenario, e.traffic_class, e.path) for e in found))}
    return tuple(sorted(found, key=lambda e: order[e.scenario, e.traffic_class, e.path]))


def not_recorded(measurements: Iterable[Measurement | None]) -> tuple[When, ...]:
    """The sides whose measurement says nowhere where the delay arises."""
    return tuple(
        each.when
        for each in measurements
        if each is not None and each.scenarios and all(s.path_delays is None for s in each.scenarios)
    )


def _origin(scenario: str, title: str, when: When, one: PathDelay, verdicts: Sequence[ClassVerdict]) -> DelayOrigin:
    label = _quantile(verdicts, scenario, one)
    return DelayOrigin(
        scenario=scenario,
        title=title,
        traffic_class=one.traffic_class,
        path=one.path,
        when=when,
        quantile=label,
        summary=_summary(one),
        hops=_lines(one, label),
        checks=_checks(one),
        agreement=_agreement(one, label),
        ends=_ends(one),
    )


def _quantile(verdicts: Sequence[ClassVerdict], scenario: str, one: PathDelay) -> str:
    """The highest quantile that the objective of the class bounds."""
    for each in verdicts:
        if (each.scenario, each.traffic_class) == (scenario, one.traffic_class) and each.path in (None, one.path):
            return max(each.objective.delay, key=quantile_of, default=USUAL)
    return USUAL


def _place(hop: HopDelay) -> str:
    return f"{hop.node} {hop.port} → {hop.to}"


def _lines(one: PathDelay, label: str) -> tuple[HopLine, ...]:
    lines = []
    for hop, waiting, loss in zip(one.hops, one.waiting(), one.loss_at(), strict=True):
        # Of the packets that pass the hop: its loss stands beside.
        high = waiting.given_delivery().quantile_ps(quantile_of(label)) if hop.waiting else None
        lines.append(
            HopLine(
                _place(hop),
                _ms(hop.fixed_ps),
                _ms(hop.serialisation_ps),
                _ms(hop.waiting_ps),
                _ms(high),
                _percent(loss),
            )
        )
    whole = HopLine(
        "whole path",
        _ms(_total(hop.fixed_ps for hop in one.hops)),
        _ms(_total(hop.serialisation_ps for hop in one.hops)),
        _ms(_total(hop.waiting_ps for hop in one.hops)),
        "–",
        _percent(1 - one.delivered / one.sent),
    )
    return (*lines, whole)


def _total(values: Iterable[int | None]) -> int | None:
    known = list(values)
    return None if None in known else sum(value or 0 for value in known)


def _summary(one: PathDelay) -> str:
    """The hop that adds most, and of what."""
    means = [hop.mean_ps or 0 for hop in one.hops]
    total = sum(means)
    if not one.delivered or not total:
        worst = max(range(len(means)), key=lambda n: one.hops[n].lost + one.hops[n].lost_input)
        return f"nothing arrived; most was lost at {_place(one.hops[worst])}"
    at = max(range(len(means)), key=means.__getitem__)
    hop = one.hops[at]
    kinds = {
        "distance and devices": hop.fixed_ps,
        "sending the bits": hop.serialisation_ps,
        "waiting": hop.waiting_ps,
    }
    kind = max(kinds, key=lambda name: kinds[name] or 0)
    share = means[at] / total * 100
    mean = f"the mean delay of {format_delay(total / _PS_PER_MS)}"
    text = f"{share:.0f} % of {mean} arises at {_place(hop)}, most of that is {kind}"
    lost = [hop.lost + hop.lost_input for hop in one.hops]
    if not any(lost):
        return text
    place = max(range(len(lost)), key=lost.__getitem__)
    return f"{text}; {lost[place] / sum(lost) * 100:.0f} % of the loss at {_place(one.hops[place])}"


def _checks(one: PathDelay) -> tuple[CheckLine, ...]:
    composed_loss = 1 - math.prod(1 - (loss or 0.0) for loss in one.loss_at())
    rows = (
        ("composed of the hops", one.composed_ps, composed_loss),
        ("measured end to end", one.measured_ps, 1 - one.delivered / one.sent),
    )
    return tuple(
        CheckLine(name, (*(_quantile_text(known, label) for label in QUANTILES), _percent(loss)))
        for name, known, loss in rows
    )


def _quantile_text(known: dict[str, int | None], label: str) -> str:
    if label not in known:
        return "–"
    value = known[label]
    return _ms(math.inf if value is None else value)


def _agreement(one: PathDelay, label: str) -> str:
    """What a difference between composed and measured says of how the hops depend on each other."""
    known = [
        (each, composed, measured)
        for each in (label, *reversed(QUANTILES))
        if (composed := one.composed_ps.get(each)) and (measured := one.measured_ps.get(each))
    ]
    if not known:
        return "Composed and measured cannot be compared: too few packets arrived."
    shown, composed, measured = known[0]
    apart = (composed / measured - 1) * 100
    if abs(apart) <= AGREES * 100:
        return f"At {shown} composed and measured agree to {abs(apart):.1f} %: the hops act as if independent."
    if apart > 0:
        return (
            f"At {shown} the hops, taken as independent, would take {apart:.0f} % longer than measured: packets "
            "that waited long at one hop waited less at others."
        )
    return (
        f"At {shown} the hops, taken as independent, would take {-apart:.0f} % less than measured: packets that "
        "waited long at one hop did so at others too, as bursts do, or flows that are slower than the rest."
    )


def _ends(one: PathDelay) -> str:
    """What the ends alone see of distance and serialisation, beside what the model knows of them."""
    seen = one.end_to_end()
    if seen is None:
        size = f"all have {one.least_by_size[0][0]:,} bytes" if one.least_by_size else "none arrived"
        return (
            f"From the delays end to end alone the distance is unknown: it takes packets of two sizes, and {size}."
        )
    known = _total(hop.fixed_ps for hop in one.hops)
    least = min(delay for _, delay in one.least_by_size)
    limits = one.g_interval_ps()
    within = f" ({_ms(limits[0])} to {_ms(limits[1])} at {DEFAULT_CONFIDENCE:.0%})" if limits else ""
    return (
        "From the delays end to end alone, by size in IP bytes: "
        f"distance about {_ms(float(seen.g_ps))} ms{within}, "
        f"no more than {_ms(least)} ms, the least delay seen; "
        f"sending about {float(seen.s_ps_per_byte) / 1e6:,.3f} µs a byte. "
        f"The model has a distance of {_ms(known)} ms."
    )


def _ms(ps: float | None) -> str:
    return format_quantity(Quantity.of(None if ps is None else ps / _PS_PER_MS), 3)


def _percent(loss: float | None) -> str:
    return "–" if loss is None else f"{loss * 100:.3g} %"
