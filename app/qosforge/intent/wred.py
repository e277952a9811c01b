"""Weighted random early detection, and limits of queues."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from qosforge.dscp import dscp_label
from qosforge.intent.base import Dscp, Duration, Flag, IntentModel, Many, Percent, Requirement
from qosforge.intent.policing import Precedence
from qosforge.intent.queue_size import Bytes, QueueSizeText
from qosforge.units import Ratio

Colour = Literal["green", "yellow", "red"]
"""Colour of a packet after metering (RFC 2697): low, medium and high drop precedence."""


def _some_probability(value: float) -> float:
    if not 0 < value <= 1:
        raise ValueError(f"a drop probability of {value * 100:g} % drops nothing: give it above 0 %, at most 100 %")
    return value


class WredProfile(IntentModel):
    """One curve: drops begin at ``minimum``, reach ``probability`` at ``maximum``, all is dropped beyond.

    It holds for the given DSCPs, precedences or colour, exactly one kind of them.
    """

    dscp: Many[Dscp] = ()
    precedence: Many[Precedence] = ()
    colour: Colour | None = None
    minimum: QueueSizeText
    maximum: QueueSizeText
    probability: Annotated[Ratio, AfterValidator(_some_probability)] = 0.1

    @model_validator(mode="after")
    def _sound(self) -> Self:
        if sum(map(bool, (self.dscp, self.precedence, self.colour))) != 1:
            raise ValueError("a profile is for one kind of mark: give exactly one of dscp, precedence and colour")
        if self.minimum.unit != self.maximum.unit:
            raise ValueError("minimum and maximum are in different units: give both in one")
        if self.minimum.value > self.maximum.value:
            raise ValueError("the minimum is above the maximum: swap them")
        return self


class Wred(IntentModel):
    """Weighted random early detection; the platform's own curves where no ``profiles`` are given.

    ``weight_exponent`` n averages the queue with weight 2^-n; ``ecn`` marks instead of dropping (RFC 3168).
    """

    profiles: tuple[WredProfile, ...] = ()
    weight_exponent: Annotated[int, Field(ge=1, le=16, strict=True)] | None = None
    ecn: Flag = False
    prefer: Requirement = True

    @model_validator(mode="after")
    def _apart(self) -> Self:
        kinds = {kind for p in self.profiles for kind in ("dscp", "precedence", "colour") if getattr(p, kind)}
        if len(kinds) > 1:
            raise ValueError(
                f"profiles by {' and '.join(sorted(kinds))}: a queue looks at one kind of mark, use one"
            )
        marks = [m for p in self.profiles for m in (*p.dscp, *p.precedence, *([p.colour] if p.colour else ()))]
        twice = next((m for m in marks if marks.count(m) > 1), None)
        if twice is not None:
            raise ValueError(f"two profiles are for {twice}: keep one of them")
        return self


class FairQueue(IntentModel):
    """Flows of a class are served in turn, each from a queue of its own; ``flows`` are those told apart."""

    flows: Literal[16, 32, 64, 128, 256, 512, 1024, 2048, 4096] | None = None
    prefer: Requirement = False


class TailThreshold(IntentModel):
    """Packets with these DSCPs are dropped once the queue holds so much of what it can (weighted tail drop)."""

    dscp: Annotated[Many[Dscp], Field(min_length=1)]
    percent: Percent


class QueueLimit(IntentModel):
    """How much may wait, in exactly one unit; the rest is dropped at the tail.

    ``percent`` is of what the queue can hold, ``thresholds`` say it by DSCP: others wait until the queue is full.
    """

    packets: Annotated[int, Field(ge=1, le=65535, strict=True)] | None = None
    bytes: Bytes | None = None
    time: Duration | None = None
    percent: Percent | None = None
    thresholds: tuple[TailThreshold, ...] = ()
    prefer: Requirement = False

    @model_validator(mode="after")
    def _one(self) -> Self:
        units = (self.packets, self.bytes, self.time, self.percent, self.thresholds or None)
        if sum(v is not None for v in units) != 1:
            names = "packets, bytes, time, percent and thresholds"
            raise ValueError(f"a queue limit has one unit: give exactly one of {names}")
        marks = [point for threshold in self.thresholds for point in threshold.dscp]
        twice = next((point for point in marks if marks.count(point) > 1), None)
        if twice is not None:
            raise ValueError(f"two thresholds are for dscp {dscp_label(twice)}: keep one of them")
        return self


class Buffers(IntentModel):
    """The part of a port's buffers that the class's queue may fill."""

    percent: Percent
    prefer: Requirement = False
