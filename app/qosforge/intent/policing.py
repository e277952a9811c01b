"""Token buckets of policers: the actions for conforming, exceeding and violating packets."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from qosforge.intent.base import Cos, Dscp, Duration, IntentModel, Percent, Requirement
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

    ``rate`` or ``percent`` (of the link's rate, below a class of what that is shaped to) and the burst are the
    committed bucket; without a burst it is what the rate brings in 250 ms. With ``peak_rate`` or ``peak_percent``
    the meter has two rates (RFC 2698) and the excess burst is its peak burst; with an excess burst alone it has one
    rate and three colours (RFC 2697). A burst is given in bytes or as a time (``burst_time``), that of a percentage
    always as a time. ``violate`` is what happens beyond the second bucket, the same as ``exceed`` unless given.
    ``direction`` is the side of a device: ``input`` where the class is recognised, ``output`` where it is served.
    """

    rate: Rate | None = None
    percent: Percent | None = None
    burst: Bytes | None = None
    burst_time: Duration | None = None
    peak_rate: Rate | None = None
    peak_percent: Percent | None = None
    excess_burst: Bytes | None = None
    excess_burst_time: Duration | None = None
    conform: Literal["transmit"] | Remark = "transmit"
    exceed: PoliceAction = "drop"
    violate: PoliceAction | None = None
    direction: Literal["input", "output"] = "input"
    prefer: Requirement = False

    @property
    def committed_rate(self) -> int:
        """Bits per second of the committed bucket of a policer that is no percentage."""
        assert self.rate is not None
        return self.rate

    @property
    def burst_bytes(self) -> int:
        """The burst as given, else 250 ms of the rate, one packet at least; of a policer that is no percentage."""
        return self.burst if self.burst is not None else burst_in(self.committed_rate, self.burst_time)

    @property
    def excess_bytes(self) -> int | None:
        """The second bucket in bytes; None where the meter has one bucket."""
        if self.excess_burst is not None or self.buckets == 1:
            return self.excess_burst
        return burst_in(self.peak_rate or self.committed_rate, self.excess_burst_time)

    @property
    def buckets(self) -> int:
        """How many buckets the meter has."""
        second = (self.peak_rate, self.peak_percent, self.excess_burst, self.excess_burst_time)
        return 1 if second == (None,) * 4 else 2

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if (self.rate is None) == (self.percent is None):
            raise ValueError("a policer has one committed rate: give exactly one of rate and percent")
        if self.percent is not None and self.peak_rate is not None:
            raise ValueError("the rate is a percentage and the peak is not: give peak_percent")
        if self.percent is None and self.peak_percent is not None:
            raise ValueError("the peak is a percentage and the rate is not: give peak_rate")
        if self.percent is not None and (self.burst is not None or self.excess_burst is not None):
            raise ValueError("bursts of a percentage are times: give burst_time and excess_burst_time")
        for size, time, names in (
            (self.burst, self.burst_time, "burst and burst_time"),
            (self.excess_burst, self.excess_burst_time, "excess_burst and excess_burst_time"),
        ):
            if size is not None and time is not None:
                raise ValueError(f"{names} are one bucket: give one of them")
        if self.peak_rate is not None and self.rate is not None and self.peak_rate < self.rate:
            raise ValueError("the peak_rate is below the rate: give it at least the committed rate (RFC 2698)")
        if self.peak_percent is not None and self.percent is not None and self.peak_percent < self.percent:
            raise ValueError("the peak_percent is below the percent: give it at least that much (RFC 2698)")
        if self.violate is not None and self.buckets == 1:
            raise ValueError("violate without a second bucket: give peak_rate or excess_burst, or use exceed alone")
        if self.exceed == "drop" and self.violate not in (None, "drop"):
            raise ValueError("what violates would be sent while what exceeds is dropped: drop both, or send more")
        return self


def burst_in(rate: int, time: float | None = None) -> int:
    """Bytes that a rate (b/s) brings in a time, without one in 250 ms but a packet at least."""
    return max(1500, rate // 32) if time is None else max(1, int(round(rate * time / 8, 6)))
