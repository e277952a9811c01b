"""What a change did to what an objective bounds: the difference after − before, with limits, and what it comes to.

**In pairs.** Replications of a simulation that draw the same phases, clocks and arrivals before and after a change
differ by the change alone (common random numbers: Law, Simulation Modeling and Analysis, section 11.2). The limits
are those of a grouped jackknife over the pairs: each is left out on both sides, and the spread of the differences
that are left gives their standard error. Groups of many packets make that right for quantiles too (Shao and Wu,
Annals of Statistics 17(3), 1989). Of queues the differences are skewed, for a rare crowded replication shows most
of what the change does: the wider of Student's t and Willink's (:mod:`qosforge.deltaq.mean`) is taken, at a quarter
of the error (of M/M/1 at loads of 0.5 to 0.9, both at the whole error miss twice to three times as often as they
say).

**Not in pairs** (one realisation, or replications of other lengths), the difference lies between the limits of both
sides, each at half of the error.

**Not worse** is a claim of its own, not the want of a difference: the upper limit of the difference lies below a
margin (non-inferiority; ICH E9, section 3.3.2). The margin is `MARGIN` of what the objective allows.

Where a quantile lies among what was lost, before or after, it has no difference: the part of the packets beyond
the bound is compared in its place.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict
from scipy import special

from qosforge.deltaq.dependence import effective_size_at_quantile, group_sums, level_ps
from qosforge.deltaq.mean import bent_t, slant_of
from qosforge.deltaq.objective import BoundVerdict, Kind, Objective, Quantity
from qosforge.deltaq.sample import Sample
from qosforge.deltaq.verdict import PS_PER_SECOND, judge

MARGIN = 0.05
"""Part of what an objective allows by which a change may be worse and still count as not worse."""

LEAST_IN_PAIRS = 50.0
"""Independent packets that either side has to be worth at the quantile before pairs say anything."""
_LEVEL_OF_MEAN = 0.95
_SPENT = 0.25

Change = Literal["better", "not worse", "worse", "open"]
"""What can be said of a difference at the stated confidence; ``open``: neither that it is worse, nor that not."""


class BoundDifference(BaseModel):
    """How one bound stands after a change against before it.

    ``before`` and ``after`` are what was observed, in the unit of ``requested``. ``low`` and ``high`` are limits of
    after − before, each by itself at the stated confidence, in the same unit; of ``share`` where it is true: of the
    part of all packets that lies beyond the bound. ``None`` where there is no limit. ``pairs`` replications were
    compared one by one; 0 where both sides were taken as a whole.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Kind
    label: str
    requested: float
    before: Quantity
    after: Quantity
    low: float | None
    high: float | None
    share: bool = False
    pairs: int = 0
    change: Change


@dataclass(frozen=True, slots=True)
class _Limits:
    low: float
    high: float
    margin: float
    share: bool = False
    pairs: int = 0

    @property
    def change(self) -> Change:
        if self.high < 0:
            return "better"
        if self.high <= self.margin:
            return "not worse"
        return "worse" if self.low > 0 else "open"


def differences(
    objective: Objective,
    before: Sample,
    after: Sample,
    *,
    confidence: float,
    paired: bool,
    episodes: tuple[float | None, float | None] = (None, None),
) -> tuple[BoundDifference, ...]:
    """Compare what each bound of an objective is on, in the order of a verdict's bounds.

    ``confidence`` is that of each limit. ``paired`` where replications with the same number drew the same and last
    equally long; those that both sides have are compared. ``episodes`` is what the tester knows of each side, as
    :func:`~qosforge.deltaq.verdict.judge` takes it.

    Raises:
        ValueError: ``confidence`` does not lie between 0.5 and 1.
    """
    half = 1 - (1 - confidence) / 2
    sides = [
        judge(objective, sample, confidence=half, evidence="emulated", episode=episode).bounds
        for sample, episode in zip((before, after), episodes, strict=True)
    ]
    in_pairs = paired and before.has_replications and after.has_replications
    pairs = min(before.sent.size, after.sent.size) if in_pairs else 0
    first, second = (sample.select_periods(np.arange(sample.sent.size) < pairs) for sample in (before, after))
    found = []
    for old, new in zip(*sides, strict=True):
        limits = _in_pairs((old, new), first, second, confidence, pairs) if pairs else None
        limits = limits or _as_a_whole(old, new)
        found.append(
            BoundDifference(
                kind=new.kind,
                label=new.label,
                requested=new.requested,
                before=old.observed,
                after=new.observed,
                low=limits.low if math.isfinite(limits.low) else None,
                high=limits.high if math.isfinite(limits.high) else None,
                share=limits.share,
                pairs=limits.pairs,
                change=limits.change,
            )
        )
    return tuple(found)


