"""Rollout rules of a network: canary and waves, limits, and the failures that are tolerated."""

from __future__ import annotations

import math
import re
from typing import Annotated, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from qosforge.units import shortened

MOST_AT_ONCE = 20
"""Devices of a network that are worked with at once where no rule says otherwise."""
_PER_CENT = re.compile(r"([0-9]{1,3}(?:\.[0-9]+)?) ?%")

Word = Annotated[str, Field(min_length=1, max_length=63)]
Count = Annotated[int, Field(ge=1, le=100_000, strict=True)]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class DevicePercentage(_Model):
    """A part of the devices: in per cent of them."""

    percent: Annotated[float, Field(ge=0, le=100)]


def _share(value: object) -> object:
    if isinstance(value, str):
        found = _PER_CENT.fullmatch(value)
        if found is None:
            raise ValueError(f"{shortened(value)} is no number of devices: write it like 5, or '10 %'")
        return DevicePercentage(percent=float(found[1]))
    return value


class DeviceSelection(_Model):
    """Devices of a wave, by one of these words: their ``site``, ``role`` or one of their ``tag``s, a ``count`` of
    those that are left, or a ``percent``age of all that change, rounded up.
    """

    site: Word | None = None
    role: Literal["edge", "middle", "access", "core"] | None = None
    tag: Word | None = None
    count: Count | None = None
    percent: Annotated[float, Field(gt=0, le=100)] | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if len(self._written()) != 1:
            raise ValueError("a wave is chosen by one word: write site, role, tag, count or percent")
        return self

    def _written(self) -> dict[str, object]:
        return {name: value for name, value in self if value is not None}

    @property
    def text(self) -> str:
        """It in words."""
        if self.count is not None:
            return "1 device" if self.count == 1 else f"{self.count} devices"
        if self.percent is not None:
            return f"{self.percent:g} %"
        ((name, value),) = self._written().items()
        return f"{name} {value}"


class RolloutLimit(_Model):
    """``at_once``: devices that are worked with at the same time; ``per_minute``: devices that begin to be changed
    in a minute, evenly spread. ``None``: no limit here.
    """

    at_once: Count | None = None
    per_minute: Count | None = None


class RolloutLimits(_Model):
    """Limits of a whole ``network``, of each ``site`` alike, and of platforms by their ids: all of them hold."""

    network: RolloutLimit = RolloutLimit()
    site: RolloutLimit = RolloutLimit()
    platform: dict[Word, RolloutLimit] = {}


class Rollout(_Model):
    """How a push goes through a network. What no wave chooses is the last wave; without any there is one wave.

    ``failures``: how many devices (a number, or a share of those that the run concerns) may fail and be left out;
    a device of the canary may not. ``pause``: minutes that a rollout may be paused for in all.
    """

    canary: DeviceSelection | None = None
    waves: tuple[DeviceSelection, ...] = ()
    failures: Annotated[Annotated[int, Field(ge=0, strict=True)] | DevicePercentage, BeforeValidator(_share)] = 0
    pause: Annotated[int, Field(ge=0, le=1440, strict=True)] = 10
    limits: RolloutLimits = RolloutLimits()

    def may_fail(self, devices: int) -> int:
        """How many of so many devices may be left out."""
        if isinstance(self.failures, DevicePercentage):
            return math.floor(devices * self.failures.percent / 100)
        return self.failures
