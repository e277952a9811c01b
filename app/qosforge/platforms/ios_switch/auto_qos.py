"""AutoQoS on ports of an intent: what it typed stays under its name, and may be typed anew."""

from __future__ import annotations

from qosforge.plan.model import Plan, Trust
from qosforge.plan.request import DeviceRequest
from qosforge.platforms.ios_switch.notes import Notes


def note_auto_qos(
    request: DeviceRequest, running: Plan | None, notes: Notes, *, excludes_phone: bool = False
) -> None:
    """Name the ports in scope that have AutoQoS, with the line that removes it.

    ``excludes_phone``: the device takes no ``mls qos trust device`` on such a port, for a change or its rollback.
    """
    if running is None or not running.auto_qos:
        return
    asked = {i.name: i for i in request.interfaces}
    ports = [name for name in running.auto_qos if name in asked]
    for name in ports:
        held, port = running.interface(name), asked[name]
        phones = {port.trust_in == "phone", held is not None and held.ingress.trust is Trust.PHONE}
        if excludes_phone and (port.recognise or port.trust) and len(phones) > 1:
            notes.note(
                "auto-qos-present", interface=name, direction="input", variant="trusted-boundary", ports=name
            )
    if ports:
        notes.note("auto-qos-present", ports=", ".join(ports))
