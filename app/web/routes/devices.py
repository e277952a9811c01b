"""A box: what it is, its queues as a run last read them, and as they are now."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response

from app.access.roles import Role
from app.api.backend import Backend
from app.api.dependencies import TheBackend
from app.api.security import recorded_call
from app.errors import DeviceErrors, QosforgeError
from app.inventory.catalogue import device_of
from app.inventory.models import Device, Network
from app.runs.drift import settled
from app.runs.held import keep_readings, last_read
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
    return page.answer("networks/device.html.j2", **_shown(backend, net, entry), failed=(), now=False)


@router.post(f"{_DEVICE}/now", dependencies=sees(Role.VIEWER, recorded=False))
def read_device(page: ThePage, backend: TheBackend, network: str, device: str) -> Response:
    """The queues that a box has now, read over SSH; where it cannot be read, why, beside what is known."""
    net = backend.networks.network(network)
    entry = device_of(net, device)
    failed: list[QosforgeError] = []
    store = backend.desk.store
    began = store.now()
    try:
        texts = backend.previews.running(recorded_call(page.request, backend, network), net, (entry.name,))
    except DeviceErrors as error:
        failed = error.errors
    else:
        keep_readings(store, backend.artifacts, net, texts, began)
    return page.answer("networks/held.html.j2", **_shown(backend, net, entry), failed=failed, now=not failed)


def _shown(backend: Backend, network: Network, device: Device) -> dict[str, Any]:
    """What the box said when it was last read, against the run that settled it."""
    store, artifacts = backend.desk.store, backend.artifacts
    read = last_read(store, artifacts, network).get(device.name)
    last = settled(store, network).get(device.name)
    found = held(network, device.name, read.text, last, artifacts) if read else None
    ports = port_views(network, device, found)
    return {"network": network, "device": device, "read": read, "held": found, "ports": ports}
