"""Typed view of this platform's capability data."""

from __future__ import annotations

from qosforge.platforms.capability_data import CapabilityData, Fact, Range, Sourced, load
from qosforge.platforms.ios_switch.policing import PortPolicers


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
    unsupported_dscp_to_cos: Fact[int]
    untrusted_keeps_dscp: Fact[bool]
    acl_port_range: SpelledRange
    acl_protocols: Fact[dict[str, int]]
    acl_masks: Fact[int]
    acl_beside_dscp: Fact[bool]
    acl_masks_of_switch: Fact[int]
    mac_acl_ip: Fact[bool]
    police: dict[str, PortPolicers]
    queue_limit: Fact[int]


CAPABILITIES = load("catalyst_2950", Catalyst2950)

DSCP_TO_COS = tuple(
    dscp >> 3 if dscp in CAPABILITIES.supported_dscp.value else CAPABILITIES.unsupported_dscp_to_cos.value
    for dscp in range(64)
)
"""DSCP to CoS as delivered."""


def enhanced(image: str) -> bool:
    """Whether an image name such as ``12.1EA-EI`` is of the enhanced kind, with class-maps and maps."""
    return CAPABILITIES.enhanced_image.feature in image.upper().split("-")
