"""Devices: inventory entry, plan under a policy, running QoS, and drift."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Query, Request, Response

from qosforge.access.roles import Role
from qosforge.api.dependencies import Caller, TheAuditEntry, TheBackend
from qosforge.api.middleware.authorization import Needs, audit_live_read
from qosforge.api.previews import Preview, PreviewRequest
from qosforge.api.problems import responses
from qosforge.api.resources import DeviceList, DriftDocument, NetworkCheck, NewDeviceBody, RunningQos
from qosforge.deploy.inspection import DeviceCheck
from qosforge.device_state.drift import drift, running_plan
from qosforge.inventory import editing
from qosforge.inventory.catalogue import device_of
from qosforge.inventory.models import Device
from qosforge.policy_library.versions import LATEST
from qosforge.reports.preview import CompilePreview

router = APIRouter(tags=["devices"])

_DEVICE = "/networks/{network}/devices/{device}"
_VIEWER: dict[str, Any] = {"dependencies": [Depends(Needs(Role.VIEWER))]}
_ADMIN: dict[str, Any] = {"dependencies": [Depends(Needs(Role.ADMIN, everywhere=True))]}
"""Of every network: a device may be given the name of any credentials, and learns them."""


@router.get(
    "/networks/{network}/devices", summary="List the devices of a network", responses=responses(404), **_VIEWER
)
def list_devices(backend: TheBackend, network: str) -> DeviceList:
    """The devices of a network."""
    return DeviceList(devices=list(backend.networks.network(network).devices))


@router.post(
    "/networks/{network}/devices", summary="Add a device", status_code=201, responses=responses(404), **_ADMIN
)
def add_device(body: NewDeviceBody, backend: TheBackend, audit: TheAuditEntry, network: str) -> Device:
    """Add a device to the network's ``hosts.yaml``. Nothing is contacted."""
    audit.network, audit.detail = network, {"device": body.name, "hostname": body.hostname}
    with backend.networks.open_for_writing(network) as folder:
        editing.add_device(folder, body.name, body.entry(body.name))
    return device_of(backend.networks.network(network), body.name)


@router.delete(_DEVICE, summary="Remove a device", status_code=204, responses=responses(404), **_ADMIN)
def remove_device(backend: TheBackend, audit: TheAuditEntry, network: str, device: str) -> None:
    """Remove a device from the network's ``hosts.yaml``; its links have to be removed first."""
    audit.network = network
    name = device_of(backend.networks.network(network), device).name
    with backend.networks.open_for_writing(network) as folder:
        editing.remove_device(folder, name)


@router.get(_DEVICE, summary="Show a device", responses=responses(404), **_VIEWER)
def get_device(backend: TheBackend, network: str, device: str) -> Device:
    """A device as the inventory has it."""
    return device_of(backend.networks.network(network), device)


@router.get(
    f"{_DEVICE}/plan",
    summary="Compile a policy for a device",
    response_model=CompilePreview,
    responses={304: {"description": "The plan is still the one of the tag."}, **responses(404)},
    **_VIEWER,
)
def device_plan(
    *,
    caller: Caller,
    backend: TheBackend,
    network: str,
    device: str,
    policy: Annotated[str, Query(min_length=1, max_length=128, examples=["rfc4594-12"])],
    version: Annotated[int | None, Query(description="The latest without one.")] = None,
    if_none_match: Annotated[str | None, Header()] = None,
) -> Response:
    """Compile a stored policy for one device: plan, configuration and findings."""
    name = device_of(backend.networks.network(network), device).name
    stored = backend.policies.seen_by(caller).get(policy, LATEST if version is None else version)
    preview_request = PreviewRequest("compile", network, stored.written(), (name,), caller=caller.name)
    return etag_response(backend.previews.preview(preview_request), if_none_match)


@router.get(
    f"{_DEVICE}/running", summary="Read the QoS configuration of a device", responses=responses(404, 502), **_VIEWER
)
def device_running(request: Request, backend: TheBackend, network: str, device: str) -> RunningQos:
    """Read the QoS configuration of a device over SSH, as a plan."""
    net = backend.networks.network(network)
    name = device_of(net, device).name
    text = backend.previews.running(audit_live_read(request, backend, network), net, (name,))[name]
    return RunningQos.of(running_plan(net, name, text), text)


@router.get(
    "/networks/{network}/check", summary="Check the devices of a network", responses=responses(404), **_VIEWER
)
def check_network(request: Request, backend: TheBackend, network: str) -> NetworkCheck:
    """Whether the devices of a network are reached, are what the inventory says, and can be changed.

    They are read over SSH; one that takes longer than the request may is told as not reached.
    """
    net = backend.networks.network(network)
    found = backend.previews.checks(audit_live_read(request, backend, network), net)
    return NetworkCheck(network=network, devices=list(found))


@router.get(f"{_DEVICE}/check", summary="Check a device", responses=responses(404), **_VIEWER)
def check_device(request: Request, backend: TheBackend, network: str, device: str) -> DeviceCheck:
    """Whether a device is reached, is what the inventory says, and can be changed; it is read over SSH."""
    net = backend.networks.network(network)
    name = device_of(net, device).name
    (found,) = backend.previews.checks(audit_live_read(request, backend, network), net, (name,))
    return found


@router.get(f"{_DEVICE}/drift", summary="Check a device for drift", responses=responses(404, 502), **_VIEWER)
def device_drift(request: Request, backend: TheBackend, network: str, device: str) -> DriftDocument:
    """Compare a device, read over SSH, with what the last kept run left on it."""
    net = backend.networks.network(network)
    name = device_of(net, device).name
    text = backend.previews.running(audit_live_read(request, backend, network), net, (name,))[name]
    return DriftDocument.of(name, drift(backend.run_requests.store, backend.artifacts, net, name, text))


def etag_response(preview: Preview, if_none_match: str | None) -> Response:
    """The response with a preview, or 304 where the caller has it already."""
    tag = f'"{preview.tag}"'
    known = [entry.strip().removeprefix("W/") for entry in (if_none_match or "").split(",")]
    if tag in known or "*" in known:
        return Response(status_code=304, headers={"ETag": tag})
    return Response(preview.body, media_type="application/json", headers={"ETag": tag})
