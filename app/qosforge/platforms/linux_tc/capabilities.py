"""Typed view of this platform's capability data."""

from __future__ import annotations

from napalm_linux_tc.buckets import readable

from qosforge.platforms.capability_data import CapabilityData, Fact, Range, RangeWithDefault, load


class LinuxTc(CapabilityData):
    """The data of a Linux router."""

    rules_of_class: Fact[int]
    rate: Range
    burst: Range
    quantum: Range
    turn: Range
    hfsc_rate: Range
    levels: Fact[int]
    queue_limit: RangeWithDefault
    queue_bytes: Range
    red_threshold: Range
    full_packet: Fact[int]
    red_packet: Fact[int]
    red_denominator: Range
    red_default_denominator: Fact[int]
    police_rate: Range
    police_burst: Range


CAPABILITIES = load("linux_tc", LinuxTc)

_MEGABIT, _GIGABIT = 1_000_000, 1_000_000_000


def held_rate(rate: float) -> int:
    """The greatest rate (b/s) up to another one that can be read back: whole kb/s, from 1 Gb/s on whole Mb/s."""
    step = _MEGABIT if rate >= _GIGABIT else CAPABILITIES.rate.step
    return max(int(rate) // step * step, CAPABILITIES.rate.minimum)


def held_burst(size: float, rate: int) -> int:
    """The least bucket (bytes) of a rate (b/s) from another size on that can be read back."""
    return int(readable(max(size, CAPABILITIES.burst.minimum), rate))
