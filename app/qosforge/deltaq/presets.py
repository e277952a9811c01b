"""Objectives of published recommendations, by name: ITU-T Y.1541 and G.114, and RFC 4594's classes beside them.

The numbers are data (``presets.yaml``), each with its source.
"""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache
from typing import Literal

from pydantic import BaseModel, ConfigDict

from qosforge.deltaq.objective import DEFAULT_VARIATION_QUANTILE, Objective, quantile_of
from qosforge.resources import read_yaml
from qosforge.units import WRITTEN, Ratio, Seconds, shortened

_DOCUMENT = ConfigDict(frozen=True, extra="forbid")


class TimeBound(BaseModel):
    """A bound in seconds and where it is from."""

    model_config = _DOCUMENT

    bound: Seconds
    source: str


class VariationBound(TimeBound):
    """A bound in seconds on a quantile of delay less its minimum."""

    quantile: str


class LossBound(BaseModel):
    """A bound on the ratio of packets lost and where it is from."""

    model_config = _DOCUMENT

    bound: Ratio
    source: str


class Preset(BaseModel):
    """What a recommendation asks of a class; what it leaves open is ``None``."""

    model_config = _DOCUMENT

    title: str
    mean: TimeBound | None = None
    variation: VariationBound | None = None
    loss: LossBound | None = None

    def objective(self) -> Objective | None:
        """The objective; ``None`` where nothing is bounded."""
        if self.mean is None and self.variation is None and self.loss is None:
            return None
        variation = self.variation
        return Objective(
            mean=self.mean.bound if self.mean else None,
            variation=variation.bound if variation else None,
            variation_quantile=quantile_of(variation.quantile) if variation else DEFAULT_VARIATION_QUANTILE,
            loss=self.loss.bound if self.loss else None,
        )


class Tolerance(BaseModel):
    """What RFC 4594 (figure 2) says that a service class bears, in its words."""

    model_config = _DOCUMENT

    loss: str
    delay: str
    jitter: str


class ServiceClass(BaseModel):
    """A service class of RFC 4594 with the preset that bounds what it bears."""

    model_config = _DOCUMENT

    objective: str
    tolerance: Tolerance


class _File(BaseModel):
    model_config = _DOCUMENT

    version: Literal[1]
    objectives: dict[str, Preset]
    service_classes: dict[str, ServiceClass]


@cache
def _file() -> _File:
    data = read_yaml("qosforge/deltaq/presets.yaml")
    return _File.model_validate(data, context=WRITTEN)


@cache
def presets() -> dict[str, Preset]:
    """Every preset by its name, the service classes of RFC 4594 among them."""
    file = _file()
    paired = {name: file.objectives[each.objective] for name, each in file.service_classes.items()}
    return {**file.objectives, **paired}


def service_classes() -> dict[str, ServiceClass]:
    """The service classes of RFC 4594 by the names of their presets."""
    return _file().service_classes


def preset(name: str) -> Preset:
    """The preset of that name; ``ValueError`` names those that come near, or all."""
    known = presets()
    if name not in known:
        near = get_close_matches(name, known, n=3)
        hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(known)}"
        raise ValueError(f"{shortened(name)} is no preset of objectives: {hint}")
    return known[name]
