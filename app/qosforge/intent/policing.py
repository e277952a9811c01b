"""Token buckets of policers: the actions for conforming, exceeding and violating packets."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from qosforge.intent.base import Cos, Dscp, IntentModel, Requirement
from qosforge.intent.queue_size import Bytes
from qosforge.units import Rate

Precedence = Annotated[int, Field(ge=0, le=7, strict=True)]


class Remark(IntentModel):
    """The packet is sent with another mark: exactly one of a DSCP (``remark``), a precedence or a CoS."""

    remark: Dscp | None = None
    precedence: Precedence | None = None
    cos: Cos | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if sum(v is not None for v in (self.remark, self.precedence, self.cos)) != 1:
            raise ValueError("a remark has one mark: give exactly one of remark (a dscp), precedence and cos")
        return self

    @property
    def code_point(self) -> int | None:
        """The DSCP that the packet is sent with, a precedence as its class selector; None where it is a CoS."""
        return self.remark if self.precedence is None else 8 * self.precedence


PoliceAction = Literal["drop", "transmit"] | Remark


class Police(IntentModel):
    """A token bucket of one rate, or two: what exceeds it is dropped or remarked.

    ``rate`` and ``burst`` are the committed bucket; without a burst it is what the rate brings in 250 ms. With
    ``peak_rate`` the meter has two rates (RFC 2698) and ``excess_burst`` is its peak burst; with ``excess_burst``
    alone it has one rate and three colours (RFC 2697). ``violate`` is what happens beyond the second bucket, the
    same as ``exceed`` unless given. ``direction`` is the side of a device: ``input`` where the class is recognised,
    ``output`` where it is scheduled.
    """

    rate: Rate
    burst: Bytes | None = None
    peak_rate: Rate | None = None
    excess_burst: Bytes | None = None
    conform: Literal["transmit"] | Remark = "transmit"
    exceed: PoliceAction = "drop"
    violate: PoliceAction | None = None
    direction: Literal["input", "output"] = "input"
    prefer: Requirement = False

    @property
    def burst_bytes(self) -> int:
        """The burst as given, else 250 ms of the rate (IOS: a 32nd of the rate in bytes), one packet at least."""
        return self.burst if self.burst is not None else max(1500, self.rate // 32)

    @property
    def excess_bytes(self) -> int | None:
        """The second bucket in bytes; None where the meter has one bucket."""
        if self.excess_burst is not None:
            return self.excess_burst
        return max(1500, self.peak_rate // 32) if self.peak_rate is not None else None

    @property
    def buckets(self) -> int:
        """How many buckets the meter has."""
        return 1 if self.excess_bytes is None else 2

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.peak_rate is not None and self.peak_rate < self.rate:
            raise ValueError("the peak_rate is below the rate: give it at least the committed rate (RFC 2698)")
        if self.violate is not None and self.buckets == 1:
            raise ValueError("violate without a second bucket: give peak_rate or excess_burst, or use exceed alone")
        if self.exceed == "drop" and self.violate not in (None, "drop"):
            raise ValueError("what violates would be sent while what exceeds is dropped: drop both, or send more")
        return self
