"""Ports that the intent leaves alone behind QoS that is on for the whole switch.

``mls qos`` gives every port its four queues, and the maps choose among them everywhere; as delivered, a port shapes
queue 1 to 1/25 of its rate, also while nothing else is sent (``show mls qos interface queueing`` of a 3560).
"""

from __future__ import annotations

from collections.abc import Iterator

from qosforge.plan.model import Plan, Trust
from qosforge.plan.request import DeviceRequest
from qosforge.platforms.catalyst_2970.capabilities import CAPABILITIES, default_dscp_to_queue
from qosforge.platforms.ios_switch.notes import Notes
from qosforge.platforms.ios_switch.queues import QueueAssignment, runs

_SHAPED = 1
"""The queue that a port shapes as delivered."""


def note_shaped_ports(
    request: DeviceRequest, running: Plan | None, assignment: QueueAssignment | None, notes: Notes
) -> None:
    """Ports outside the output scopes on which the shaped queue holds a class, and which classes those are.

    Without an output scope that is so where QoS is switched on, for what has queue 1 as delivered.
    """
    if assignment is None and running is not None and is_on(running):
        return
    held = _as_delivered() if assignment is None else ", ".join(_classes(assignment))
    ports = tuple(_ports(request, running))
    if held and (ports or running is None):
        weight = CAPABILITIES.shape_default.value[_SHAPED - 1]
        notes.note(
            "scheduler-device-wide",
            direction="output",
            requested="left as they are",
            applied=f"at most {100 / weight:.3g} % of the rate for queue {_SHAPED}",
            variant="shaped" if ports else "shaped-unknown",
            classes=held,
            weight=weight,
            **({"ports": ", ".join(ports)} if ports else {}),
        )


def is_on(running: Plan) -> bool:
    """Whether QoS is on."""
    return any(i.ingress.trust is not Trust.KEEP for i in running.interfaces)


def _ports(request: DeviceRequest, running: Plan | None) -> Iterator[str]:
    """Ports outside the output scopes that shape the queue, or will as soon as QoS is on."""
    scheduled = {i.name for i in request.interfaces if i.schedule}
    held = running.interfaces if running else ()
    for name in dict.fromkeys((*(i.name for i in request.interfaces), *(i.name for i in held))):
        port = running.interface(name) if running else None
        scheduler = port.egress.scheduler if port and port.ingress.trust is not Trust.KEEP else None
        unshaped = scheduler is not None and scheduler.queues[_SHAPED - 1].shape_weight is None
        if name not in scheduled and not unshaped:
            yield name


def _classes(assignment: QueueAssignment) -> Iterator[str]:
    yield from (name for name, queue in assignment.queue_of.items() if queue == _SHAPED)
    if assignment.control == _SHAPED:
        yield "network control"


def _as_delivered() -> str:
    points = [dscp for dscp, queue in enumerate(default_dscp_to_queue()) if queue == _SHAPED]
    return f"DSCP {runs(points)}"
