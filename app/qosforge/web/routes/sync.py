"""Sync of a network's inventory: the difference to its source, and writing it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Query, Response

from qosforge.access.roles import Role
from qosforge.api.dependencies import Caller, TheAuditEntry, TheBackend
from qosforge.api.routes import sync as rest
from qosforge.api.sync_models import SyncRequest
from qosforge.errors import InputError, QosforgeError, SourceError
from qosforge.web.pages import ThePage, sees
from qosforge.web.views.sync import MOST_CHANGES, DifferenceView, origin

router = APIRouter()


@router.get("/networks/{network}/sync", dependencies=sees(Role.ADMIN, everywhere=True))
def show_sync(
    *,
    page: ThePage,
    caller: Caller,
    backend: TheBackend,
    network: str,
    remove: Annotated[bool, Query()] = False,
) -> Response:
    """The difference between a network's inventory and its source, read now, or the error of reading it."""
    found = origin(backend, network)
    view, problems = None, list[QosforgeError](found.problems)
    if found.source is not None:
        try:
            view = DifferenceView.of(rest.network_sync(caller, backend, network, remove))
        except (InputError, SourceError) as error:
            problems = error.problems()
    return page.answer(
        "networks/sync.html.j2",
        network=network,
        origin=found,
        view=view,
        problems=problems,
        most_changes=MOST_CHANGES,
    )


@router.post("/networks/{network}/sync", dependencies=sees(Role.ADMIN, everywhere=True))
def write_sync(
    *,
    page: ThePage,
    caller: Caller,
    backend: TheBackend,
    audit: TheAuditEntry,
    network: str,
    digest: Annotated[str, Form(pattern=r"^[0-9a-f]{64}$")],
    remove: Annotated[bool, Form()] = False,
) -> Response:
    """Write the difference that the page shows, unless it has changed since."""
    done = rest.sync_network(SyncRequest(digest=digest, remove=remove), caller, backend, audit, network)
    return page.answer("networks/synced.html.j2", network=network, done=done)
