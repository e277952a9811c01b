"""Judging by a few figures of delay where no packet's own is known: how many were sent and arrived, the smallest
delay, the mean and the largest.

Any delays that have these figures are possible. Of these a bound meets those with the most packets beyond it, and
those with the fewest: it is met only if it is with the most, and broken only if it is with the fewest. How
packets followed each other is not known either, so those beyond are taken to come in one go.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from qosforge.deltaq.objective import (
    BoundVerdict,
    Evidence,
    Objective,
    ObjectiveVerdict,
    Outcome,
    Quantity,
    combine,
)
from qosforge.deltaq.sample import Sample
from qosforge.deltaq.verdict import PS_PER_SECOND, judge


@dataclass(frozen=True, slots=True)
class DelayFigures:
    """What is known of a flow; delays in picoseconds are of the packets that arrived."""

    sent: int
    delivered: int
    least_ps: float
    mean_ps: float
    most_ps: float

    def most_beyond(self, threshold_ps: float) -> int:
        """How many arrived packets may be later: as the mean allows where all others have the least delay."""
        if self.most_ps <= threshold_ps or not self.delivered:
            return 0
        if self.least_ps > threshold_ps:
            return self.delivered
        room = threshold_ps - self.least_ps
        surplus = self.delivered * (self.mean_ps - self.least_ps)
        return self.delivered - 1 if surplus >= room * (self.delivered - 1) else max(1, math.floor(surplus / room))

    def fewest_beyond(self, threshold_ps: float) -> int:
        """How many arrived packets must be later: the latest, and as many as the mean asks for."""
        if self.most_ps <= threshold_ps or not self.delivered:
            return 0
        if self.least_ps > threshold_ps:
            return self.delivered
        surplus = self.delivered * (self.mean_ps - threshold_ps)
        return max(1, math.ceil(surplus / (self.most_ps - threshold_ps) - 1e-9))


def judge_figures(
    objective: Objective,
    flows: Sequence[DelayFigures],
    *,
    confidence: float,
    evidence: Evidence,
    clock_error_ps: float = 0.0,
    episode: float | None = None,
) -> ObjectiveVerdict:
    """Judge flows by their figures; otherwise as :func:`~qosforge.deltaq.verdict.judge`."""
    bounds = []
    least = min((flow.least_ps for flow in flows if flow.delivered), default=0.0)
    for single, threshold in _single_bounds(objective, least):
        # Where clocks may lie apart, a delay beyond the bound may be said to be within, and the other way round.
        if threshold is not None:
            samples = [_sample(flows, threshold, clock_error_ps, most=most) for most in (True, False)]
        else:
            samples = 2 * [_counted(flows) if single.mean is None else _at_mean(flows)]
        error = clock_error_ps if threshold is None else 0.0
        most, fewest = (
            judge(
                single, sample, confidence=confidence, evidence=evidence, clock_error_ps=error, episode=episode
            ).bounds[0]
            for sample in samples
        )
        bounds.append(_between(most, fewest))
    outcome = combine([bound.outcome for bound in bounds])
    return ObjectiveVerdict(outcome=outcome, confidence=confidence, evidence=evidence, bounds=tuple(bounds))


def _single_bounds(objective: Objective, least_ps: float) -> list[tuple[Objective, float | None]]:
    """Each bound by itself, with its threshold in picoseconds; ``None`` for one that is on no single delay."""
    found: list[tuple[Objective, float | None]] = [
        (Objective(delay={label: seconds}), seconds * PS_PER_SECOND) for label, seconds in objective.delay.items()
    ]
    if objective.mean is not None:
        found.append((Objective(mean=objective.mean), None))
    if objective.variation is not None:
        single = Objective(variation=objective.variation, variation_quantile=objective.variation_quantile)
        found.append((single, least_ps + objective.variation * PS_PER_SECOND))
    if objective.loss is not None:
        found.append((Objective(loss=objective.loss), None))
    return found


def _sample(flows: Sequence[DelayFigures], threshold_ps: float, error_ps: float, *, most: bool) -> Sample:
    """The packets with the most of them beyond a threshold, or the fewest, those in one go."""
    parts: list[tuple[float, int]] = []
    for flow in flows:
        beyond = flow.most_beyond(threshold_ps - error_ps) if most else flow.fewest_beyond(threshold_ps + error_ps)
        within = min(flow.least_ps, threshold_ps)
        parts += [(within, flow.delivered - beyond), (max(flow.most_ps, threshold_ps + 1), beyond)]
    return _in_one_go(flows, parts)


def _counted(flows: Sequence[DelayFigures]) -> Sample:
    """Packets that arrived and that were lost, for bounds on which delay has no bearing."""
    return _in_one_go(flows, [(flow.least_ps, flow.delivered) for flow in flows])


def _at_mean(flows: Sequence[DelayFigures]) -> Sample:
    """Packets of the least and of the largest delay, with the mean that is said: no others vary more."""
    parts: list[tuple[float, int]] = []
    for flow in flows:
        span = flow.most_ps - flow.least_ps
        late = round(flow.delivered * (flow.mean_ps - flow.least_ps) / span) if span else 0
        parts += [(flow.least_ps, flow.delivered - late), (flow.most_ps, late)]
    return _in_one_go(flows, parts)


def _in_one_go(flows: Sequence[DelayFigures], parts: list[tuple[float, int]]) -> Sample:
    parts = [*parts, (math.inf, sum(flow.sent - flow.delivered for flow in flows))]
    ordered = sorted(parts)
    return Sample.of_delays(np.repeat([delay for delay, _ in ordered], [count for _, count in ordered]))


def _between(most: BoundVerdict, fewest: BoundVerdict) -> BoundVerdict:
    """What can be said whichever delays they were."""
    outcome: Outcome = "inconclusive"
    if most.outcome == "met":
        outcome = "met"
    elif fewest.outcome == "broken":
        outcome = "broken"
    same = most.observed == fewest.observed
    return fewest.model_copy(
        update={
            "outcome": outcome,
            "observed": most.observed if same else Quantity(),
            "high": most.high,
            "n_effective": min(most.n_effective, fewest.n_effective),
            "more_packets": None,
            "episode": most.episode,
            "longest_episode": most.longest_episode,
        }
    )
