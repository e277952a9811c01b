"""The first page: what waits for whom, and what ran last."""

from __future__ import annotations

from fastapi import APIRouter, Response

from app.access.roles import Role
from app.api.dependencies import Caller, TheBackend
from app.runs.tables import RunStatus
from app.web.pages import ThePage, sees

router = APIRouter()

_LAST = 8


@router.get("/", dependencies=sees(Role.VIEWER))
def home(page: ThePage, caller: Caller, backend: TheBackend) -> Response:
    """What waits for an approval, the last runs, and the networks that the caller sees."""
    networks = caller.networks(backend.networks.names())
    return page.answer(
        "home.html.j2",
        networks=networks,
        waiting=backend.desk.runs(networks, status=RunStatus.NEEDS_APPROVAL, limit=_LAST),
        last=backend.desk.runs(networks, limit=_LAST),
    )
