"""Typed view of this platform's capability data."""

from __future__ import annotations

from qosforge.platforms.capability_data import Bounds, CapabilityData, Fact, Range, Sourced, load


class Queues(Fact[int]):
    """The queues of an output port."""

    priority_levels: int
    thresholds: int


class Policers(Sourced):
    """Bounds of a policer's rate and burst."""

    rate: Bounds
    burst: Bounds


class EarlyDetection(Sourced):
    """How many classes of a port may have it, and per cents of a queue at which drops begin and are certain."""

    classes: int
    curves: dict[str, tuple[int, int]]


class CodePoints(Sourced):
    """The code points of one kind of class."""

    dscp: frozenset[int]


class Catalyst9000(CapabilityData):
    """The data of a switch with UADP."""

    access_list_entries: Fact[int]
    ipv6_lists: Fact[bool]
    queues: Queues
    priority_kbps: Range
    remaining_ratio: Range
    shape: Range
    police: Policers
    name_length: Fact[int]
    values_per_line: Fact[int]
    wred: EarlyDetection
    kinds: dict[str, CodePoints]


CAPABILITIES = load("catalyst_9000", Catalyst9000)
