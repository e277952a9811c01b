"""Both directions of the paths that an intent verifies, and the packets of a class that go there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from qosforge.intent.models import Verify
from qosforge.inventory.models import Station
from qosforge.plan.model import Discipline, System
from qosforge.validation.context import ValidationContext
from qosforge.validation.packets import Packet, enter, leave
from qosforge.validation.paths import Hop, hops
from qosforge.validation.samples import Level, class_of, packets_of

UNCLASSIFIED = (Discipline.FIFO, Discipline.FLOW_WFQ)
"""Disciplines that tell no classes apart."""
_TCP = 6
"""Protocol whose flows are answered by packets with both ports in each other's place (RFC 9293)."""


@dataclass(frozen=True)
class Way:
    """One direction of a path: the devices from one station to another; ``back`` against the direction verified."""

    source: Station
    target: Station
    hops: tuple[Hop, ...]
    back: bool = False

    def __str__(self) -> str:
        return f"from {self.source.name} to {self.target.name}"


class Passage(NamedTuple):
    """A packet at one device of a way: as it comes, after the input and as it leaves.

    ``system`` is none where nothing is known of the device: the packet then passes as it came.
    """

    hop: Hop
    system: System | None
    came: Packet
    packet: Packet
    left: Packet


def ways(context: ValidationContext, check: Verify) -> tuple[Way, ...]:
    """Both directions of a path; none where there is no path, which ``check_verification`` says.

    "Two-way differentiation is necessary" (INFN-FNAL): what answers a class must be served as it is.
    """
    network = context.compilation.network
    try:
        there, back = hops(network, check.from_, check.to), hops(network, check.to, check.from_)
        source, target = network.station(check.from_), network.station(check.to)
    except (KeyError, ValueError):
        return ()
    return Way(source, target, there), Way(target, source, back, back=True)


def packets_on(context: ValidationContext, way: Way, levels: tuple[Level, ...]) -> Iterator[Packet]:
    """Every kind of packet of a class that goes a way.

    In the return direction these are the answers to its TCP flows, where the intent puts them into the class, and
    of other protocols what the intent puts into the class there.
    """
    own = packets_of(context, levels, way.source, way.target)
    if not way.back:
        yield from own
        return
    yield from (packet for packet in own if packet.protocol != _TCP)
    yield from (answer for answer in answers(context, way, levels) if _belongs(levels, answer))


def answers(context: ValidationContext, way: Way, levels: tuple[Level, ...]) -> Iterator[Packet]:
    """What goes back for the TCP packets of a class: addresses and ports are in each other's place."""
    for packet in packets_of(context, levels, way.target, way.source):
        if packet.protocol == _TCP:
            yield packet._replace(
                source=packet.destination,
                destination=packet.source,
                port=packet.source_port,
                source_port=packet.port,
            )


def unanswered(context: ValidationContext, way: Way, levels: tuple[Level, ...]) -> tuple[Packet, ...]:
    """Answers to TCP packets of a class that the intent does not put into it."""
    if not way.back:
        return ()
    return tuple(answer for answer in answers(context, way, levels) if not _belongs(levels, answer))


def _belongs(levels: tuple[Level, ...], packet: Packet) -> bool:
    return all(class_of(classes, packet) is entry for classes, entry in levels)


def passages(context: ValidationContext, way: Way, packet: Packet) -> Iterator[Passage]:
    """A packet at each device of a way, by the compiled plans, or by what a device holds that has none."""
    for hop in way.hops:
        passage = context.once(("passage", hop, packet), partial(_passage, context, hop, packet))
        yield passage
        packet = passage.left


def _passage(context: ValidationContext, hop: Hop, came: Packet) -> Passage:
    plan = context.plan(hop.device)
    if plan is None:
        return Passage(hop, None, came, came, came)
    here, there = context.interface(hop.entry), context.interface(hop.exit)
    packet = came if here is None else enter(plan.system, here.ingress, came, tagged=hop.tagged)
    left = packet if there is None else leave(there.egress.dividing, packet)
    return Passage(hop, plan.system, came, packet, left)
