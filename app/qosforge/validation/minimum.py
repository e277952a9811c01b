"""The least delay of a packet on links, as they are configured and as an intent could configure them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from qosforge.inventory.models import Framing, Link, Network, Port
from qosforge.plan.request import Feature
from qosforge.platforms.base import installed, platform
from qosforge.validation.context import ValidationContext
from qosforge.validation.framing import frame_bytes
from qosforge.validation.paths import links

IP_HEADER = 20
_FRAGMENT_UNIT = 8
"""Bytes that the payload of an IP fragment is a multiple of (RFC 791)."""
_LEAST_MTU = 68
"""IP bytes that every link takes whole (RFC 791), and the least that a device is set to."""
_UNCOMPRESSED = frozenset({Framing.ETHERNET, Framing.ATM})
"""Framings that have no header compression."""


@dataclass(frozen=True)
class ProbePacket:
    """A packet of ``ip_bytes``; ``compressible`` where its headers are of RTP."""

    ip_bytes: int
    compressible: bool = True


@dataclass(frozen=True)
class LinkHop:
    """A link and the port that sends into it: whether it compresses headers, and the largest packet that it does
    not cut into IP fragments."""

    link: Link
    port: Port
    compressed: bool = False
    mtu: int | None = None


@dataclass(frozen=True)
class LinkOption:
    """What an intent could ask for: the ``key`` as it is written, the ports that lack it, and the seconds that the
    links take then."""

    key: str
    ports: tuple[Port, ...]
    seconds: float


def configured(context: ValidationContext, source: str, target: str) -> tuple[LinkHop, ...]:
    """The links between two stations as they are compiled, or held where the intent leaves a device alone.

    Raises:
        KeyError: a station is unknown.
        ValueError: there is no path.
    """
    found = []
    for link, port in links(context.compilation.network, source, target):
        plan = context.interface(port)
        efficiency = plan.efficiency if plan is not None else None
        found.append(
            LinkHop(
                link,
                port,
                compressed=efficiency is not None and efficiency.header_compression,
                mtu=efficiency.ip_mtu if efficiency is not None else None,
            )
        )
    return tuple(found)


def lone_delay(ways: Sequence[LinkHop], packet: ProbePacket) -> float:
    """Seconds from the first bit sent to the last bit received of a packet that is alone in the network.

    Every device stores and forwards. IP fragments (RFC 791) stay cut up to the receiver: one is sent while the next
    is received. Compressed headers are at their best (RFC 2508).
    """
    parts = [(0.0, packet.ip_bytes)]
    for way in ways:
        free, sent = 0.0, []
        for arrived, size in parts:
            for piece in _cut(size, way.mtu):
                compressed = way.compressed and packet.compressible and piece == packet.ip_bytes
                frame = frame_bytes(way.link, piece, compressed=compressed)
                free = max(arrived, free) + 8 * frame / way.link.rate
                sent.append((free + way.link.delay, piece))
        parts = sent
    return parts[-1][0]


def _cut(size: int, mtu: int | None) -> list[int]:
    """IP bytes of the fragments of a packet."""
    if mtu is None or size <= mtu:
        return [size]
    room = max((mtu - IP_HEADER) // _FRAGMENT_UNIT, 1) * _FRAGMENT_UNIT
    whole, rest = divmod(size - IP_HEADER, room)
    return [room + IP_HEADER] * whole + ([rest + IP_HEADER] if rest else [])


def options(
    context: ValidationContext, ways: Sequence[LinkHop], packets: Sequence[ProbePacket]
) -> Iterator[LinkOption]:
    """What an intent could ask for along a way to lower the least delay of a packet, whatever it asks for now.

    Header compression wherever both ends have it, and fragments by a smaller IP MTU, which later links send while
    earlier ones still receive; fragments that the next device puts together save a lone packet nothing, and no
    other key of an intent touches one.
    """
    network = context.compilation.network
    uncut = [replace(way, mtu=None) for way in ways]
    both = [_compresses(network, way) for way in ways]
    compressed = [replace(way, compressed=way.compressed or able) for way, able in zip(uncut, both, strict=True)]
    lacking = tuple(way.port for way, able in zip(ways, both, strict=True) if able and not way.compressed)
    if lacking and any(packet.compressible for packet in packets):
        yield LinkOption("header_compression: rtp", lacking, _least(compressed, packets))
    cutting = [way.port for way in ways if _has(network, way.port[0], Feature.FRAGMENTS)]
    found = [
        LinkOption(
            f"fragment: {{size: {mtu} B, by: ip-mtu}}",
            tuple(cutting),
            _least(_with_mtu(uncut, cutting, mtu), packets),
        )
        for mtu in _sizes(packets)
        if cutting
    ]
    if found:
        yield min(found, key=lambda option: option.seconds)


def _least(ways: Sequence[LinkHop], packets: Sequence[ProbePacket]) -> float:
    return min((lone_delay(ways, packet) for packet in packets), default=math.inf)


def _with_mtu(ways: Sequence[LinkHop], ports: Sequence[Port], mtu: int) -> list[LinkHop]:
    return [replace(way, mtu=mtu) if way.port in ports else way for way in ways]


def _sizes(packets: Sequence[ProbePacket]) -> list[int]:
    """The MTUs that cut the packets into equal parts, as many as there can be."""
    found = set()
    for packet in packets:
        payload = packet.ip_bytes - IP_HEADER
        for parts in range(2, payload // (_LEAST_MTU - IP_HEADER) + 2):
            room = math.ceil(payload / parts / _FRAGMENT_UNIT) * _FRAGMENT_UNIT
            found.add(max(room + IP_HEADER, _LEAST_MTU))
    return sorted(found)


def _compresses(network: Network, way: LinkHop) -> bool:
    """Whether both ends of a link could compress headers on it."""
    if way.link.framing in _UNCOMPRESSED:
        return False
    ends = (way.link.a[0], way.link.b[0])
    return all(_has(network, name, Feature.HEADER_COMPRESSION) for name in ends)


def _has(network: Network, name: str, feature: Feature) -> bool:
    device = next((each for each in network.devices if each.name == name), None)
    return (
        device is not None
        and device.platform in installed()
        and feature in platform(device.platform, device.name).features
    )
