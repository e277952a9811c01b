"""Shaping on a 2970: queues limited to a fraction 1/n of the port, ports limited in per cent."""

from __future__ import annotations

from qosforge.memoise import memoise
from qosforge.plan.request import ClassRequest, DeviceRequest, InterfaceRequest
from qosforge.plan.requested import guaranteed_share
from qosforge.platforms.catalyst_2970.capabilities import CAPABILITIES
from qosforge.platforms.ios_switch.notes import Notes
from qosforge.platforms.ios_switch.queues import QueueAssignment
from qosforge.units import format_rate


def shaped_classes(request: DeviceRequest) -> frozenset[str]:
    """Classes whose queue must not send more than a rate."""
    return _shaped(request.classes)


@memoise
def _shaped(classes: tuple[ClassRequest, ...]) -> frozenset[str]:
    return frozenset(
        c.name
        for c in classes
        if not c.treatment.priority and (c.treatment.shape is not None or c.treatment.bounded)
    )


def bound_of(request: DeviceRequest, entry: ClassRequest, interface_request: InterfaceRequest) -> int | None:
    """Bits per second that a class may send at most on a port; None where it may take what is left."""
    if entry.name not in shaped_classes(request):
        return None
    bounds = []
    if entry.treatment.shape is not None:
        bounds.append(entry.treatment.shape.rate_of(interface_request.usable))
    if entry.treatment.bounded:
        bounds.append(
            round(guaranteed_share(request.classes, entry, interface_request.usable) * interface_request.usable)
        )
    return max(1, min(bounds))


def shape_weights(
    request: DeviceRequest, interface_request: InterfaceRequest, assignment: QueueAssignment, notes: Notes
) -> tuple[int, ...]:
    """``srr-queue bandwidth shape`` of a port: a queue gets one part in its weight of the port's rate, never more
    than asked; 0 where it is not shaped."""
    weights = [0] * len(assignment.layout.weighted)
    most = CAPABILITIES.shape_weight.maximum
    for entry in request.classes:
        bound = bound_of(request, entry, interface_request)
        if bound is None or bound >= interface_request.rate:
            continue
        weight = min(_part(interface_request.rate, bound), most)
        weights[assignment.queue_of[entry.name] - 1] = weight
        shape = entry.treatment.shape
        missed = abs(bound - interface_request.rate / weight)
        if missed < 1:
            continue
        beyond = missed > request.tolerance * interface_request.usable
        notes.note(
            "shape-approximate",
            traffic_class=entry.name,
            interface=interface_request.name,
            direction="output",
            requested=format_rate(bound),
            applied=format_rate(interface_request.rate / weight),
            variant="part-of-port-beyond" if beyond else "part-of-port",
            weight=weight,
            preferred=shape is not None and shape.prefer,
        )
    return tuple(weights)


def _part(rate: int, bound: int) -> int:
    """In how many parts a port's rate has none above a bound; rates are whole b/s, so less than one is no more."""
    whole = rate // bound
    return whole if rate < (bound + 1) * whole else -(-rate // bound)


def note_bounded_priority(request: DeviceRequest, notes: Notes) -> None:
    """Priority classes that may not borrow: the expedite queue ignores every weight."""
    for entry in request.classes:
        if entry.treatment.priority and entry.treatment.bounded:
            notes.note(
                "bounded-priority-unsupported",
                traffic_class=entry.name,
                direction="output",
                requested="served first, and never more than its share",
                applied="served first, up to the whole port",
            )


def port_limit(interface_request: InterfaceRequest, notes: Notes) -> int | None:
    """``srr-queue bandwidth limit`` in per cent, never above what is asked; None where the port is not shaped."""
    if interface_request.shape is None or interface_request.shape >= interface_request.rate:
        return None
    data = CAPABILITIES.port_limit
    exact = 100 * interface_request.shape / interface_request.rate
    limit = min(int(exact), data.maximum)
    if limit < data.minimum:
        notes.note(
            "port-shape-unsupported",
            interface=interface_request.name,
            direction="output",
            requested=f"{format_rate(interface_request.shape)} ({exact:.3g} %)",
            applied="not limited",
            minimum=data.minimum,
            maximum=data.maximum,
            preferred=interface_request.shape_prefer,
        )
        return None
    notes.note(
        "port-shape-approximate",
        interface=interface_request.name,
        direction="output",
        requested=f"{format_rate(interface_request.shape)} ({exact:.4g} %)",
        applied=f"about {format_rate(interface_request.rate * limit / 100)} ({limit} %)",
        variant="per-cent",
        maximum=data.maximum,
        step=CAPABILITIES.port_limit_step.value,
        beyond=exact - limit > 5,
    )
    return limit
