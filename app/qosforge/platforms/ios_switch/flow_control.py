"""Pause frames on ports of a switch that queues by classes: the guides want none."""

from __future__ import annotations

from qosforge.plan.model import Plan
from qosforge.plan.request import DeviceRequest
from qosforge.platforms.ios_switch.notes import Notes


def note_flow_control(request: DeviceRequest, running: Plan | None, notes: Notes) -> None:
    """Name the ports that pause all their classes at once where the other end asks for it, or ask it to pause.

    Switches are to have no port with flow control when QoS is enabled (Catalyst 2950 guide 78-11380-07, p. 27-17;
    3550 reference OL-8566-02, p. 2-241).
    """
    if running is None or not running.flow_control:
        return
    if any(i.schedule or i.recognise or i.trust for i in request.interfaces):
        notes.note("flow-control-present", ports=", ".join(running.flow_control))
