"""Typed view of this platform's capability data."""

from __future__ import annotations

import re
from functools import cache

from qosforge.errors import InputError, Place
from qosforge.plan.early_drop import Red, RedProfile
from qosforge.plan.model import Discipline, Queue, Scheduler, Share, ShareUnit
from qosforge.platforms.capability_data import CapabilityData, Fact, Highest, Range, RangeWithDefault, Sourced, load
from qosforge.platforms.releases import is_before, stated_release

_PORT = re.compile(r"(GigabitEthernet|TenGigabitEthernet) \d{1,2}/\d{1,3}")
_KB = 1024


class Shift(Sourced):
    """How far a DSCP is shifted for the number of its queue."""

    shift: int


class PredefinedProfiles(Sourced):
    """Thresholds in KB of WRED profiles by name."""

    profiles: dict[str, tuple[int, int]]


class ProfilesByFamily(Sourced):
    """The profile of each colour by the family of a port."""

    families: dict[str, dict[str, str]]


class Shapers(Sourced):
    """Steps of a shaper's rate in Mb/s, and its burst in KB where none is said."""

    step: int
    default_burst: int


class Force10E300(CapabilityData):
    """The data of an E300."""

    access_list_entries: Fact[int]
    queues: Fact[int]
    strict_queues: Range
    name_limit: Fact[int]
    name_limit_before: Fact[int]
    acl_name_limit: Fact[int]
    acl_name_limit_before: Fact[int]
    dot1p_to_queue: Fact[tuple[int, ...]]
    dscp_to_queue: Shift
    default_percentages: Fact[tuple[int, ...]]
    multicast_percent: Fact[float]
    idle_percent: Fact[int]
    control_percent: Fact[int]
    control_dscps: Fact[tuple[int, ...]]
    control_cos: Fact[tuple[int, ...]]
    queue_limit: Fact[int]
    wred_profiles: PredefinedProfiles
    default_wred: ProfilesByFamily
    yellow_drop_bits: Fact[tuple[int, ...]]
    packet_bytes: Fact[int]
    wred_threshold: Highest
    user_wred_profiles: Fact[int]
    values_per_match: Fact[int]
    entries_per_rule: Range
    meter: Range
    meter_burst: RangeWithDefault
    shape: Shapers
    kbps_since: Fact[str]
    layer3_vlan_since: Fact[str]
    layer2_since: Fact[str]


CAPABILITIES = load("force10_e300", Force10E300)


def name_limit(image: str) -> int:
    """Longest name of a QoS object under a software release such as ``6.5``."""
    return _in_release(image, CAPABILITIES.name_limit_before, CAPABILITIES.name_limit)


def acl_name_limit(image: str) -> int:
    """Longest name of an access list under a software release."""
    return _in_release(image, CAPABILITIES.acl_name_limit_before, CAPABILITIES.acl_name_limit)


def _in_release(image: str, before: Fact[int], since: Fact[int]) -> int:
    """What holds in a release of a fact that changed with one."""
    return (before if _is_before(image, before.until) else since).value


def _is_before(image: str, onset: str) -> bool:
    """Whether an image is of an earlier release; one that states none is taken for the first."""
    return not stated_release(image) or is_before(image, onset)


def since_8(image: str) -> bool:
    """Whether a release has what came with FTOS 8: VLANs in class maps of layer 3."""
    return not _is_before(image, CAPABILITIES.layer3_vlan_since.value)


def has_kbps(image: str) -> bool:
    """Whether a release takes rates in kb/s beside those in Mb/s."""
    return not _is_before(image, CAPABILITIES.kbps_since.value)


def has_layer2(image: str) -> bool:
    """Whether a release has policies of layer 2: class maps by CoS, MAC address and VLAN, and ``trust dot1p``."""
    return not _is_before(image, CAPABILITIES.layer2_since.value)


def family(interface: str, device: str = "") -> str:
    """The family of a port that takes policies: ``GigabitEthernet`` or ``TenGigabitEthernet``.

    Raises:
        InputError: it is no such port.
    """
    match = _PORT.fullmatch(interface)
    if match is None:
        raise InputError(
            f"{interface!r} is not a port that takes QoS policies",
            Place(device=device or None, interface=interface if interface.isprintable() else None),
            "name it like 'GigabitEthernet 0/1'",
        )
    return match[1]


@cache
def dscp_to_queue() -> tuple[int, ...]:
    """The fixed map of ``trust diffserv``: 64 queues."""
    return tuple(dscp >> CAPABILITIES.dscp_to_queue.shift for dscp in range(64))


def dscp_written(dscp: int, queue: int) -> int:
    """The DSCP that leaves where the policy of a queue writes one: the queue's number replaces its first bits."""
    shift = CAPABILITIES.dscp_to_queue.shift
    return queue << shift | dscp & (1 << shift) - 1


@cache
def default_scheduler(strict: int | None) -> Scheduler:
    """What a port without an output policy does, ``strict`` being the device-wide strict queue."""
    queues = tuple(
        Queue(
            number=number,
            priority=number == strict,
            share=Share(unit=ShareUnit.PERCENT, value=value),
            limit_packets=CAPABILITIES.queue_limit.value,
        )
        for number, value in enumerate(CAPABILITIES.default_percentages.value)
    )
    return Scheduler(discipline=Discipline.WFQ, queues=queues)


def default_thresholds(port_family: str) -> dict[str, tuple[int, int]]:
    """Thresholds in KB by colour of the profiles that a family of ports has without a line of its own."""
    names = CAPABILITIES.default_wred.families[port_family]
    return {colour: CAPABILITIES.wred_profiles.profiles[name] for colour, name in names.items()}


def red(thresholds: dict[str, tuple[int, int]], *, coloured: bool) -> Red:
    """Early detection by colour, from thresholds in KB; everything is dropped at the upper one.

    The colour follows the DSCP's drop bits where a port trusts DSCPs, else (``coloured`` is false) every packet is
    green. The device averages without a published weight: the plan takes the momentary length.
    """
    rows = []
    for colour in ("green", "yellow") if coloured else ("green",):
        low, high = thresholds[colour]
        dscps = tuple(d for d in range(64) if not coloured or yellow(d) == (colour == "yellow"))
        rows.append(RedProfile(dscp=dscps, minimum=low * _KB, maximum=high * _KB, denominator=1))
    return Red(by_dscp=True, weight_exponent=0, unit="bytes", profiles=tuple(rows))


def yellow(dscp: int) -> bool:
    """Whether the drop bits of a DSCP make a packet yellow at a port that trusts DSCPs."""
    return dscp & 7 in CAPABILITIES.yellow_drop_bits.value
