"""Places of a device request that findings are about."""

from __future__ import annotations

from qosforge.errors import Place
from qosforge.plan.request import ClassRequest, DeviceRequest


def class_place(
    request: DeviceRequest,
    class_request: ClassRequest,
    *,
    interface: str | None = None,
    direction: str | None = None,
) -> Place:
    """A class on a device, with its line in the intent; wherever it is served, or at one interface."""
    return Place(
        device=request.device,
        interface=interface,
        direction=direction,
        traffic_class=class_request.name,
        line=class_request.line,
    )
