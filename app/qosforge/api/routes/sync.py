"""Syncs of a network's inventory with its source: the difference, and writing it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query

from qosforge.access.roles import Role
from qosforge.api.dependencies import Caller, TheAuditEntry, TheBackend
from qosforge.api.jobs.sync import preview_sync, source_of, write_sync
from qosforge.api.middleware.authorization import Needs
from qosforge.api.problems import responses
from qosforge.api.sync_models import SyncDifference, SyncRequest, SyncResult

router = APIRouter(tags=["networks"])

_ADMIN = [Depends(Needs(Role.ADMIN, everywhere=True))]
"""Of every network, as for a device that is added: what a source tells has addresses, which learn credentials."""


@router.get(
    "/networks/{network}/sync",
    summary="Compare a network with its source",
    dependencies=_ADMIN,
    responses=responses(404, 502),
)
def network_sync(
    caller: Caller,
    backend: TheBackend,
    network: str,
    remove: Annotated[
        bool, Query(description="Whether devices that the source does not have would be taken out.")
    ] = False,
) -> SyncDifference:
    """Compare a network's inventory with its source. Nothing is written, no device is contacted.

    It has as long as a request has: what takes longer is for the command line, `qosforge network sync`.
    """
    source = source_of(backend, network)
    preview = preview_sync(backend, caller, network, remove=remove)
    return SyncDifference.of(network, source, preview)


@router.post(
    "/networks/{network}/sync",
    summary="Sync a network with its source",
    dependencies=_ADMIN,
    responses=responses(404, 409, 502),
)
def sync_network(
    body: SyncRequest, caller: Caller, backend: TheBackend, audit: TheAuditEntry, network: str
) -> SyncResult:
    """Write the difference of this digest into the inventory; 409 where it has changed since.

    The source is read again. All files are written or none; what people wrote beyond the source stays.
    """
    audit.network, audit.detail = network, body.model_dump()
    plan = write_sync(backend, caller, network, body.digest, remove=body.remove)
    return SyncResult(
        network=network,
        written=[file.name for file in plan.files],
        devices=plan.devices,
        links=plan.links,
        left=[] if plan.remove else list(plan.gone),
    )
