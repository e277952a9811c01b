"""The page of a device: its inventory entry, and its queues as last read or as they are now."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Form, Response

from qosforge.access.roles import Principal, Role
from qosforge.api.access_models import DeviceName
from qosforge.api.backend import Backend
from qosforge.api.dependencies import Caller, TheAuditEntry, TheBackend
from qosforge.api.middleware.authorization import audit_live_read
from qosforge.api.resources import NewDeviceBody
from qosforge.api.routes import devices as rest
from qosforge.deploy.driver_capabilities import shows_startup
from qosforge.deploy.new_device import Word
from qosforge.deploy.not_saved import MOST_LINES, not_saved
from qosforge.device_state.drift import find_baselines
from qosforge.device_state.drift_watch import drift_watch
from qosforge.device_state.last_known import last_known, store_readings
from qosforge.device_state.qos_state import device_state
from qosforge.errors import InputError, Place
from qosforge.inventory.catalogue import device_of
from qosforge.inventory.models import Device, Network
from qosforge.inventory.reach import Transport
from qosforge.platforms.names import CONTROL_QUEUES
from qosforge.runs.record.run import Run
from qosforge.web.pages import ThePage, sees
from qosforge.web.views.between import unsettled_devices
from qosforge.web.views.devices import port_views
from qosforge.web.views.network_runs import networks_in_force
from qosforge.web.views.port_groups import port_groups
from qosforge.web.views.unread import still_unread, unread_causes

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
def show_device(page: ThePage, caller: Caller, backend: TheBackend, network: str, device: str) -> Response:
    """A device of a network, with its last known configuration."""
    net = backend.networks.network(network)
    entry = device_of(net, device)
    return page.answer(
        "networks/device.html.j2",
        **_last_known(backend, caller, net, entry),
        **_not_read(backend, net, entry),
        now=False,
        asked=False,
    )


@router.post(f"{_DEVICE}/now", dependencies=sees(Role.VIEWER, recorded=False))
def read_device(page: ThePage, caller: Caller, backend: TheBackend, network: str, device: str) -> Response:
    """The queues of a device read over SSH now; if that fails, the error beside the last known ones."""
    net = backend.networks.network(network)
    entry = device_of(net, device)
    store = backend.run_requests.store
    began = store.now()
    call = audit_live_read(page.request, backend, network)
    now, errors = backend.previews.answers(call, net, (entry.name,))
    store_readings(store, backend.artifacts, net, now.running, began, unsaved=now.unsaved)
    failed = list(errors.values())
    return page.answer(
        "networks/device_state.html.j2",
        **_last_known(backend, caller, net, entry),
        failed=failed,
        now=not failed,
        asked=True,
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


def _last_known(backend: Backend, caller: Principal, network: Network, device: Device) -> dict[str, Any]:
    """The last known configuration of a device, compared with the run that settled it."""
    store, artifacts = backend.run_requests.store, backend.artifacts
    read = last_known(store, artifacts, network, (device.name,)).get(device.name)
    last = find_baselines(store, network, (device.name,)).get(device.name)
    found = device_state(network, device.name, read.text, last, artifacts) if read else None
    bring_back = _policy_to_run(backend, network, last.run) if last and found and found.drifted else ""
    between = unsettled_devices(backend).get(network.name, {}).get(device.name)
    ports = port_views(network, device, found)
    groups = port_groups(ports)
    return {
        "network": network,
        "device": device,
        "read": read,
        "state": found,
        "between": between,
        "bring_back": bring_back,
        "is_stored": bring_back in {one.name for one in backend.policies.seen_by(caller).newest()},
        "ports": ports,
        "groups": groups,
        "control_names": CONTROL_QUEUES,
        "unsaved": not_saved(device.name, read.unsaved) if read and read.unsaved else None,
        "most_unsaved": MOST_LINES,
        "shows_startup": shows_startup(device.driver),
    }


def _not_read(backend: Backend, network: Network, device: Device) -> dict[str, Any]:
    """Why the last look at the network could not read a device, and when it ``tried``, unless it was read since."""
    watch = drift_watch(backend.database, network.name)
    why = still_unread(backend.database, watch).get(device.name)
    return {"failed": () if why is None else unread_causes({device.name: why}), "tried": watch.looked}


def _policy_to_run(backend: Backend, network: Network, settled: Run) -> str:
    """The policy whose run brings a device back to how a run left it; after a rollback the one in force, if any."""
    if settled.rollback_of is None:
        return settled.policy
    return networks_in_force(backend.database, [network.name])[network.name].name or ""
