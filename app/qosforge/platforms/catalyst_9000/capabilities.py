"""Typed view of this platform's capability data."""

from __future__ import annotations

from qosforge.platforms.capability_data import CapabilityData, Fact, Range, Sourced, load
from qosforge.platforms.mqc.policers import PolicerBounds
from qosforge.platforms.releases import is_before, stated_release


class Queues(Fact[int]):
    """The queues of an output port."""

    priority_levels: int
    thresholds: int


class EarlyDetection(Sourced):
    """How many classes of a port may have it, and per cents of a queue at which drops begin and are certain."""

    classes: int
    curves: dict[str, tuple[int, int]]


class CodePoints(Sourced):
    """The code points of one kind of class."""

    dscp: frozenset[int]


class Since(Sourced):
    """The first release that has a feature; ``classic`` is the IOS that it is called by in its configuration."""

    release: str
    classic: str

    def has(self, image: str) -> bool:
        """Whether an image has it; one that names no release is a newer one."""
        classic = stated_release(image)[:1] == stated_release(self.classic)[:1]
        return not is_before(image, self.classic if classic else self.release)


class Catalyst9000(CapabilityData):
    """The data of a switch with UADP."""

    access_list_entries: Fact[int]
    ipv6_lists: Fact[bool]
    empty_classes: Since
    queues: Queues
    priority_kbps: Range
    shape: Range
    police: PolicerBounds
    policed_marks: Fact[str]
    name_length: Fact[int]
    values_per_line: Fact[int]
    wred: EarlyDetection
    kinds: dict[str, CodePoints]


CAPABILITIES = load("catalyst_9000", Catalyst9000)
