"""Typed view of this platform's capability data."""

from __future__ import annotations

from functools import cache

from qosforge.platforms.capability_data import CapabilityData, Fact, Highest, Range, RangeWithDefault, Sourced, load
from qosforge.platforms.ios_switch.policing import PortPolicers
from qosforge.platforms.releases import is_before, stated_release


class DeliveredQueueSet(Sourced):
    """A queue set as delivered, queue by queue: per cent of the buffers, and thresholds in per cent of them."""

    buffers: tuple[int, ...]
    thresholds: tuple[tuple[int, int, int, int], ...]


class ThresholdRange(Range):
    """Thresholds in per cent, and what of ours is left to the queue alone."""

    reserved: int


class DeliveredInputQueues(Sourced):
    """The ingress queues as delivered; ``cos`` and ``dscp`` are the marks in queue 2."""

    weights: tuple[int, int]
    buffers: tuple[int, int]
    priority_queue: int
    priority_percent: int
    highest_priority_percent: int
    thresholds: tuple[tuple[int, int], ...]
    cos: tuple[int, ...]
    dscp: tuple[int, ...]


class Onset(Sourced):
    """The release from which images have something."""

    since: str


class Catalyst2970(CapabilityData):
    """The data of a 2970."""

    access_list_entries: Fact[int]
    queues: Fact[int]
    expedite_queue: Fact[int]
    weight: RangeWithDefault
    shape_default: Fact[tuple[int, ...]]
    values_per_line: Fact[int]
    cos_to_queue: Fact[tuple[int, ...]]
    dscp_to_queue: Fact[dict[int, tuple[int, ...]]]
    port_buffers: Fact[int]
    own_queue_set: Fact[int]
    queue_set: DeliveredQueueSet
    threshold: ThresholdRange
    packet_bytes: Fact[int]
    tail_drop_percent: Fact[dict[str, int]]
    input_queues: DeliveredInputQueues
    port_limit: Range
    port_limit_step: Fact[int]
    shape_weight: Highest
    mac_acl_ip: Fact[bool]
    police: PortPolicers
    set_dscp: Onset


CAPABILITIES = load("catalyst_2970", Catalyst2970)


_NUMBERS = 3
"""Numbers of a whole release, such as 12.2(25)."""


def assumed_release(image: str) -> str | None:
    """The first release that an image whose name states none is taken for; None where it states one."""
    return None if len(stated_release(image)) == _NUMBERS else CAPABILITIES.set_dscp.since


def spells_ip(image: str) -> bool:
    """Whether an image writes ``set ip dscp``, which later ones show as ``set dscp``; see `assumed_release`."""
    return is_before(assumed_release(image) or image, CAPABILITIES.set_dscp.since)


@cache
def default_dscp_to_queue() -> tuple[int, ...]:
    """Egress queue of every DSCP as delivered."""
    table = [0] * 64
    for queue, bounds in CAPABILITIES.dscp_to_queue.value.items():
        for first, last in zip(bounds[::2], bounds[1::2], strict=True):
            table[first : last + 1] = [queue] * (last + 1 - first)
    return tuple(table)
