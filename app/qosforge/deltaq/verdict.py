"""Judging: from an objective and a sample to a verdict at a stated confidence.

A bound is ``met`` when the sample rules out, at that confidence, that too many packets exceed it; ``broken``
when it rules out that few enough do; ``inconclusive`` otherwise. An objective is met only when all its
bounds are, so each of those may be tested at the full confidence (intersection-union test, Berger,
Technometrics 24(4), 1982). It is broken when any one is, so for that the error is shared out among all bounds that
are judged together (Holm, :mod:`qosforge.deltaq.error_spending`). Either way the verdict as a whole is wrong with a
probability of at most one minus the confidence, as far as the sample shows how its packets depend on each other.

**What was seldom seen.** Where no packet lay beyond a bound, or few episodes of them, the sample cannot show
whether they come one by one or many in one go; n packets then tell no more than n/e of episodes of e packets
(:mod:`qosforge.deltaq.episodes`). What e was taken is part of the verdict, and so is the largest with which the
bound would be shown to be kept.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from qosforge.deltaq.dependence import effective_size, effective_size_at_quantile, ratio_size
from qosforge.deltaq.episodes import LEAST_EPISODES, assumed_episode, stretches_with
from qosforge.deltaq.error_spending import confidence_at, reject_hypotheses
from qosforge.deltaq.intervals import (
    MOST_PACKETS,
    chance_of_as_many,
    packets_to_decide,
    quantile_interval,
    ratio_lower,
    ratio_upper,
    size_to_show,
)
from qosforge.deltaq.mean import MeanInterval, mean_interval
from qosforge.deltaq.objective import (
    DEFAULT_CONFIDENCE,
    LEAST_FOR_MEAN,
    BoundVerdict,
    Evidence,
    Kind,
    Objective,
    ObjectiveVerdict,
    Quantity,
    combine,
    quantile_of,
)
from qosforge.deltaq.sample import Sample

PS_PER_SECOND = 1e12
"""Picoseconds in a second."""


@dataclass(frozen=True, slots=True)
class _Threshold:
    """One bound as a threshold: no more than ``beyond`` of all packets may exceed ``threshold_ps``.

    ``requested`` is in the unit of the objective; ``offset_ps`` is what a delay stands above zero there.
    """

    kind: Kind
    label: str
    quantile: float | None
    requested: float
    threshold_ps: float
    beyond: float
    offset_ps: float = 0.0


@dataclass(frozen=True, slots=True)
class _JudgedSample:
    """A sample with the objective it is judged against, the confidence of each limit, and what the tester knows of
    episodes."""

    objective: Objective
    sample: Sample
    confidence: float
    episode: float | None


@dataclass(frozen=True, slots=True)
class _Size:
    """Effective numbers of packets: for what was ``seen``, and to ``show`` that a bound is kept, which is less
    where an ``episode`` was assumed."""

    seen: float
    show: float
    episode: float | None = None


def judge(
    objective: Objective,
    sample: Sample | Sequence[tuple[int, int]],
    *,
    confidence: float = DEFAULT_CONFIDENCE,
    evidence: Evidence,
    look: int = 1,
    looks: int = 1,
    clock_error_ps: float = 0.0,
    episode: float | None = None,
) -> ObjectiveVerdict:
    """Judge a sample, or ``(sent_ps, delay_ps or -1 when lost)`` of every packet, against ``objective``.

    Lost packets exceed every delay bound. Delay variation is a high quantile of delay (99.9 % unless the objective
    says otherwise) minus the smallest delay in the sample, as ITU-T Y.1541 takes it per evaluation interval; that
    quantile is never lowered to suit a small sample, which is inconclusive instead. Loss is that of all packets,
    also of those that were not looked at. ``look`` of ``looks`` is how often the growing sample was judged.

    ``clock_error_ps`` is how far the clocks of sender and receiver may lie apart: all delays may be that much
    longer, or shorter, than they say. A bound on delay or its mean is decided only where it is either way
    (RFC 7679, section 3.7.1), and the limits are that much wider; a constant error does not change delay variation.

    ``episode`` is what the tester knows of how many packets are late or lost in one go where delay does not show
    it, as :func:`~qosforge.deltaq.episodes.assumed_episode` says; ``None`` where it knows nothing.

    Raises:
        ValueError: ``confidence`` does not lie between 0.5 and 1, the sample is none (:class:`Stream`), a clock
            error is no number from 0 on, ``episode`` none from 1 on, ``evidence`` has no such word, or there is no
            such look.
    """
    if not 0.5 < confidence < 1:
        raise ValueError(f"a confidence lies between 0.5 and 1, not {confidence}")
    if isinstance(clock_error_ps, bool) or not 0 <= clock_error_ps < math.inf:
        raise ValueError(f"a clock error is a number of picoseconds from 0 on, not {clock_error_ps}")
    if episode is not None and not 1 <= episode < math.inf:
        raise ValueError(f"an episode has one packet or more, not {episode}")
    if evidence not in get_args(Evidence):
        raise ValueError(f"evidence is one of {', '.join(get_args(Evidence))}, not {evidence!r}")
    seen = sample if isinstance(sample, Sample) else Sample.single(sample)
    at = confidence_at(confidence, look, looks)
    shortest = float(seen.delays_ps.min()) if seen.size else 0.0
    judged = _JudgedSample(objective, seen, at, episode)
    bounds = tuple(_within_error(bound, judged, clock_error_ps) for bound in _bounds(objective, shortest))
    verdict = ObjectiveVerdict(
        outcome=combine([bound.outcome for bound in bounds]),
        confidence=confidence,
        evidence=evidence,
        bounds=bounds,
        look=look,
        looks=looks,
    )
    return judge_together([verdict])[0]


def judge_together(verdicts: Sequence[ObjectiveVerdict]) -> tuple[ObjectiveVerdict, ...]:
    """The same verdicts where they are one family: which bounds are broken, over all of them (Holm).

    The error is the least of theirs, of which each spends what its look may; undecided verdicts break nothing.
    """
    able = [(verdict, bound) for verdict in verdicts if not verdict.undecided for bound in verdict.bounds]
    if not able:
        return tuple(verdicts)
    confidence = max(verdict.confidence for verdict in verdicts)
    chances = [bound.chance / (1 - confidence_at(confidence, v.look, v.looks)) for v, bound in able]
    broken = iter(reject_hypotheses(chances, 1.0))
    found = []
    for verdict in verdicts:
        bounds = verdict.bounds
        if not verdict.undecided:
            bounds = tuple(_decide(bound, broken=next(broken)) for bound in bounds)
        outcome = combine([bound.outcome for bound in bounds])
        found.append(verdict.model_copy(update={"bounds": bounds, "outcome": outcome}))
    return tuple(found)


def make_inconclusive(verdict: ObjectiveVerdict, why: str) -> ObjectiveVerdict:
    """The verdict on a sample that does not stand for what was asked: no bound of it is decided."""
    bounds = tuple(bound.model_copy(update={"outcome": "inconclusive"}) for bound in verdict.bounds)
    return verdict.model_copy(update={"bounds": bounds, "outcome": "inconclusive", "undecided": why})


def _decide(bound: BoundVerdict, *, broken: bool) -> BoundVerdict:
    if bound.outcome == "met":
        return bound
    if broken:
        return bound.model_copy(update={"outcome": "broken", "more_packets": None})
    return bound.model_copy(update={"outcome": "inconclusive"})


def _bounds(objective: Objective, shortest_ps: float) -> list[_Threshold]:
    """Turn an objective into thresholds; variation counts from the smallest delay seen."""
    bounds = []
    for label, requested in objective.delay.items():
        quantile = quantile_of(label)
        threshold = round(requested * PS_PER_SECOND)
        bounds.append(_Threshold("delay", f"delay {label}", quantile, requested, threshold, 1 - quantile))
    if objective.mean is not None:
        threshold = round(objective.mean * PS_PER_SECOND)
        bounds.append(_Threshold("mean", "mean delay", None, objective.mean, threshold, math.nan))
    if objective.variation is not None:
        quantile = objective.variation_quantile
        label = f"variation p{quantile * 100:g} − min"
        # Of a sample in which nothing arrived, no delay is the smallest: every packet exceeds any threshold.
        offset = shortest_ps if math.isfinite(shortest_ps) else 0.0
        threshold = round(objective.variation * PS_PER_SECOND + offset)
        bounds.append(
            _Threshold("variation", label, quantile, objective.variation, threshold, 1 - quantile, offset)
        )
    if objective.loss is not None:
        bounds.append(_Threshold("loss", "loss", None, objective.loss, math.inf, objective.loss))
    return bounds


def _within_error(bound: _Threshold, judged: _JudgedSample, error_ps: float) -> BoundVerdict:
    """Judge one bound where delays may be off by as much, all alike."""
    found = _judge_bound(bound, judged)
    if not error_ps or bound.kind not in ("delay", "mean"):
        return found
    longer, shorter = (
        _judge_bound(replace(bound, threshold_ps=bound.threshold_ps + shift), judged)
        for shift in (-error_ps, error_ps)
    )
    error = error_ps / PS_PER_SECOND
    low, high = found.low.number(), found.high.number()
    return found.model_copy(
        update={
            "outcome": longer.outcome,
            "more_packets": longer.more_packets,
            "chance": shorter.chance,
            "low": Quantity.of(None if low is None else max(0.0, low - error)),
            "high": Quantity.of(None if high is None else high + error),
            "clock_error": error,
        }
    )


def _judge_bound(bound: _Threshold, judged: _JudgedSample) -> BoundVerdict:
    """Judge one bound; ``broken`` is left to those that judge it together with others."""
    sample, confidence = judged.sample, judged.confidence
    if bound.kind == "mean":
        return _judge_mean(bound, sample, confidence)
    beyond = np.isinf(sample.delays_ps) if bound.kind == "loss" else sample.delays_ps > bound.threshold_ps
    part = sample.loss() if bound.kind == "loss" else sample.part(beyond)
    size = _size(bound, judged, beyond)
    met = size.show > 0 and ratio_upper(part * size.show, size.show, confidence) <= bound.beyond
    n, each = (int(sample.sent.sum()), 1.0) if bound.kind == "loss" else (sample.size, _sent_of_each(sample))
    needed = None
    if not met:
        needed = packets_to_decide(part, n, size.show, beyond=bound.beyond, confidence=confidence)
    observed, low, high = _estimate(bound, sample, part, size, confidence)
    return BoundVerdict(
        kind=bound.kind,
        quantile=bound.quantile,
        label=bound.label,
        requested=bound.requested,
        observed=observed,
        low=low,
        high=high,
        outcome="met" if met else "inconclusive",
        n=n,
        n_effective=size.show if bound.kind == "loss" else size.seen,
        exceedances=int(sample.lost.sum()) if bound.kind == "loss" else int(beyond.sum()),
        more_packets=None if needed is None else max(1, math.ceil((needed - n) * each)),
        replications=int(sample.sent.size) if sample.independent else 1,
        episode=size.episode,
        longest_episode=None if size.episode is None else _longest(bound, sample, part, confidence),
        chance=chance_of_as_many(part, size.seen, bound.beyond),
    )


def _longest(bound: _Threshold, sample: Sample, part: float, confidence: float) -> float:
    """The longest episode, in packets, with which a bound would be shown to be kept."""
    return _informative_packets(bound, sample) / size_to_show(part, bound.beyond, confidence)


def _informative_packets(bound: _Threshold, sample: Sample) -> float:
    """Packets that tell of a bound if all are independent: of loss also those that were not looked at."""
    return float(sample.sent.sum()) / sample.copies if bound.kind == "loss" else sample.worth


def _sent_of_each(sample: Sample) -> float:
    """Packets sent for each that was looked at."""
    return float(sample.weights.mean()) if sample.size else 1.0


def _size(bound: _Threshold, judged: _JudgedSample, beyond: NDArray[np.bool_]) -> _Size:
    """Effective numbers of packets for a bound.

    A sample seldom shows dependence at a bound that it keeps well, so a quantile is also asked at its
    observed value, where the indicator varies, and the smaller number counts.
    """
    sample, confidence = judged.sample, judged.confidence
    told = _informative_packets(bound, sample)
    if not sample.size:
        return _Size(0.0, 0.0)
    if bound.kind == "loss" and sample.has_replications:
        size = ratio_size(sample.lost, sample.sent, told * sample.copies, confidence) / sample.copies
    else:
        size = effective_size(beyond, confidence, sample)
    if bound.quantile is not None:
        size = min(size, effective_size_at_quantile(bound.quantile, confidence, sample))
    episode = assumed_episode(sample, confidence, stated=judged.objective.episode_packets, known=judged.episode)
    unseen = bound.kind == "loss" and sample.unseen_losses
    if not unseen and stretches_with(beyond, sample, episode / _sent_of_each(sample)) >= LEAST_EPISODES:
        return _Size(size, size)
    if unseen or (bound.kind == "loss" and not sample.has_replications and not beyond.any()):
        size = told
    show = min(size, told / episode)
    return _Size(size, show, None if beyond.any() and show == size else episode)


def _judge_mean(bound: _Threshold, sample: Sample, confidence: float) -> BoundVerdict:
    """Judge a bound on the mean of what arrives; of nothing there is no mean to judge."""
    arrived = sample.without_losses()
    seen = mean_interval(arrived, confidence, bound.threshold_ps) if arrived.size else None
    met = seen is not None and seen.high <= bound.threshold_ps
    figures = (seen.observed, seen.low, seen.high) if seen else (None, None, None)
    observed, low, high = (Quantity.of(None if each is None else each / PS_PER_SECOND) for each in figures)
    return BoundVerdict(
        kind=bound.kind,
        quantile=None,
        label=bound.label,
        requested=bound.requested,
        observed=observed,
        low=low,
        high=high,
        outcome="met" if met else "inconclusive",
        n=sample.size,
        n_effective=seen.size if seen else 0.0,
        exceedances=int((arrived.delays_ps > bound.threshold_ps).sum()),
        more_packets=None if met else _more_for_mean(bound, arrived, seen),
        replications=int(sample.sent.size) if sample.independent else 1,
        chance=seen.chance if seen else 1.0,
        heavy_tail=seen is not None and seen.heavy,
    )


def _more_for_mean(bound: _Threshold, arrived: Sample, seen: MeanInterval | None) -> int | None:
    """Estimate how many further packets would decide a bound on the mean; ``None`` where no number would."""
    if seen is not None and seen.heavy:
        return None
    if arrived.size < LEAST_FOR_MEAN or seen is None:
        return LEAST_FOR_MEAN - arrived.size
    away = bound.threshold_ps - seen.observed
    half = (seen.high if away > 0 else seen.low) - seen.observed
    # The width of the interval falls with the root of the number of packets.
    needed = arrived.size * (half / away) ** 2 if away and math.isfinite(half) else math.inf
    return None if needed > MOST_PACKETS else max(1, math.ceil((needed - arrived.size) * _sent_of_each(arrived)))


def _estimate(
    bound: _Threshold, sample: Sample, part: float, size: _Size, confidence: float
) -> tuple[Quantity, Quantity, Quantity]:
    """Estimate, lower and upper limit in the unit of the objective; unknown for an empty sample."""
    if not sample.size:
        return Quantity(), Quantity(), Quantity()
    if bound.quantile is None:
        low = ratio_lower(part * size.seen, size.seen, confidence)
        high = ratio_upper(part * size.show, size.show, confidence)
        return Quantity.of(part), Quantity.of(low), Quantity.of(high)
    seen = quantile_interval(sample, bound.quantile, size.seen, confidence)

    def in_seconds(delay_ps: float) -> Quantity:
        return Quantity.of(max(0.0, delay_ps - bound.offset_ps) / PS_PER_SECOND)

    return in_seconds(seen.observed), in_seconds(seen.low), in_seconds(seen.high)