def _in_pairs(
    bounds: tuple[BoundVerdict, BoundVerdict], before: Sample, after: Sample, confidence: float, pairs: int
) -> _Limits | None:
    """Limits by the jackknife over pairs; None where too little is seen, or nothing that differs between them, and
    for means of delays without a variance, which nothing makes near to normal."""
    bound = bounds[0]
    if _the_same(before, after):
        return _Limits(0.0, 0.0, MARGIN * bound.requested, pairs=pairs)
    if any(side.heavy_tail for side in bounds):
        return None
    level = _LEVEL_OF_MEAN if bound.kind == "mean" else bound.quantile
    if level is not None:
        known = min(effective_size_at_quantile(level, confidence, sample) for sample in (before, after))
        if known < LEAST_IN_PAIRS:
            return None
    share, margin = False, MARGIN * bound.requested
    statistic = _figure(bound)
    old, new = statistic(before), statistic(after)
    if not (np.isfinite(old).all() and np.isfinite(new).all()):
        share, margin = True, MARGIN * _allowance(bound)
        statistic = _beyond(bound)
        old, new = statistic(before), statistic(after)
    difference = float(new[0] - old[0])
    pseudo = pairs * difference - (pairs - 1) * (new[1:] - old[1:])
    deviations = pseudo - pseudo.mean()
    spread = float((deviations**2).mean())
    if spread == 0:
        return None
    error = math.sqrt(spread / (pairs - 1))
    slant = slant_of(deviations)
    away = float(special.stdtrit(pairs - 1, 1 - (1 - confidence) * _SPENT))
    low, high = max(away, bent_t(away, slant)), max(away, -bent_t(-away, slant))
    return _Limits(difference - low * error, difference + high * error, margin, share, pairs)


def _the_same(before: Sample, after: Sample) -> bool:
    return np.array_equal(before.delays_ps, after.delays_ps) and np.array_equal(before.lost, after.lost)


def _as_a_whole(old: BoundVerdict, new: BoundVerdict) -> _Limits:
    """Limits from those of both sides."""
    sides = [[_number(quantity) for quantity in (bound.low, bound.high)] for bound in (old, new)]
    (old_low, old_high), (new_low, new_high) = sides
    if new.n == 0 or old.n == 0:
        return _Limits(-math.inf, math.inf, MARGIN * new.requested)
    return _Limits(_least(new_low, old_high), -_least(old_low, new_high), MARGIN * new.requested)


def _least(low: float, high: float) -> float:
    """What ``low − high`` is at least, where either may be infinite."""
    if math.isinf(high):
        return -math.inf
    return low - high


def _number(quantity: Quantity) -> float:
    number = quantity.number()
    return math.inf if number is None else number


def _allowance(bound: BoundVerdict) -> float:
    """The part of all packets that may lie beyond a bound; of a mean there is none."""
    if bound.kind == "loss":
        return bound.requested
    return 1 - bound.quantile if bound.quantile is not None else 0.0


Statistic = Callable[[Sample], NDArray[np.float64]]
"""The figure of a sample, and then what it is with each period left out."""


def _figure(bound: BoundVerdict) -> Statistic:
    """What a bound is on, in its unit."""
    if bound.kind == "loss":
        return lambda sample: _ratio(sample.lost, sample.sent)
    quantile = bound.quantile
    if quantile is None:
        return _mean_seconds
    return lambda sample: _quantile_seconds(sample, quantile, less_minimum=bound.kind == "variation")


def _beyond(bound: BoundVerdict) -> Statistic:
    """The part of all packets that lies beyond a bound."""
    threshold = bound.requested * PS_PER_SECOND

    def part(sample: Sample) -> NDArray[np.float64]:
        least = sample.delays_ps.min() if bound.kind == "variation" else 0.0
        late = sample.delays_ps > threshold + (least if math.isfinite(least) else 0.0)
        return _ratio(group_sums(sample.weights * late, sample.edges), group_sums(sample.weights, sample.edges))

    return part


def _ratio(parts: NDArray[np.float64], wholes: NDArray[np.float64]) -> NDArray[np.float64]:
    tops = np.concatenate(([parts.sum()], parts.sum() - parts))
    bottoms = np.concatenate(([wholes.sum()], wholes.sum() - wholes))
    found: NDArray[np.float64] = np.divide(tops, bottoms, out=np.zeros_like(tops), where=bottoms > 0)
    return found


def _mean_seconds(sample: Sample) -> NDArray[np.float64]:
    arrived = sample.without_losses()
    sums = group_sums(arrived.weights * arrived.delays_ps, arrived.edges)
    counts = group_sums(arrived.weights, arrived.edges)
    if not counts.sum():
        return np.full(counts.size + 1, math.inf)
    return _ratio(sums, counts) / PS_PER_SECOND


def _quantile_seconds(sample: Sample, quantile: float, *, less_minimum: bool) -> NDArray[np.float64]:
    found = []
    periods = np.arange(sample.sent.size)
    for left in (-1, *periods):
        kept = sample.select_periods(periods != left)
        least = kept.delays_ps.min() if less_minimum and kept.size else 0.0
        value = level_ps(kept, quantile) if kept.size else math.inf
        found.append((value - least) / PS_PER_SECOND if math.isfinite(value) else math.inf)
    return np.array(found)
