"""Described traffic: the class of the intent that a flow belongs to, its scenario, and its samples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from ipaddress import ip_address, ip_network

from qosforge.intent.models import RESERVED_CLASS, Intent, MatchTerm, TrafficClass, Verify
from qosforge.inventory.models import Network, TrafficFlow, TrafficScenario, TrafficSource

MOST_SAMPLES = 20_000
"""Packets of a judged flow that are kept one by one; of a faster flow, one in so many."""

RTP_HEADERS = 40
"""Bytes of every packet of video that are IP, UDP and RTP."""

TCP_HEADERS = 40
"""Bytes of every TCP segment that are IP and TCP, and all of an acknowledgement."""

_PROTOCOLS = {"tcp": 6, "udp": 17}
_UNKNOWN_FIELDS = frozenset(
    {"vlan", "source_mac", "destination_mac", "input_interface", "mpls_experimental", "qos_group"}
)


def flow_names(flow: TrafficFlow) -> list[str]:
    """The names of the flows that are described as one."""
    return [flow.name] if flow.count == 1 else [f"{flow.name}-{number + 1}" for number in range(flow.count)]


def flow_class(intent: Intent, flow: TrafficFlow, network: Network) -> str:
    """The class that the intent gives a flow, the first of those that are described as one, as it leaves its
    station.

    Where the class is divided it is the innermost one that is named; what no child matches stays its parent's.
    A description of traffic tells no VLAN, MAC address, label or input interface: what matches by these takes none.
    """
    return _first_match(intent.classes, flow, network) or RESERVED_CLASS


def flow_classes(intent: Intent, flow: TrafficFlow, network: Network) -> list[str]:
    """The class of each of the flows that are described as one: their source ports differ, so that it may."""
    each = (flow.model_copy(update={"src_port": flow.src_port + number}) for number in range(flow.count))
    return [flow_class(intent, one, network) for one in each]


def _first_match(classes: Sequence[TrafficClass], flow: TrafficFlow, network: Network) -> str | None:
    for entry in classes:
        if entry.match is None:
            continue
        terms = entry.match.alternatives()
        taken = any(_matches(term, flow, network) for term in terms) or not terms
        if taken and not any(_matches(term, flow, network) for term in entry.match.none):
            return _first_match(entry.treatment.children, flow, network) or entry.name
    return None


def _matches(term: MatchTerm, flow: TrafficFlow, network: Network) -> bool:
    return (
        _UNKNOWN_FIELDS.isdisjoint(term.set_fields)
        and (not term.application or flow.application in term.application)
        and (not term.dscp or flow.dscp in term.dscp)
        and (not term.cos or flow.cos in term.cos)
        and (not term.precedence or flow.dscp >> 3 in term.precedence)
        and (not term.protocol or _PROTOCOLS[flow.protocol] in term.protocol)
        and _inside(network, flow.from_, term.source)
        and _inside(network, flow.to, term.destination)
        and _in_range(flow.src_port, term.source_port)
        and _in_range(flow.dst_port, term.destination_port)
    )


def _inside(network: Network, station: str, prefixes: tuple[str, ...]) -> bool:
    if not prefixes:
        return True
    address = ip_address(network.station(station).address)
    return any(address in ip_network(prefix) for prefix in prefixes)


def _in_range(port: int, ranges: tuple[tuple[int, int], ...]) -> bool:
    return not ranges or any(first <= port <= last for first, last in ranges)


def scenario_of(network: Network, check: Verify) -> TrafficScenario | None:
    """The traffic scenario that verifies a pair of stations."""
    pair = (check.from_, check.to)
    return next((s for s in network.traffic if pair in s.between), None)


def sample_every(flow: TrafficFlow, seconds: float) -> int:
    """One packet in how many is kept, so that a flow stays near ``MOST_SAMPLES``."""
    rate = flow.source.rate or 0
    return max(1, round(rate * seconds / (flow.source.ip_bytes * 8) / MOST_SAMPLES))


def packets_of_frame(source: TrafficSource) -> int:
    """Packets that a mean frame of video is cut into; of packets without room for video, one."""
    room = source.ip_bytes - RTP_HEADERS
    return max(1, math.ceil((source.frame_bytes or 0) / room)) if room > 0 else 1


def expected_samples(flow: TrafficFlow, seconds: int) -> int | None:
    """About how many packets a description of traffic has for a verdict, all its flows together.

    ``None`` for TCP, whose packets are as many as the network lets through, and for a trace, which has its own.
    """
    source = flow.source
    if source.kind in ("tcp", "trace"):
        return None
    if source.kind == "video":
        packets = (source.frames_per_second or 0) * seconds * packets_of_frame(source)
    else:
        packets = round((source.rate or 0) * seconds / (source.ip_bytes * 8))
    return flow.count * (packets // sample_every(flow, seconds))
