"""Networks: the inventories that the service has."""

from __future__ import annotations

import sqlalchemy as sa
from fastapi import APIRouter, Depends

from qosforge.access.roles import Role
from qosforge.api.dependencies import Caller, TheAuditEntry, TheBackend
from qosforge.api.middleware.authorization import Needs
from qosforge.api.problems import responses
from qosforge.api.resources import (
    DriftInterval,
    DriftWatchDocument,
    NetworkDetail,
    NetworkEntry,
    NetworkList,
    NewNetwork,
    Writable,
)
from qosforge.device_state.drift_watch import drift_watch, request_check, set_drift_interval
from qosforge.inventory import editing

router = APIRouter(tags=["networks"])


@router.get("/networks", summary="List networks", dependencies=[Depends(Needs(Role.VIEWER))])
def list_networks(caller: Caller, backend: TheBackend) -> NetworkList:
    """The networks that the caller sees."""
    seen = caller.networks(backend.networks.names())
    return NetworkList(networks=[NetworkEntry.of(backend.networks.network(name)) for name in seen])


@router.post(
    "/networks",
    summary="Add a network",
    status_code=201,
    dependencies=[Depends(Needs(Role.ADMIN, everywhere=True))],
)
def add_network(body: NewNetwork, backend: TheBackend, audit: TheAuditEntry) -> NetworkDetail:
    """Create a network without devices. Nothing is pushed to it until it is made writable."""
    audit.network = body.name
    with backend.networks.new(body.name) as folder:
        editing.add_network(folder)
    return NetworkDetail.of(backend.networks.network(body.name))


@router.put(
    "/networks/{network}/writable",
    summary="Allow or forbid changes of a network",
    dependencies=[Depends(Needs(Role.ADMIN))],
    responses=responses(404),
)
def set_writable(body: Writable, backend: TheBackend, audit: TheAuditEntry, network: str) -> Writable:
    """Set in the network's ``changes.yaml`` whether changes may be pushed to its devices."""
    audit.detail = body.model_dump()
    with backend.networks.open_for_writing(network) as folder:
        editing.set_writable(folder, body.writable)
    return body


@router.get(
    "/networks/{network}/drift",
    summary="Show a network's drift",
    dependencies=[Depends(Needs(Role.VIEWER))],
    responses=responses(404),
)
def network_drift(backend: TheBackend, network: str) -> DriftWatchDocument:
    """The schedule of a network's drift checks, and the result of the last one."""
    name = backend.networks.network(network).name
    return DriftWatchDocument.model_validate(drift_watch(backend.database, name))


@router.put(
    "/networks/{network}/drift",
    summary="Schedule a network's drift checks",
    dependencies=[Depends(Needs(Role.ADMIN))],
    responses=responses(404),
)
def watch_network(
    body: DriftInterval, backend: TheBackend, audit: TheAuditEntry, network: str
) -> DriftWatchDocument:
    """Check a network for drift every so many minutes, for the first time at once; null: stop.

    It only reads; to correct drift, start a run.
    """
    name = backend.networks.network(network).name
    audit.detail = body.model_dump()

    def change(connection: sa.Connection) -> None:
        set_drift_interval(connection, name, body.minutes, backend.database.now(connection))
        backend.database.announce(connection)

    backend.database.transact(change)
    return network_drift(backend, name)


@router.post(
    "/networks/{network}/drift",
    summary="Check a network for drift now",
    status_code=202,
    dependencies=[Depends(Needs(Role.OPERATOR))],
    responses=responses(404),
)
def check_drift(backend: TheBackend, network: str) -> DriftWatchDocument:
    """Read every device of a network once, as soon as a process can, and compare it with what the last run left.

    It only reads; ``looked`` of the schedule changes once it is done.
    """
    name = backend.networks.network(network).name

    def change(connection: sa.Connection) -> None:
        request_check(connection, name, backend.database.now(connection))
        backend.database.announce(connection)

    backend.database.transact(change)
    return network_drift(backend, name)


@router.get(
    "/networks/{network}",
    summary="Show a network",
    dependencies=[Depends(Needs(Role.VIEWER))],
    responses=responses(404),
)
def get_network(backend: TheBackend, network: str) -> NetworkDetail:
    """A network: devices, links, end hosts."""
    return NetworkDetail.of(backend.networks.network(network))
