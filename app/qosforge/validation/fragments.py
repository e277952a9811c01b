"""Check the packets of priority classes against the fragments of the links that they pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from qosforge.findings import Finding
from qosforge.inventory.models import Link, Port
from qosforge.note import note
from qosforge.plan.request import ClassRequest
from qosforge.validation.context import ValidationContext, class_at
from qosforge.validation.framing import frame_bytes


def check_fragments(context: ValidationContext) -> Iterator[Finding]:
    """``priority-above-fragment``, once for each class and output: its declared packets are longer than a fragment.

    FRF.12 and a smaller IP MTU cut them like all others (FRF.12; Cisco document 14073: fragments are larger than
    voice packets); multilink PPP lets them pass whole, and the next one waits longer than for a fragment.
    """
    longest: dict[tuple[Port, str], tuple[int, int, bool]] = {}
    network = context.compilation.network
    for flow in (flow for scenario in network.traffic for flow in scenario.flows):
        try:
            path = network.path(flow.from_, flow.to)
        except (KeyError, ValueError):
            continue  # `check_verification` says so
        classes = set(context.flow_classes(flow))
        for port in path:
            end, device = network.neighbour(port), context.compiled.get(port[0])
            if end is None or device is None or not context.schedules(port):
                continue
            for name in classes & set(_priority(device.request.classes)):
                there = _packet_and_fragment(context, port, end[0], flow.source.ip_bytes)
                if there is not None and there[0] > max(there[1], longest.get((port, name), (0,))[0]):
                    longest[port, name] = there
    for (port, name), (packet, fragment, cut) in longest.items():
        yield note(
            "priority-above-fragment",
            class_at(context, name, port, "output"),
            requested=f"{packet} B",
            applied=f"{fragment} B",
            variant="cut" if cut else "whole",
            packet=packet,
            fragment=fragment,
        )


def _packet_and_fragment(
    context: ValidationContext, port: Port, link: Link, ip_bytes: int
) -> tuple[int, int, bool] | None:
    """Bytes of a packet and of the fragments at an output, and whether the packet is cut; None without any."""
    interface = context.interface(port)
    if interface is None:
        return None
    efficiency = interface.efficiency
    if efficiency.ip_mtu is not None:
        return ip_bytes, efficiency.ip_mtu, True
    frame = frame_bytes(link, ip_bytes, compressed=efficiency.header_compression)
    if efficiency.frame_relay_fragment is not None:
        return frame, efficiency.frame_relay_fragment, True
    return None if efficiency.fragment_bytes is None else (frame, efficiency.fragment_bytes, False)


def _priority(classes: Iterable[ClassRequest]) -> Iterator[str]:
    """The names of priority classes, those inside others too."""
    for entry in classes:
        if entry.treatment.priority is not None:
            yield entry.name
        yield from _priority(entry.children)
