"""Judging: from an objective and a sample to a verdict at a stated confidence.

A bound is ``met`` when the sample rules out, at that confidence, that too many packets exceed it; ``broken``
when it rules out that few enough do; ``inconclusive`` otherwise. An objective is met only when all its
bounds are, so each of those may be tested at the full confidence (intersection-union test, Berger,
Technometrics 24(4), 1982). It is broken when any one is, so for that the error is shared out among them
(Bonferroni). Either way the verdict as a whole is wrong with a probability of at most one minus the
confidence.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.deltaq.dependence import effective_size, effective_size_at_quantile
from app.deltaq.distribution import LOST
from app.deltaq.intervals import (
    MOST_PACKETS,
    packets_to_decide,
    quantile_interval,
    ratio_interval,
    ratio_lower,
    ratio_upper,
)
from app.deltaq.mean import MeanInterval, mean_interval
from app.deltaq.objective import (
    DEFAULT_CONFIDENCE,
    LEAST_FOR_MEAN,
    BoundVerdict,
    Evidence,
    Kind,
    Objective,
    Outcome,
    Quantity,
    Verdict,
    combine,
    quantile_of,
)

PS_PER_SECOND = 1e12
"""Picoseconds in a second."""


@dataclass(frozen=True, slots=True)
class _Bound:
    """One bound as a threshold: no more than ``beyond`` of all packets may exceed ``threshold_ps``.

    ``asked`` is in the unit of the objective; ``offset_ps`` is what a delay stands above zero there.
    """

    kind: Kind
    label: str
    quantile: float | None
    asked: float
    threshold_ps: float
    beyond: float
    offset_ps: float = 0.0


@dataclass(frozen=True, slots=True)
class _Levels:
    """Confidence at which a bound may be called met, and at which it may be called broken."""

    met: float
    broken: float


def judge(
    objective: Objective,
    samples: Sequence[tuple[int, int]],
    *,
    confidence: float = DEFAULT_CONFIDENCE,
    evidence: Evidence,
    sampled: int = 1,
) -> Verdict:
    """Judge ``samples``, ``(sent_ps, delay_ps or -1 when lost)`` per packet, against ``objective``.

    The samples are put in the order of sending, which the correction for dependence needs. Lost packets
    exceed every delay bound. Delay variation is a high quantile of delay (99.9 % unless the objective says
    otherwise) minus the smallest delay in the sample, as ITU-T Y.1541 takes it per evaluation interval; that
    quantile is never lowered to suit a small sample, which is inconclusive instead. Where only one packet in
    ``sampled`` is in the samples, so many times as many must be sent for each that is missing.

    Raises ``ValueError`` unless ``confidence`` lies between 0.5 and 1 and ``sampled`` is at least 1.
    """
    if not 0.5 < confidence < 1:
        raise ValueError(f"a confidence lies between 0.5 and 1, not {confidence}")
    if sampled < 1:
        raise ValueError(f"samples are one packet in 1 or more, not in {sampled}")
    delays = np.array([delay for _, delay in sorted(samples)], dtype=np.float64)
    delays[delays == LOST] = math.inf
    bounds = _bounds(objective, float(delays.min()) if delays.size else 0.0)
    levels = _Levels(met=confidence, broken=1 - (1 - confidence) / len(bounds))
    verdicts = tuple(_sent(_judge_bound(bound, delays, levels), sampled) for bound in bounds)
    return Verdict(
        outcome=combine([verdict.outcome for verdict in verdicts]),
        confidence=confidence,
        evidence=evidence,
        bounds=verdicts,
    )


def _sent(verdict: BoundVerdict, sampled: int) -> BoundVerdict:
    """The same with its missing packets as those to be sent."""
    if verdict.more_packets is None or sampled == 1:
        return verdict
    return verdict.model_copy(update={"more_packets": verdict.more_packets * sampled})


def _bounds(objective: Objective, shortest_ps: float) -> list[_Bound]:
    """Turn an objective into thresholds; variation counts from the smallest delay seen."""
    bounds = []
    for label, asked in objective.delay.items():
        quantile = quantile_of(label)
        threshold = round(asked * PS_PER_SECOND)
        bounds.append(_Bound("delay", f"delay {label}", quantile, asked, threshold, 1 - quantile))
    if objective.mean is not None:
        threshold = round(objective.mean * PS_PER_SECOND)
        bounds.append(_Bound("mean", "mean delay", None, objective.mean, threshold, math.nan))
    if objective.variation is not None:
        quantile = objective.variation_quantile
        label = f"variation p{quantile * 100:g} − min"
        # Of a sample in which nothing arrived, no delay is the smallest: every packet exceeds any threshold.
        offset = shortest_ps if math.isfinite(shortest_ps) else 0.0
        threshold = round(objective.variation * PS_PER_SECOND + offset)
        bounds.append(_Bound("variation", label, quantile, objective.variation, threshold, 1 - quantile, offset))
    if objective.loss is not None:
        bounds.append(_Bound("loss", "loss", None, objective.loss, math.inf, objective.loss))
    return bounds


def _judge_bound(bound: _Bound, delays_ps: NDArray[np.float64], levels: _Levels) -> BoundVerdict:
    """Judge one bound on delays in the order of sending, lost packets as ``inf``."""
    if bound.kind == "mean":
        return _judge_mean(bound, delays_ps, levels)
    n = int(delays_ps.size)
    beyond = np.isinf(delays_ps) if bound.kind == "loss" else delays_ps > bound.threshold_ps
    exceedances = int(beyond.sum())
    size = _size(bound, delays_ps, beyond, levels)
    scaled = exceedances * size / n if n else 0.0
    outcome: Outcome = "inconclusive"
    needed = None
    if n and ratio_upper(scaled, size, levels.met) <= bound.beyond:
        outcome = "met"
    elif n and ratio_lower(scaled, size, levels.broken) > bound.beyond:
        outcome = "broken"
    else:
        needed = packets_to_decide(
            exceedances,
            n,
            size,
            beyond=bound.beyond,
            confidence=levels.met,
            low_confidence=levels.broken,
        )
    observed, low, high = _seen(bound, delays_ps, size, levels)
    return BoundVerdict(
        kind=bound.kind,
        quantile=bound.quantile,
        label=bound.label,
        asked=bound.asked,
        observed=observed,
        low=low,
        high=high,
        outcome=outcome,
        n=n,
        n_effective=size,
        exceedances=exceedances,
        more_packets=None if needed is None else max(1, needed - n),
    )


def _judge_mean(bound: _Bound, delays_ps: NDArray[np.float64], levels: _Levels) -> BoundVerdict:
    """Judge a bound on the mean of what arrives; of nothing there is no mean to judge."""
    arrived = delays_ps[np.isfinite(delays_ps)]
    seen = mean_interval(arrived, levels.met, levels.broken) if arrived.size else None
    outcome: Outcome = "inconclusive"
    if seen is not None and seen.high <= bound.threshold_ps:
        outcome = "met"
    elif seen is not None and seen.low > bound.threshold_ps:
        outcome = "broken"
    figures = (seen.observed, seen.low, seen.high) if seen else (None, None, None)
    observed, low, high = (Quantity.of(None if each is None else each / PS_PER_SECOND) for each in figures)
    return BoundVerdict(
        kind=bound.kind,
        quantile=None,
        label=bound.label,
        asked=bound.asked,
        observed=observed,
        low=low,
        high=high,
        outcome=outcome,
        n=int(delays_ps.size),
        n_effective=seen.size if seen else 0.0,
        exceedances=int((arrived > bound.threshold_ps).sum()),
        more_packets=_more_for_mean(bound, int(arrived.size), seen) if outcome == "inconclusive" else None,
    )


def _more_for_mean(bound: _Bound, arrived: int, seen: MeanInterval | None) -> int | None:
    """Estimate how many further packets would decide a bound on the mean; ``None`` where no number would."""
    if arrived < LEAST_FOR_MEAN or seen is None:
        return LEAST_FOR_MEAN - arrived
    away = bound.threshold_ps - seen.observed
    half = (seen.high if away > 0 else seen.low) - seen.observed
    # The width of the interval falls with the root of the number of packets.
    needed = arrived * (half / away) ** 2 if away else math.inf
    return None if needed > MOST_PACKETS else max(1, math.ceil(needed) - arrived)


def _size(bound: _Bound, delays_ps: NDArray[np.float64], beyond: NDArray[np.bool_], levels: _Levels) -> float:
    """Effective number of packets for a bound.

    A sample seldom shows dependence at a bound that it keeps well, so a quantile is also asked at its
    observed value, where the indicator varies, and the smaller number counts.
    """
    size = effective_size(beyond, levels.broken)
    if bound.quantile is None:
        return size
    return min(size, effective_size_at_quantile(delays_ps, bound.quantile, levels.broken))


def _seen(
    bound: _Bound, delays_ps: NDArray[np.float64], size: float, levels: _Levels
) -> tuple[Quantity, Quantity, Quantity]:
    """Estimate, lower and upper limit in the unit of the objective; unknown for an empty sample."""
    n = int(delays_ps.size)
    if n == 0:
        return Quantity(), Quantity(), Quantity()
    if bound.quantile is None:
        seen = ratio_interval(int(np.isinf(delays_ps).sum()), n, size, levels.met, levels.broken)
        return Quantity.of(seen.observed), Quantity.of(seen.low), Quantity.of(seen.high)
    seen = quantile_interval(np.sort(delays_ps), bound.quantile, size, levels.met, levels.broken)

    def in_seconds(delay_ps: float) -> Quantity:
        return Quantity.of(max(0.0, delay_ps - bound.offset_ps) / PS_PER_SECOND)

    return in_seconds(seen.observed), in_seconds(seen.low), in_seconds(seen.high)
