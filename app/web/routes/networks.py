"""Networks: which there are, and one as a drawing with the state of every link."""

from __future__ import annotations

from datetime import UTC, datetime

from fastapi import APIRouter, Response

from app.access.roles import Role
from app.api.dependencies import Caller, TheBackend
from app.deploy.route import lab_of
from app.inventory.catalogue import InventoryBroken
from app.inventory.models import Network
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
    )
