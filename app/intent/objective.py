"""What ΔQ a class must keep."""

from __future__ import annotations

import itertools
import re
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from app.intent.base import Duration, Model
from app.units import Ratio, format_seconds, shortened

_QUANTILE = re.compile(r"p[0-9]{1,2}(\.[0-9]{1,6})?")


def _quantile(value: str) -> str:
    if _QUANTILE.fullmatch(value) is None or not 0 < float(value[1:]) < 100:
        raise ValueError(f"{shortened(value)} is not a quantile between 0 and 100: write p50, p95, p99 or p99.9")
    return value


def _rising(delay: dict[str, float]) -> dict[str, float]:
    ordered = sorted(delay.items(), key=lambda entry: float(entry[0][1:]))
    for (low, shorter), (high, longer) in itertools.pairwise(ordered):
        if longer < shorter:
            raise ValueError(
                f"{high} of {format_seconds(longer)} is below {low} of {format_seconds(shorter)}: "
                "a higher quantile is never shorter"
            )
    return delay


def _some_loss(value: float) -> float:
    if not 0 < value < 1:
        raise ValueError(
            f"a loss of {value * 100:g} % is no bound: give it above 0 % (no count of packets proves that none is "
            "ever lost) and below 100 %"
        )
    return value


Quantile = Annotated[str, AfterValidator(_quantile)]


class ObjectiveSpec(Model):
    """What ΔQ a class must keep: one-way delay quantiles, delay variation, loss."""

    delay: Annotated[dict[Quantile, Duration], AfterValidator(_rising)] = Field(default_factory=dict)
    variation: Duration | None = None
    loss: Annotated[Ratio, AfterValidator(_some_loss)] | None = None

    @model_validator(mode="after")
    def _some(self) -> Self:
        if not self.delay and self.variation is None and self.loss is None:
            raise ValueError("an empty objective: give delay, variation or loss")
        return self
