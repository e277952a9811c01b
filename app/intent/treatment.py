"""What is done with a class: its marks, and how it is served."""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, PlainSerializer, ValidationInfo, model_validator

from app.intent.base import Cos, Dscp, Model, Percent, Requirement
from app.units import WRITTEN, Rate, shortened

_BYTES = re.compile(r"([0-9]{1,9}) ?(B|kB)")


def _parse_bytes(value: object, info: ValidationInfo) -> object:
    if isinstance(value, int) and not isinstance(value, bool) and info.context != WRITTEN:
        return value
    found = _BYTES.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise ValueError(f"{shortened(value)} is no number of bytes: write it like '8000 B' (units: B, kB)")
    return int(found[1]) * (1000 if found[2] == "kB" else 1)


Bytes = Annotated[
    int,
    Field(ge=1),
    BeforeValidator(_parse_bytes, json_schema_input_type=str),
    PlainSerializer(lambda value: f"{value} B", when_used="json"),
]


class Mark(Model):
    """The marks a class carries behind the edge."""

    dscp: Dscp | None = None
    cos: Cos | None = None


class Priority(Model):
    """Low-latency queuing: served first, up to a share of the link or a rate."""

    percent: Percent | None = None
    rate: Rate | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.percent is None) == (self.rate is None):
            raise ValueError("a priority has both or none of percent and rate: give one of them")
        return self


class Bandwidth(Model):
    """A guaranteed share: of the link, of what priority leaves, or a rate."""

    percent: Percent | None = None
    remaining_percent: Percent | None = None
    rate: Rate | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if sum(v is not None for v in (self.percent, self.remaining_percent, self.rate)) != 1:
            units = "percent, remaining_percent and rate"
            raise ValueError(f"a bandwidth has none or more than one unit: give exactly one of {units}")
        return self


class Wred(Model):
    """Weighted random early detection with the platform's profile."""

    prefer: Requirement = True


def _wred(value: object) -> object:
    return {} if value is True else None if value is False else value


class QueueLimit(Model):
    """How many packets may wait; the rest is dropped at the tail."""

    packets: Annotated[int, Field(ge=1, le=65535, strict=True)]
    prefer: Requirement = False


class Remark(Model):
    """What exceeds is sent with another mark."""

    remark: Dscp


class Police(Model):
    """A token bucket: what exceeds rate and burst is dropped or remarked.

    ``burst`` in bytes; without one it is what the rate brings in 250 ms. ``direction`` is the side of a box:
    ``input`` where the class is recognised, ``output`` where it is scheduled.
    """

    rate: Rate
    burst: Bytes | None = None
    exceed: Literal["drop"] | Remark = "drop"
    direction: Literal["input", "output"] = "input"
    prefer: Requirement = False

    @property
    def burst_bytes(self) -> int:
        """The burst as given, else 250 ms of the rate (IOS: a 32nd of the rate in bytes), one packet at least."""
        return self.burst if self.burst is not None else max(1500, self.rate // 32)


class Shape(Model):
    """What exceeds the rate waits."""

    rate: Rate
    prefer: Requirement = False


class Treatment(Model):
    """How a class is served."""

    priority: Priority | None = None
    bandwidth: Bandwidth | None = None
    wred: Annotated[Wred | None, BeforeValidator(_wred, json_schema_input_type=Wred | bool | None)] = None
    queue_limit: QueueLimit | None = None
    police: Police | None = None
    shape: Shape | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if self.priority and self.bandwidth:
            raise ValueError("a class is served by priority or by bandwidth: not both, remove one")
        if self.priority and self.wred:
            raise ValueError("WRED does not go with priority: remove one, a policed queue is not managed by drops")
        if self.priority and self.shape:
            raise ValueError("a shape does not go with priority: remove one, what is shaped waits")
        return self
