"""The first page: what waits, how every network is, and the last runs."""

from __future__ import annotations

from fastapi import APIRouter, Response

from qosforge.access.roles import Role
from qosforge.api.dependencies import Caller, TheBackend
from qosforge.web.pages import ThePage, sees
from qosforge.web.views.overview import Overview
from qosforge.web.views.runs import Known

router = APIRouter()


@router.get("/", dependencies=sees(Role.VIEWER))
def home(page: ThePage, caller: Caller, backend: TheBackend, known: Known = "") -> Response:
    """The overview of runs and of the caller's networks; it refreshes itself."""
    overview = Overview.of(backend, caller)
    if page.is_fragment and known == overview.mark:
        return Response(status_code=204)
    return page.answer("home.html.j2", overview=overview)
