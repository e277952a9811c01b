"""Comparing what was published with what was obtained, claim by claim."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from qosforge.experiments.metrics import NotMeasured
from qosforge.experiments.metrics.evaluation import MetricValue, evaluate, metric_query
from qosforge.experiments.model import Ascending, Claim, Experiment, OperandRatio, Relation
from qosforge.experiments.running import ExperimentSession

ObtainedValue = float | list[Any] | dict[str, Any] | None

_LIMITS = {
    Relation.BELOW: lambda value, limit, width: value < limit + width,
    Relation.ABOVE: lambda value, limit, width: value > limit - width,
    Relation.AT_LEAST: lambda value, limit, width: value >= limit - width,
    Relation.AT_MOST: lambda value, limit, width: value <= limit + width,
}


@dataclass(frozen=True)
class ClaimComparison:
    """One claim beside what came out.

    ``obtained`` is a number, a list for an order, or either by subject; None where nothing could be run.
    ``reason`` is why it does not hold (physics, or a contradiction of the paper), empty where it holds;
    ``explained`` is whether it holds or the experiment's data give that reason.
    """

    claim: Claim
    obtained: ObtainedValue
    holds: bool
    reason: str = ""
    explained: bool = True

    def document(self) -> dict[str, Any]:
        """As plain JSON."""
        claim = self.claim
        value = claim.value
        published = value if isinstance(value, float) else value.model_dump(by_alias=True, exclude_none=True)
        return {
            "id": claim.id,
            "kind": claim.kind.value,
            "reproducible": claim.reproducible,
            "subject": claim.subject,
            "scenario": claim.scenario,
            "metric": claim.metric,
            "type": claim.type.value,
            "published": published,
            "obtained": _in_json(self.obtained),
            "tolerance": claim.tolerance.model_dump(exclude_none=True),
            "holds": self.holds,
            "reason": self.reason,
        }


def _in_json(obtained: ObtainedValue) -> ObtainedValue:
    """The same without infinities, which JSON has no number for: null."""
    match obtained:
        case float():
            return obtained if math.isfinite(obtained) else None
        case list():
            return [_in_json(one) for one in obtained]
        case dict():
            return {name: _in_json(one) for name, one in obtained.items()}
    return obtained


def compare_claims(session: ExperimentSession, experiment: Experiment) -> tuple[ClaimComparison, ...]:
    """All claims of an experiment, none left out."""
    return tuple(_claim(session, experiment, claim) for claim in experiment.claims)


def _claim(session: ExperimentSession, experiment: Experiment, claim: Claim) -> ClaimComparison:
    reason = experiment.reasons.get(claim.id) or ("" if claim.reproducible else claim.note)
    found: dict[str, tuple[ObtainedValue, bool]] = {}
    try:
        for subject in experiment.subjects(claim.subject):
            found[subject] = _subject(session, experiment, claim, subject)
    except NotMeasured as missing:
        return ClaimComparison(claim, None, False, reason or f"not obtained: {missing}", bool(reason))
    holds = all(agrees for _, agrees in found.values())
    values = {name: value for name, (value, _) in found.items()}
    obtained = next(iter(values.values())) if len(values) == 1 else values
    return (
        ClaimComparison(claim, obtained, True)
        if holds
        else ClaimComparison(claim, obtained, False, reason, bool(reason))
    )


def _subject(
    session: ExperimentSession, experiment: Experiment, claim: Claim, subject: str
) -> tuple[ObtainedValue, bool]:
    value = claim.value
    if isinstance(value, Ascending):
        readings = [
            evaluate(session, metric_query(claim, experiment.name, subject, one)) for one in value.ascending
        ]
        return [reading.value for reading in readings], _ascend(readings, strict=value.strict)
    if isinstance(value, OperandRatio):
        top = evaluate(session, metric_query(claim, experiment.name, subject, value.top))
        bottom = evaluate(session, metric_query(claim, experiment.name, subject, value.bottom))
        if bottom.value == 0:
            raise NotMeasured("the ratio's divisor is zero")
        obtained = top.value / bottom.value
        return obtained, _agrees(claim, value.relation, obtained, value.value)
    reading = evaluate(session, metric_query(claim, experiment.name, subject))
    if claim.type in _LIMITS:
        worst = max(reading.each) if claim.type in (Relation.BELOW, Relation.AT_MOST) else min(reading.each)
        return worst, _agrees(claim, claim.type, worst, value)
    return reading.value, _agrees(claim, claim.type, reading.value, value)


def _agrees(claim: Claim, how: Relation, obtained: float, published: float) -> bool:
    width = claim.tolerance.width(published)
    if how in _LIMITS:
        return bool(_LIMITS[how](obtained, published, width))
    # A published figure has as many digits as it was printed with: the last bit of a double is not one of them.
    return abs(obtained - published) <= width + 1e-12 * max(abs(published), 1.0)


def _ascend(readings: Sequence[MetricValue], *, strict: bool) -> bool:
    pairs = pairwise(readings)
    if strict:
        return all(one.high < other.low for one, other in pairs)
    return all(other.high >= one.low for one, other in pairs)
