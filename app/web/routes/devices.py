"""A box: what it is, its queues as a run last read them, and as they are now."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter, Response

from app.access.roles import Role
from app.api.backend import Backend
from app.api.dependencies import TheBackend
from app.errors import DeviceErrors, QosforgeError
from app.inventory.catalogue import device_of
from app.inventory.models import Device, Network
from app.runs.drift import settled
from app.runs.held import last_read
from app.runs.qos_state import held
from app.web.pages import ThePage, sees
from app.web.views.devices import port_views

router = APIRouter()

_DEVICE = "/networks/{network}/devices/{device}"


@router.get(_DEVICE, dependencies=sees(Role.VIEWER))
def show_device(page: ThePage, backend: TheBackend, network: str, device: str) -> Response:
    """A box of a network, with what a run last read of it."""
    net = backend.networks.network(network)
    entry = device_of(net, device)
    return page.answer("networks/device.html.j2", **_stored(backend, net, entry))


@router.get(f"{_DEVICE}/now", dependencies=sees(Role.VIEWER))
def read_device(page: ThePage, backend: TheBackend, network: str, device: str) -> Response:
    """The queues that a box has now, read over SSH; where it cannot be read, why, beside what is known."""
    net = backend.networks.network(network)
    entry = device_of(net, device)
    try:
        text = backend.previews.running(net, (entry.name,))[entry.name]
    except DeviceErrors as error:
        return page.answer("networks/held.html.j2", **_stored(backend, net, entry, error.errors))
    return page.answer("networks/held.html.j2", **_held(backend, net, entry, text, datetime.now(UTC)))


def _stored(
    backend: Backend, network: Network, device: Device, failed: list[QosforgeError] | None = None
) -> dict[str, Any]:
    """What the last run that read the box made of it; ``failed`` is why it cannot be read now."""
    read = last_read(backend.desk.store, backend.artifacts, network).get(device.name)
    if read is None:
        return _context(network, device, failed=failed or [])
    shown = _held(backend, network, device, read.text, read.at)
    return {**shown, "run_id": read.run_id, "failed": failed or []}


def _held(backend: Backend, network: Network, device: Device, text: str, at: datetime) -> dict[str, Any]:
    last = settled(backend.desk.store, network).get(device.name)
    found = held(network, device.name, text, last, backend.artifacts)
    return _context(network, device, held=found, at=at)


def _context(network: Network, device: Device, **known: Any) -> dict[str, Any]:
    shown = {"held": None, "at": None, "run_id": None, "failed": [], **known}
    ports = port_views(network, device, shown["held"])
    return {"network": network, "device": device, "ports": ports, **shown}
