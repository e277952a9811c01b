"""The ΔQ objective of a class."""

from __future__ import annotations

import itertools
import re
from typing import Annotated, Self

from pydantic import AfterValidator, BeforeValidator, Field, GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from qosforge.deltaq.objective import DEFAULT_VARIATION_QUANTILE, Objective, quantile_of
from qosforge.deltaq.presets import preset, presets
from qosforge.intent.base import Duration, IntentModel
from qosforge.units import Ratio, format_seconds, shortened

MEAN = "mean"
"""The key beside quantiles of delay that bounds the mean of the packets that arrive."""

_QUANTILE = re.compile(r"p[0-9]{1,2}(\.[0-9]{1,6})?")


def _quantile(value: str) -> str:
    if _QUANTILE.fullmatch(value) is None or not 0 < float(value[1:]) < 100:
        raise ValueError(f"{shortened(value)} is not a quantile between 0 and 100: write p50, p95, p99 or p99.9")
    return value


def _statistic(value: str) -> str:
    if value != MEAN and _QUANTILE.fullmatch(value) is None:
        raise ValueError(f"{shortened(value)} is neither a quantile nor the mean: write p50, p99, p99.9 or mean")
    return value if value == MEAN else _quantile(value)


def _rising(delay: dict[str, float]) -> dict[str, float]:
    quantiles = (entry for entry in delay.items() if entry[0] != MEAN)
    ordered = sorted(quantiles, key=lambda entry: float(entry[0][1:]))
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


def _by_quantile(value: object) -> object:
    return {f"p{DEFAULT_VARIATION_QUANTILE * 100:g}": value} if isinstance(value, str | int | float) else value


def _one_quantile(variation: dict[str, float]) -> dict[str, float]:
    if len(variation) != 1:
        raise ValueError(
            f"a variation has {len(variation)} quantiles: give one, as in {{p99: 30 ms}}, or a time alone for p99.9"
        )
    return variation


class _PresetNames:
    """Tells the JSON Schema which names there are."""

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {**handler(schema), "enum": [name for name, each in presets().items() if each.objective()]}


def _preset(name: str) -> str:
    if preset(name).objective() is None:
        raise ValueError(f"the preset {name} bounds nothing: leave it out, and the class without an objective")
    return name


Preset = Annotated[str, AfterValidator(_preset), _PresetNames()]
"""The name of what a recommendation asks (:mod:`qosforge.deltaq.presets`)."""
Quantile = Annotated[str, AfterValidator(_quantile)]
Statistic = Annotated[str, AfterValidator(_statistic)]
Variation = Annotated[
    dict[Quantile, Duration],
    BeforeValidator(_by_quantile, json_schema_input_type=str | dict[Quantile, Duration]),
    AfterValidator(_one_quantile),
]
"""Delay variation by the one quantile of delay from which the smallest delay is subtracted."""


MOST_OF_AN_EPISODE = 1_000_000
"""Packets: hours of a voice call."""


class ObjectiveSpec(IntentModel):
    """What ΔQ a class must keep: one-way delay (quantiles, mean), delay variation, loss.

    A ``preset`` gives what a recommendation asks; what stands beside it counts in its place. ``episode_packets`` is
    how many packets at most are late, or lost, in one go, where none of those measured was.
    """

    preset: Preset | None = None
    delay: Annotated[dict[Statistic, Duration], AfterValidator(_rising)] = Field(default_factory=dict)
    variation: Variation | None = None
    loss: Annotated[Ratio, AfterValidator(_some_loss)] | None = None
    episode_packets: Annotated[int, Field(ge=1, le=MOST_OF_AN_EPISODE)] | None = None

    @model_validator(mode="after")
    def _some(self) -> Self:
        if not self.delay and all(bound is None for bound in (self.preset, self.variation, self.loss)):
            raise ValueError("an empty objective: give delay, variation or loss, or a preset")
        return self

    def resolved(self) -> ObjectiveSpec:
        """The same with the preset's bounds in place of its name."""
        named = preset(self.preset).objective() if self.preset else None
        if named is None:
            return self
        mean = {} if named.mean is None else {MEAN: named.mean}
        variation = {f"p{named.variation_quantile * 100:g}": named.variation} if named.variation else None
        return ObjectiveSpec(
            delay={**mean, **self.delay},
            variation=self.variation or variation,
            loss=named.loss if self.loss is None else self.loss,
            episode_packets=self.episode_packets,
        )

    def bounds(self) -> Objective:
        """The same as the judge takes it, the preset's bounds in place of its name."""
        requested = self.resolved()
        label, variation = next(iter(requested.variation.items())) if requested.variation else (None, None)
        return Objective(
            delay={label: bound for label, bound in requested.delay.items() if label != MEAN},
            mean=requested.delay.get(MEAN),
            variation=variation,
            variation_quantile=quantile_of(label) if label else DEFAULT_VARIATION_QUANTILE,
            loss=requested.loss,
            episode_packets=requested.episode_packets,
        )
