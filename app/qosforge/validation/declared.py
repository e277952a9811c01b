"""Check the traffic offered to priority classes against their caps, link by link."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from qosforge.findings import Finding
from qosforge.inventory.models import Link, Port, TrafficFlow, TrafficScenario
from qosforge.note import note
from qosforge.plan.request import ClassRequest
from qosforge.plan.requested import requested_shares
from qosforge.units import format_rate
from qosforge.validation.context import ValidationContext, class_at
from qosforge.validation.framing import frame_bytes


def check_declared(context: ValidationContext) -> Iterator[Finding]:
    """``priority-overdeclared``: more priority traffic is declared for a link than its priority classes may send.

    Once for each class and output, with the scenario that declares most. What a priority class sends above its
    cap is dropped when the link is busy, so no objective of it can be kept.
    """
    worst: dict[tuple[Port, str], tuple[float, TrafficScenario]] = {}
    for scenario in context.compilation.network.traffic:
        for key, offered in _offered(context, scenario).items():
            if key not in worst or offered > worst[key][0]:
                worst[key] = (offered, scenario)
    for (port, name), (offered, scenario) in worst.items():
        cap = _cap(context, port, name)
        if cap is None or offered <= cap:
            continue
        yield note(
            "priority-overdeclared",
            class_at(context, name, port, "output"),
            requested=format_rate(round(offered)),
            applied=f"at most {format_rate(round(cap))}",
            scenario=scenario.name,
        )


def _offered(context: ValidationContext, scenario: TrafficScenario) -> dict[tuple[Port, str], float]:
    """Bits per second of every priority class at every output that schedules, as declared."""
    network = context.compilation.network
    total: dict[tuple[Port, str], float] = defaultdict(float)
    for flow in scenario.flows:
        classes = Counter(context.flow_classes(flow))
        try:
            path = network.path(flow.from_, flow.to)
        except (KeyError, ValueError):
            continue  # `check_verification` says so
        for port in path:
            end = network.neighbour(port)
            if end is not None and context.schedules(port):
                for name, count in classes.items():
                    total[port, name] += _rate(context, flow, end[0], port) * count
    return total


def _rate(context: ValidationContext, flow: TrafficFlow, link: Link, port: Port) -> float:
    """Bits per second of one flow on a link; 0 where it takes what it gets."""
    source = flow.source
    if source.kind == "video":
        ip_rate = float((source.frames_per_second or 0) * (source.frame_bytes or 0) * 8)
    else:
        ip_rate = float(source.rate or 0)
    interface = context.interface(port)
    compressed = interface is not None and interface.efficiency.header_compression
    return ip_rate * frame_bytes(link, source.ip_bytes, compressed=compressed) / source.ip_bytes


def _cap(context: ValidationContext, port: Port, name: str) -> float | None:
    """Bits per second that a priority class may send at an output; None for classes without priority or a cap."""
    requested = context.request(port)
    device = context.compiled.get(port[0])
    return None if requested is None or device is None else _part(device.request.classes, name, requested.usable)


def _part(classes: tuple[ClassRequest, ...], name: str, rate: int) -> float | None:
    """The cap of the class of this name among classes that divide a rate, and those below them."""
    shares = requested_shares(classes, rate)
    for entry in classes:
        own = shares[entry.name] * rate
        priority = entry.treatment.priority
        if entry.name == name and priority is not None and priority.capped:
            return own
        if own and (below := _part(entry.children, name, round(own))) is not None:
            return below
    return None
