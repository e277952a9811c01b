"""The page of a device: its inventory entry, and its queues as last read or as they are now."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Form, Response

from qosforge.access.roles import Role
from qosforge.api.access_models import DeviceName
from qosforge.api.backend import Backend
from qosforge.api.dependencies import TheAuditEntry, TheBackend
from qosforge.api.middleware.authorization import audit_live_read
from qosforge.api.resources import NewDeviceBody
from qosforge.api.routes import devices as rest
from qosforge.deploy.new_device import Word
from qosforge.device_state.drift import find_baselines
from qosforge.device_state.last_known import last_known, store_readings
from qosforge.device_state.qos_state import device_state
from qosforge.errors import DeviceErrors, InputError, Place, QosforgeError
from qosforge.inventory.catalogue import device_of
from qosforge.inventory.models import Device, Network
from qosforge.inventory.reach import Transport
from qosforge.platforms.names import CONTROL_QUEUES
from qosforge.web.pages import ThePage, sees
from qosforge.web.views.devices import port_views
from qosforge.web.views.port_groups import port_groups

router = APIRouter()

_DEVICE = "/networks/{network}/devices/{device}"


@router.post("/networks/{network}/devices", dependencies=sees(Role.ADMIN, everywhere=True))
def add_device(
    *,
    backend: TheBackend,
    audit: TheAuditEntry,
    network: str,
    name: Annotated[DeviceName, Form(title="Name")],
    hostname: Annotated[Word, Form(title="Address")],
    platform: Annotated[Word, Form(title="Platform")],
    image: Annotated[Word, Form(title="Software")],
    transport: Annotated[Transport, Form(title="Reached by")] = "ssh",
    credentials: Annotated[str, Form(title="Credentials", max_length=253)] = "",
    jump: Annotated[str, Form(title="Jump hosts", max_length=253)] = "",
    interfaces: Annotated[str, Form(title="Interfaces", max_length=64_000)] = "",
) -> Response:
    """Add a device to the inventory, and go to its page. Nothing is contacted."""
    device = NewDeviceBody(
        name=name,
        hostname=hostname,
        platform=platform,
        image=image,
        transport=None if transport == "ssh" else transport,
        credentials=credentials.strip() or None,
        jump=jump.strip() or None,
        interfaces=_rates(interfaces),
    )
    rest.add_device(device, backend, audit, network)
    return Response(status_code=204, headers={"HX-Redirect": f"/networks/{network}/devices/{name}"})


@router.delete(_DEVICE, dependencies=sees(Role.ADMIN, everywhere=True))
def remove_device(backend: TheBackend, audit: TheAuditEntry, network: str, device: str) -> Response:
    """Remove a device from the inventory, and go to its network."""
    rest.remove_device(backend, audit, network, device)
    return Response(status_code=204, headers={"HX-Redirect": f"/networks/{network}"})


@router.get(_DEVICE, dependencies=sees(Role.VIEWER))
def show_device(page: ThePage, backend: TheBackend, network: str, device: str) -> Response:
    """A device of a network, with its last known configuration."""
    net = backend.networks.network(network)
    entry = device_of(net, device)
    return page.answer("networks/device.html.j2", **_last_known(backend, net, entry), failed=(), now=False)


@router.post(f"{_DEVICE}/now", dependencies=sees(Role.VIEWER, recorded=False))
def read_device(page: ThePage, backend: TheBackend, network: str, device: str) -> Response:
    """The queues of a device read over SSH now; if that fails, the error beside the last known ones."""
    net = backend.networks.network(network)
    entry = device_of(net, device)
    failed: list[QosforgeError] = []
    store = backend.run_requests.store
    began = store.now()
    try:
        texts = backend.previews.running(audit_live_read(page.request, backend, network), net, (entry.name,))
    except DeviceErrors as error:
        failed = error.errors
    else:
        store_readings(store, backend.artifacts, net, texts, began)
    return page.answer(
        "networks/device_state.html.j2", **_last_known(backend, net, entry), failed=failed, now=not failed
    )


def _rates(text: str) -> dict[str, str]:
    """Rates by the names of interfaces, from lines like ``Serial0/0 = 2 Mb/s``."""
    found: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        name, separator, rate = (part.strip() for part in line.partition("="))
        if not line.strip():
            continue
        if not (name and separator and rate) or name in found:
            problem = "is there twice" if name in found else "says no rate"
            place = Place(path="interfaces", line=number)
            raise InputError(f"{line.strip()[:80]!r} {problem}", place, "write a line like Serial0/0 = 2 Mb/s")
        found[name] = rate
    return found


def _last_known(backend: Backend, network: Network, device: Device) -> dict[str, Any]:
    """The last known configuration of a device, compared with the run that settled it."""
    store, artifacts = backend.run_requests.store, backend.artifacts
    read = last_known(store, artifacts, network, (device.name,)).get(device.name)
    last = find_baselines(store, network, (device.name,)).get(device.name)
    found = device_state(network, device.name, read.text, last, artifacts) if read else None
    ports = port_views(network, device, found)
    groups = port_groups(ports)
    return {
        "network": network,
        "device": device,
        "read": read,
        "state": found,
        "ports": ports,
        "groups": groups,
        "control_names": CONTROL_QUEUES,
    }
