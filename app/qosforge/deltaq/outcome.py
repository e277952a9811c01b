"""Quality of Outcome: how near a network is to what an application needs, from 0 to 100 (draft-ietf-ippm-qoo).

Between the requirements for optimal performance (ROP, 100) and the conditions at the point of unacceptable
performance (CPUP, 0) a score falls linearly, by each latency percentile and by loss; throughput is enough (100) or
not (0). The least of all is the score. The draft takes loss as a measurement of its own, so percentiles of latency
are here those of the packets that arrive: a lost packet counts once.

A score is for people. It says nothing of how sure it is: judge an objective for that
(:func:`qosforge.deltaq.verdict.judge`).
"""

from __future__ import annotations

import math
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from qosforge.deltaq.distribution import DeltaQ
from qosforge.deltaq.objective import quantile_of

PS_PER_SECOND = 1e12
"""Picoseconds in a second."""

_DOCUMENT = ConfigDict(frozen=True, extra="forbid")
_Bound = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class FigureRange(BaseModel):
    """From where on a figure is ``optimal`` (ROP) and from where it is ``unacceptable`` (CPUP, the larger one)."""

    model_config = _DOCUMENT

    optimal: _Bound
    unacceptable: _Bound

    @model_validator(mode="after")
    def _apart(self) -> Self:
        if self.unacceptable <= self.optimal:
            raise ValueError(
                f"what is unacceptable ({self.unacceptable:g}) must be above what is optimal ({self.optimal:g})"
            )
        return self

    def score(self, figure: float) -> float:
        """Score of a figure in the same unit: 100 up to ``optimal``, 0 from ``unacceptable`` on."""
        if math.isinf(figure):
            return 0.0
        part = (figure - self.optimal) / (self.unacceptable - self.optimal)
        return 100 * min(1.0, max(0.0, 1 - part))


class Requirement(BaseModel):
    """What an application needs. ``latency`` maps percentiles (``"p99"``) to seconds; ``loss`` is a ratio;
    ``throughput_bps`` the least rate in bits per second. All are of one direction, or all of the round trip.
    """

    model_config = _DOCUMENT

    latency: dict[str, FigureRange] = Field(min_length=1)
    loss: FigureRange
    throughput_bps: _Bound = 0

    @model_validator(mode="after")
    def _sound(self) -> Self:
        for label in self.latency:
            quantile_of(label)
        if self.loss.unacceptable > 1:
            raise ValueError(f"a loss of {self.loss.unacceptable:g} is above 1: everything is lost before")
        return self


class QualityOfOutcome(BaseModel):
    """The score, from 0 to 100, and the parts of which it is the least."""

    model_config = _DOCUMENT

    score: float
    latency: float
    loss: float
    throughput: float


def quality_of_outcome(
    requirement: Requirement, latency: dict[str, float], loss: float, throughput_bps: float
) -> QualityOfOutcome:
    """Score measured percentiles of ``latency`` (seconds; ``math.inf`` where unknown), loss and throughput.

    Raises ``ValueError`` when a percentile that is required was not measured.
    """
    missing = [label for label in requirement.latency if label not in latency]
    if missing:
        raise ValueError(f"{', '.join(missing)} of latency is required and was not measured")
    parts = {
        "latency": min(bound.score(latency[label]) for label, bound in requirement.latency.items()),
        "loss": requirement.loss.score(loss),
        "throughput": 100.0 if throughput_bps >= requirement.throughput_bps else 0.0,
    }
    return QualityOfOutcome(score=min(parts.values()), **parts)


def score(requirement: Requirement, deltaq: DeltaQ, throughput_bps: float) -> QualityOfOutcome:
    """Score a ΔQ and the throughput beside it, in bits per second."""
    delivered = deltaq.given_delivery()
    measured = {label: delivered.quantile_ps(quantile_of(label)) / PS_PER_SECOND for label in requirement.latency}
    return quality_of_outcome(requirement, measured, deltaq.loss, throughput_bps)
