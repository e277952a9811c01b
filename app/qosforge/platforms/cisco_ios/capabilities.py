"""Typed view of this platform's capability data."""

from __future__ import annotations

from qosforge.platforms.capability_data import (
    Bounds,
    CapabilityData,
    Fact,
    Range,
    Sourced,
    load,
)
from qosforge.platforms.mqc.policers import PolicerBounds


class ImageFeature(Sourced):
    """A feature and the release that brought it; ``train`` is the letter of the only train that has it."""

    train: str = ""


class PolicyDepth(Fact[int]):
    """How deep policies stand inside each other, and with HQF."""

    hqf: int


class Factor(Sourced):
    """How many times its rate a class gets that stands in for a priority class."""

    factor: int


class QueueLimits(Range):
    """Lengths of a class's queue: ``value`` is its own, ``maximum_hqf`` the greatest with HQF."""

    value: int
    maximum_hqf: int


class Highest(Sourced):
    """The greatest value that the device takes."""

    maximum: int


class Setting(Bounds):
    """What a detector is set to where nothing is said, within its bounds."""

    value: int


class MinimumByDscp(Fact[dict[int, int]]):
    """Where drops begin by code point, and for ``other`` ones."""

    source: str = ""
    other: int


class EarlyDetection(Sourced):
    """The device's own detector, in packets."""

    weight_exponent: Setting
    denominator: Setting
    threshold: Bounds
    threshold_in_units: Bounds
    maximum: int
    minimum_by_precedence: tuple[int, ...]
    minimum_by_dscp: MinimumByDscp


class FragmentDelay(Range):
    """Milliseconds that a fragment takes; ``interleaved`` where the device interleaves and none is configured."""

    interleaved: int


class PartOfRate(Bounds):
    """A burst that is no less than a part of the rate."""

    rate_part: int


class ShaperBurst(Range, PartOfRate):
    """Bounds of what a shaper sends at once, and the part of the rate that is ours."""


class ListNumbers(Sourced):
    """The numbers of access lists that are ours."""

    source: str = ""
    first: int
    last: int


class CommittedAccessRate(Sourced):
    """Bounds of CAR's rates and bursts."""

    rate: Bounds
    burst: PartOfRate
    access_lists: ListNumbers


class Usual(Bounds):
    """Bounds, and what holds where nothing is said."""

    default: int


class CommittedBurst(Usual, PartOfRate):
    """Bounds of a shaper's burst, its own, and the part of the rate that is ours."""


class FrameRelay(Sourced):
    """Bounds of what a map class says."""

    cir: Usual
    burst: CommittedBurst
    fragment: Bounds


class NbarWords(Sourced):
    """What the device's inspection calls applications, from the release on that brought these words."""

    words: dict[str, str]


class HeaderWords(Sourced):
    """What the device's inspection tells by header fields alone: protocols of IP, and a port at either end."""

    protocols: dict[str, int]
    udp_ports: dict[str, int]


class CiscoIos(CapabilityData):
    """The data of a router of the 2600 class."""

    assumed_release: Fact[dict[str, str]]
    features: dict[str, ImageFeature]
    max_reserved_percent: Fact[int]
    max_reserved_percent_hqf: Fact[int]
    remaining_ratio_most: Fact[int]
    max_reserved_nested_percent: Fact[int]
    policy_depth: PolicyDepth
    priority_fallback: Factor
    priority_levels: Fact[int]
    priority_kbps: Range
    bandwidth_kbps: Range
    name_length: Fact[int]
    values_per_match: Fact[dict[str, int]]
    access_list_entries: Fact[int]
    class_queue_limit: QueueLimits
    police: PolicerBounds
    police_burst_ms: Range
    shape_bps: Range
    shape_bps_hqf: Highest
    shape_burst: ShaperBurst
    shape_burst_ms: Range
    priority_burst: Range
    packet_bytes: Fact[int]
    uncounted_bytes: Fact[int]
    wfq_discard_threshold: Fact[int]
    hold_queue: Fact[int]
    default_bandwidth_kbps: dict[str, int]
    wfq_below_kbps: Fact[int]
    red: EarlyDetection
    fragment_delay_ms: FragmentDelay
    fragment_bytes_minimum: Fact[int]
    car: CommittedAccessRate
    frame_relay: FrameRelay
    atm_burst: Fact[int]
    ip_mtu_minimum: Fact[int]
    ip_mtu_whole: Fact[int]
    transmit_ring: Range
    nbar_words: dict[str, NbarWords]
    nbar_headers: HeaderWords


CAPABILITIES = load("cisco_ios", CiscoIos)


def default_bandwidth(interface: str) -> int | None:
    """The ``bandwidth`` in kb/s of an interface that states none (the device does not print it)."""
    return CAPABILITIES.default_bandwidth_kbps.get(interface.rstrip("0123456789/.:"))


def since(feature: str) -> str:
    """The release that brought a feature; empty where no release lacks it."""
    known = CAPABILITIES.features.get(feature)
    return known.since if known else ""
