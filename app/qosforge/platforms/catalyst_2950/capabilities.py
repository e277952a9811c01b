"""Typed view of this platform's capability data."""

from __future__ import annotations

from functools import cache

from qosforge.platforms.capability_data import Bounds, CapabilityData, Fact, Range, Sourced, load
from qosforge.platforms.ios_switch.policing import PolicerRange


class PortPolicers(Sourced):
    """The policers of a kind of port; bursts in bytes."""

    rate: Bounds
    bursts: tuple[int, ...]
    per_port: int


class SpelledRange(Fact[bool]):
    """Whether lists take ranges of ports, and up to how many ports these are written port by port."""

    spelled_out: int


class EnhancedImage(Sourced):
    """What the name of an enhanced image has in it."""

    feature: str


class Catalyst2950(CapabilityData):
    """The data of a 2950."""

    access_list_entries: Fact[int]
    supported_dscp: Fact[frozenset[int]]
    enhanced_image: EnhancedImage
    queues: Fact[int]
    expedite_queue: Fact[int]
    cos_to_queue: Fact[tuple[int, ...]]
    weight: Range
    unsupported_dscp_to_cos: Fact[str]
    acl_port_range: SpelledRange
    acl_masks: Fact[int]
    mac_acl_ip: Fact[bool]
    police: dict[str, PortPolicers]
    queue_limit: Fact[int]


CAPABILITIES = load("catalyst_2950", Catalyst2950)


@cache
def supported_dscp() -> frozenset[int]:
    """The DSCPs that the device knows."""
    return frozenset(CAPABILITIES.supported_dscp.value)


@cache
def default_cos_to_queue() -> tuple[int, ...]:
    """Queue of every CoS as delivered."""
    return tuple(CAPABILITIES.cos_to_queue.value)


@cache
def policer_range(ports: str) -> PolicerRange:
    """The policers of a kind of port."""
    data = CAPABILITIES.police[ports]
    return PolicerRange(
        ports=ports,
        lowest=data.rate.minimum,
        highest=data.rate.maximum,
        step=data.rate.step,
        bursts=tuple(data.bursts),
        any_burst=False,
        per_port=data.per_port,
    )


def enhanced(image: str) -> bool:
    """Whether an image name such as ``12.1EA-EI`` is of the enhanced kind, with class-maps and maps."""
    return CAPABILITIES.enhanced_image.feature in image.upper().split("-")
