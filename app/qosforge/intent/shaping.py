"""Shapers: what exceeds their rate waits."""

from __future__ import annotations

from typing import Self

from pydantic import model_validator

from qosforge.intent.base import Duration, IntentModel, Percent, Requirement
from qosforge.intent.queue_size import Bytes, BytesOrNone
from qosforge.units import Rate


class Shape(IntentModel):
    """What exceeds the rate waits.

    ``rate`` or ``percent`` (of the link's rate, below a class of what that is shaped to) is what is sent at most.
    ``burst`` is the committed burst, what the bucket is filled with at a time, and ``excess_burst`` what may be
    sent beyond it after an idle time; both in bytes, or as times.
    """

    rate: Rate | None = None
    percent: Percent | None = None
    burst: Bytes | None = None
    burst_time: Duration | None = None
    excess_burst: BytesOrNone | None = None
    excess_burst_time: Duration | None = None
    prefer: Requirement = False

    def rate_of(self, link: int) -> int:
        """Bits per second that are sent at most, where ``link`` (b/s) is what a percentage is of."""
        if self.rate is not None:
            return self.rate
        assert self.percent is not None
        return max(1, link * self.percent // 100)

    @property
    def states_bursts(self) -> bool:
        """Whether bursts are given."""
        return self.burst is not None or self.burst_time is not None

    @model_validator(mode="after")
    def _sound(self) -> Self:
        if (self.rate is None) == (self.percent is None):
            raise ValueError("a shaper has one rate: give exactly one of rate and percent")
        if self.percent is not None and (self.burst is not None or self.excess_burst is not None):
            raise ValueError("bursts of a percentage are times: give burst_time and excess_burst_time")
        if self.percent is None and (self.burst_time is not None or self.excess_burst_time is not None):
            raise ValueError("bursts as times are those of a percentage: give burst and excess_burst in bytes")
        if (self.excess_burst is not None or self.excess_burst_time is not None) and not self.states_bursts:
            raise ValueError("an excess burst without the burst that it exceeds: give both")
        return self
