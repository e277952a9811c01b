"""Check that the policers of priority queues let the bursts of their classes through."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from qosforge.compiler.compile import CompiledDevice
from qosforge.findings import Finding
from qosforge.inventory.models import Framing, Link, Port
from qosforge.note import note
from qosforge.plan.model import Efficiency, InterfacePlan, Queue
from qosforge.tester.scenario.schedulers import leaf_queues, port_service, priority_bursts, twin_scheduler
from qosforge.validation.context import ValidationContext, class_at
from qosforge.validation.framing import OVERHEAD, frame_bytes
from qosforge.validation.paths import links

FULL_PACKET = 1500
"""IP bytes of the largest packet of a class whose traffic nobody describes (the MTU of Ethernet)."""

UDP_CHECKSUM = 2
"""Bytes of a compressed header beyond the least, with the UDP checksum that most senders give (RFC 2508)."""
MULTILINK = 4
"""Bytes of a multilink header with long sequence numbers (RFC 1990), which packets beside the bundle lack."""


@dataclass(frozen=True)
class _Policed:
    """A policed priority queue, its burst, and the largest packet of its class: IP bytes, and those of its frame.

    ``described``: traffic of the inventory sends such packets to it.
    """

    port: Port
    name: str
    burst: int
    packet: int
    frame: int
    described: bool


def check_bursts(context: ValidationContext) -> Iterator[Finding]:
    """``priority-burst-below-packet``: a policed priority queue's burst is smaller than a packet of its class.

    A token bucket never holds more than its burst: while packets wait at the port, a larger packet does not conform
    whenever it comes. A warning at every interface that described traffic sends such packets to; information, once
    for a class, where it could: of the packets that the class has elsewhere, full ones where none are described.
    """
    queues: dict[str, list[_Policed]] = {}
    for queue in _with_packets(context):
        queues.setdefault(queue.name, []).append(queue)
    for of_class in queues.values():
        # What the intent gives as a burst holds at all interfaces alike.
        needed = max(queue.frame for queue in of_class)
        tight = [queue for queue in of_class if queue.frame > queue.burst]
        for queue in tight:
            if queue.described:
                yield _finding(context, queue, needed)
        if perhaps := [queue for queue in tight if not queue.described]:
            first = min(perhaps, key=lambda queue: queue.burst)
            if len(perhaps) > 1:
                yield _finding(context, first, needed, variant="perhaps-several", interfaces=len(perhaps))
            else:
                yield _finding(context, first, needed, variant="perhaps")


def _with_packets(context: ValidationContext) -> Iterator[_Policed]:
    sent = list(_sent(context))
    for port, name, burst in _policed_classes(context):
        inside = context.compilation.intent.intent.within(name)
        own = [each for each in sent if each.name in inside]
        if here := [each for each in own if each.port == port]:
            largest = max(here, key=lambda each: each.frame)
            yield _Policed(port, name, burst, largest.packet, largest.frame, described=True)
        elif (end := context.compilation.network.neighbour(port)) is not None:
            packet = max((each.packet for each in own), default=FULL_PACKET)
            compressible = bool(own) and all(each.compressible for each in own)
            frame = policed_bytes(end[0], packet, context.interface(port), compressible=compressible)
            yield _Policed(port, name, burst, packet, frame, described=False)


def _policed_classes(context: ValidationContext) -> Iterator[tuple[Port, str, int]]:
    """Every policed priority queue that the intent makes: its port, class, and bytes that pass at once."""
    for device in context.compilation.devices:
        for requested in device.request.interfaces:
            plan = device.plan.interface(requested.name)
            if plan is None or not requested.schedule:
                continue
            for queue, burst in _bursts(context, device, plan):
                name = device.classes.get(queue.name or "")
                if name is not None:
                    yield (device.name, requested.name), name, burst


def _bursts(context: ValidationContext, device: CompiledDevice, plan: InterfacePlan) -> Iterator[tuple[Queue, int]]:
    """The policed priority queues of an interface, and the bytes that each lets through at once."""
    port = context.compilation.network.device(device.name).interface(plan.name)
    holds = port_service(device.plan, plan, port.usable, port.rate)
    if holds.scheduler is None or not holds.scheduler.queues:
        return
    queues = leaf_queues(holds.scheduler)
    for number, burst in priority_bursts(twin_scheduler(holds.scheduler, holds.assumed_rate)).items():
        yield queues[number], burst


def _finding(context: ValidationContext, queue: _Policed, needed: int, **facts: Any) -> Finding:
    return note(
        "priority-burst-below-packet",
        class_at(context, queue.name, queue.port, "output"),
        requested=f"packets of {queue.frame} bytes",
        applied=f"a burst of {queue.burst} bytes",
        burst=queue.burst,
        packet=queue.packet,
        frame=queue.frame,
        needed=needed,
        **facts,
    )


@dataclass(frozen=True)
class _Sent:
    """The largest packet that a described flow of a class sends into a port: IP bytes, and those of its frame."""

    port: Port
    name: str
    packet: int
    frame: int
    compressible: bool


def _sent(context: ValidationContext) -> Iterator[_Sent]:
    network = context.compilation.network
    for flow in (flow for scenario in network.traffic for flow in scenario.flows):
        try:
            path = links(network, flow.from_, flow.to)
        except (KeyError, ValueError):
            continue  # `check_verification` says so where it matters
        names, size = dict.fromkeys(context.flow_classes(flow)), flow.source.ip_bytes
        for link, port in path:
            frame = policed_bytes(link, size, context.interface(port), compressible=flow.is_rtp)
            for name in names:
                yield _Sent(port, name, size, frame, flow.is_rtp)


def policed_bytes(link: Link, ip_bytes: int, plan: InterfacePlan | None, *, compressible: bool = False) -> int:
    """Frame bytes that a port's policer counts of an IP packet; ``compressible`` ones have RTP headers."""
    efficiency = plan.efficiency if plan is not None else Efficiency()
    if link.framing is Framing.ATM:
        # Cells come after the policer.
        return ip_bytes + OVERHEAD[Framing.ATM]
    compressed = compressible and efficiency.header_compression
    frame = frame_bytes(link, ip_bytes, compressed=compressed) + (UDP_CHECKSUM if compressed else 0)
    beside = efficiency.interleave and not efficiency.multiclass
    return frame + (MULTILINK if link.framing is Framing.MLPPP and not beside else 0)
