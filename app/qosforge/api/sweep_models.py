"""Request and response bodies of the routes about sweeps."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StrictInt

from qosforge.policy_library.choice import ParameterValue, PolicyChoice
from qosforge.sweeps.sweeps import MOST_VALUES, PointOutcome, Sweep, SweepPoint
from qosforge.tester.measurement.judging import ClassVerdict

SWEEPS = "/api/v1/sweeps"
"""Where sweeps are."""

Seed = Annotated[StrictInt, Field(ge=0, le=2**64 - 1)]
Values = Annotated[list[ParameterValue], Field(min_length=1, max_length=MOST_VALUES)]


class SweepRequest(BaseModel):
    """A new sweep: a policy and values of its parameters, measured in every combination and under every seed."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "network": "campus",
                    "policy": {"name": "campus-collaboration"},
                    "parameters": {},
                    "seeds": [1, 2, 3],
                }
            ]
        },
    )

    network: str = Field(min_length=1, max_length=128, examples=["campus"])
    policy: PolicyChoice
    parameters: dict[str, Values] = Field(default_factory=dict, max_length=MOST_VALUES)
    seeds: list[Seed] = Field(default=[1], min_length=1, max_length=MOST_VALUES)


class SweepList(BaseModel):
    """Sweeps, newest first."""

    sweeps: list[Sweep]


class PointSummary(BaseModel):
    """A point: its values, seed and outcome; ``result`` is the path of its figures."""

    number: int
    parameters: dict[str, Any]
    seed: int
    outcome: PointOutcome | None
    ended: datetime | None
    executor: str | None
    result: str | None
    error: str

    @classmethod
    def of(cls, point: SweepPoint) -> Self:
        """A point's."""
        fields = {name: getattr(point, name) for name in cls.model_fields}
        where = f"{SWEEPS}/{point.sweep_id}/points/{point.number}" if point.result else None
        return cls(**{**fields, "result": where})


class SweepDetail(Sweep):
    """A sweep with its points."""

    results: list[PointSummary]

    @classmethod
    def of(cls, sweep: Sweep, points: Iterable[SweepPoint] = ()) -> Self:
        """A sweep's."""
        return cls(**dict(sweep), results=[PointSummary.of(point) for point in points])


class PointResult(BaseModel):
    """The measurement of a point, on the twin of its compiled plans."""

    outcome: Literal["met", "broken", "inconclusive"]
    evidence: Literal["predicted"]
    verdicts: list[ClassVerdict]
    measurement: dict[str, Any]
