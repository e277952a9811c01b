"""Reading an operand of a claim: its value, its interval over trials, and its values at each load."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from scipy import special

from qosforge.experiments.metrics import METRICS, LoadAggregate, Metric, NotMeasured
from qosforge.experiments.model import Claim, Operand
from qosforge.experiments.rows import ResultRow
from qosforge.experiments.running import ExperimentSession, LoadPoint

CONFIDENCE = 0.95
"""Of the intervals that must not overlap in an order, two-sided."""


@dataclass(frozen=True)
class MetricValue:
    """A metric of one subject: its value, the limits of its mean over trials, and its value at each load."""

    value: float
    low: float
    high: float
    each: tuple[float, ...]


@dataclass(frozen=True)
class MetricQuery:
    """An operand in full: nothing left to the claim."""

    experiment: str
    subject: str
    scenario: str
    metric: str
    against: MetricQuery | None = None


def metric_query(claim: Claim, experiment: str, subject: str, operand: Operand | None = None) -> MetricQuery:
    """``operand`` of a claim about ``subject`` with what it leaves out taken from the claim."""
    operand = operand or Operand()
    counted_from = operand.against or claim.against
    whole = MetricQuery(
        experiment=operand.experiment or experiment,
        subject=_subject(operand.subject, subject),
        scenario=operand.scenario or claim.scenario,
        metric=operand.metric or claim.metric,
    )
    if counted_from is None:
        return whole
    base = METRICS[whole.metric].base if whole.metric in METRICS else None
    other = MetricQuery(
        experiment=counted_from.experiment or whole.experiment,
        subject=_subject(counted_from.subject, whole.subject),
        scenario=counted_from.scenario or whole.scenario,
        metric=counted_from.metric or base or whole.metric,
    )
    return MetricQuery(whole.experiment, whole.subject, whole.scenario, whole.metric, other)


def _subject(named: str | None, own: str) -> str:
    """What begins with a dot belongs to the device of the claim's own subject."""
    if named is not None and named.startswith("."):
        return own.partition(".")[0] + named
    return named or own


def evaluate(session: ExperimentSession, what: MetricQuery) -> MetricValue:
    """Read one operand.

    Raises:
        NotMeasured: nothing in the runs has it.
    """
    known = METRICS.get(what.metric)
    if known is not None and known.of_change is not None:
        return _change(session, known, what)
    points = session.outcome(what.experiment).at(what.scenario, what.subject)
    if not points:
        raise NotMeasured(f"{what.subject} was not run in {what.experiment}, {what.scenario}")
    if known is not None and known.of_sweep is not None:
        return _sweep(known, what, points)
    if known is not None and known.of_trials is not None:
        return _trials(known, what, points)
    if known is not None and known.of_row_above is not None:
        return _above(session, known, what, points)
    each = [_at(known, what, point) for point in points]
    trials = [
        [_of_row(known, what, trial) for trial in point.trials] if point.trials else [value]
        for point, value in zip(points, each, strict=True)
    ]
    aggregate = known.over if known is not None else LoadAggregate.MEAN
    return _interval(_aggregate(aggregate, each), _by_trial(aggregate, trials), tuple(each))


def evaluate_at(point: LoadPoint, what: MetricQuery) -> float | None:
    """A metric of a row at one load, None where the row does not have it."""
    try:
        return _at(METRICS.get(what.metric), what, point)
    except NotMeasured:
        return None


def _at(known: Metric | None, what: MetricQuery, point: LoadPoint) -> float:
    if known is not None and known.by_trial and point.trials:
        return fmean(_of_row(known, what, trial) for trial in point.trials)
    return _of_row(known, what, point.pooled)


def aggregate(metric: str, values: Sequence[float]) -> float:
    """What a metric is over several loads, from its value at each."""
    known = METRICS.get(metric)
    return _aggregate(known.over if known is not None else LoadAggregate.MEAN, values)


def _of_row(known: Metric | None, what: MetricQuery, rows: Mapping[str, ResultRow]) -> float:
    row = rows[what.subject]
    if what.metric in row.values:
        return row.values[what.metric]
    if known is None and what.metric in row.selection.facts:
        return row.selection.facts[what.metric]
    if known is None or known.of_row is None:
        raise NotMeasured(f"{what.subject} has no {what.metric}")
    return known.of_row(row, rows)


def _aggregate(aggregate: LoadAggregate, values: Sequence[float]) -> float:
    return max(values) if aggregate is LoadAggregate.LARGEST else fmean(values)


def _by_trial(aggregate: LoadAggregate, trials: Sequence[Sequence[float]]) -> list[float]:
    """The metric over all loads, trial by trial; loads with fewer trials repeat their last."""
    most = max(len(values) for values in trials)
    return [_aggregate(aggregate, [values[min(n, len(values) - 1)] for values in trials]) for n in range(most)]


def _interval(value: float, trials: Sequence[float], each: tuple[float, ...]) -> MetricValue:
    """Student's interval of the mean over trials; of a single trial the value itself."""
    if len(trials) < 2:
        return MetricValue(value, value, value, each)
    half = float(special.stdtrit(len(trials) - 1, (1 + CONFIDENCE) / 2)) * stdev(trials) / math.sqrt(len(trials))
    centre = fmean(trials)
    return MetricValue(value, min(centre - half, value), max(centre + half, value), each)


def _sweep(known: Metric, what: MetricQuery, points: Sequence[LoadPoint]) -> MetricValue:
    assert known.of_sweep is not None
    value = known.of_sweep([point.pooled[what.subject] for point in points])
    count = min(len(point.trials) for point in points)
    trials = [known.of_sweep([point.trials[n][what.subject] for point in points]) for n in range(count)]
    return _interval(value, trials, (value,))


def _trials(known: Metric, what: MetricQuery, points: Sequence[LoadPoint]) -> MetricValue:
    assert known.of_trials is not None
    each = tuple(known.of_trials([trial[what.subject] for trial in point.trials]) for point in points)
    return MetricValue(max(each), max(each), max(each), each)


def _change(session: ExperimentSession, known: Metric, what: MetricQuery) -> MetricValue:
    assert known.of_change is not None
    if what.against is None:
        raise NotMeasured(f"{what.metric} needs what it is counted from")
    base = known.base or what.against.metric
    own = evaluate(session, MetricQuery(what.experiment, what.subject, what.scenario, base))
    other = evaluate(
        session, MetricQuery(what.against.experiment, what.against.subject, what.against.scenario, base)
    )
    corners = [known.of_change(a, b) for a in (own.low, own.high) for b in (other.low, other.high)]
    value = known.of_change(own.value, other.value)
    if len(own.each) == len(other.each):
        each = tuple(known.of_change(a, b) for a, b in zip(own.each, other.each, strict=True))
    else:
        each = (value,)
    return MetricValue(value, min(corners), max(corners), each)


def _above(
    session: ExperimentSession, known: Metric, what: MetricQuery, points: Sequence[LoadPoint]
) -> MetricValue:
    assert known.of_row_above is not None
    if what.against is None or known.base is None:
        raise NotMeasured(f"{what.metric} needs what it is counted from")
    other = what.against
    limit = evaluate(session, MetricQuery(other.experiment, other.subject, other.scenario, known.base)).value
    each = [known.of_row_above(point.pooled[what.subject], limit) for point in points]
    trials = [
        [known.of_row_above(trial[what.subject], limit) for trial in point.trials] or [value]
        for point, value in zip(points, each, strict=True)
    ]
    return _interval(fmean(each), _by_trial(LoadAggregate.MEAN, trials), tuple(each))
