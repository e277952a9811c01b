"""The first page: what waits for whom, what is under way, and what ran last."""

from __future__ import annotations

from fastapi import APIRouter, Response

from qosforge.access.roles import Role
from qosforge.api.dependencies import Caller, TheBackend
from qosforge.api.run_pages import networks_seen
from qosforge.web.pages import ThePage, sees
from qosforge.web.views.overview import Overview
from qosforge.web.views.runs import Known

router = APIRouter()


@router.get("/", dependencies=sees(Role.VIEWER))
def home(page: ThePage, caller: Caller, backend: TheBackend, known: Known = "") -> Response:
    """What waits, what is under way, the last runs, and the networks that the caller sees; it keeps up to date."""
    overview = Overview.of(backend.desk.store, networks_seen(caller))
    if page.is_fragment and known == overview.mark:
        return Response(status_code=204)
    return page.answer("home.html.j2", overview=overview, networks=caller.networks(backend.networks.names()))
