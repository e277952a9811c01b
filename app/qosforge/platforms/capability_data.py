"""What a platform can do, as data: every figure with its source, read from the platform's ``capabilities.yaml``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, Literal, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict
from yaml.cyaml import CSafeLoader

from qosforge.resources import read_text

T = TypeVar("T")
Data = TypeVar("Data", bound="CapabilityData")


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Sourced(_Model):
    """Something that a document says, or that was taken to be so.

    ``doubt`` marks what no published source confirms. ``since`` and ``until`` are releases.
    """

    source: str
    doubt: bool = False
    unit: str = ""
    since: str = ""
    until: str = ""


class Fact(Sourced, Generic[T]):
    """One value."""

    value: T


class Bounds(_Model):
    """The least and the greatest value that a device takes, and its steps."""

    minimum: int
    maximum: int
    step: int = 1
    unit: str = ""

    def nearest(self, value: int) -> int:
        """The value that the device takes nearest to another one; the lower one of two."""
        return min(max((2 * value + self.step - 1) // (2 * self.step) * self.step, self.minimum), self.maximum)


class Range(Bounds, Sourced):
    """Bounds with their source."""


class RangeWithDefault(Range):
    """Bounds, and what holds where nothing is said."""

    default: int


class Highest(Sourced):
    """The greatest value that a device takes."""

    maximum: int


class CapabilityData(_Model):
    """The base of a platform's data."""

    version: Literal[1]


def nearest(sizes: Iterable[int], value: float) -> int:
    """The size nearest to a value; the smaller one of two."""
    return min(sizes, key=lambda size: (abs(size - value), size))


def load(platform: str, model: type[Data]) -> Data:
    """The capability data of a platform.

    Raises:
        pydantic.ValidationError: the file is not what the model says.
    """
    text = read_text(f"qosforge/platforms/{platform}/capabilities.yaml")
    return model.model_validate(yaml.load(text, Loader=CSafeLoader))
