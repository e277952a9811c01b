"""Networks: which there are, and one as a drawing with the state of every link."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Form, Response

from app.access.roles import Role
from app.api.dependencies import Caller, TheBackend, TheNote
from app.api.resources import DriftInterval
from app.api.routes import networks as rest
from app.deploy.route import lab_of
from app.inventory.catalogue import InventoryBroken
from app.inventory.models import Network
from app.runs.drift_watch import LEAST_MINUTES, MOST_MINUTES
from app.runs.rules import NetworkRules
from app.web.pages import ThePage, sees
from app.web.views.networks import network_view

router = APIRouter()


@router.get("/networks", dependencies=sees(Role.VIEWER))
def list_networks(page: ThePage, caller: Caller, backend: TheBackend) -> Response:
    """The networks that the caller sees."""
    found: list[Network] = []
    problems: list[InventoryBroken] = []
    for name in caller.networks(backend.networks.names()):
        try:
            found.append(backend.networks.network(name))
        except InventoryBroken as error:
            problems.append(error)
    return page.answer("networks/list.html.j2", networks=found, problems=problems)


@router.get("/networks/{network}", dependencies=sees(Role.VIEWER))
def show_network(page: ThePage, backend: TheBackend, network: str) -> Response:
    """A network: its drawing, its links, and the rules of its changes."""
    found = backend.networks.network(network)
    now = datetime.now(UTC)
    emulated = lab_of(backend.settings, found) is not None
    return page.answer(
        "networks/network.html.j2",
        view=network_view(backend, found),
        rules=found.changes,
        approval=NetworkRules(backend.settings).approval(found.changes),
        closed=found.changes.closed_by(now),
        opens=found.changes.next_open(now),
        emulated=emulated,
        read_only=found.changes.read_only(emulated=emulated),
        watch=rest.network_drift(backend, network),
    )


@router.put("/networks/{network}/drift", dependencies=sees(Role.ADMIN))
def watch_network(
    *,
    page: ThePage,
    backend: TheBackend,
    note: TheNote,
    network: str,
    minutes: Annotated[int | None, Form(title="Minutes", ge=LEAST_MINUTES, le=MOST_MINUTES)] = None,
) -> Response:
    """Say how often the service looks at a network for drift."""
    watch = rest.watch_network(DriftInterval(minutes=minutes), backend, note, network)
    told = page.text("The service looks for drift by itself.") if minutes else page.text("It looks no more.")
    return page.answer("networks/drift.html.j2", watch=watch, told=told)
