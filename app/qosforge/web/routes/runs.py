"""The list of runs, which refreshes itself."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Response

from qosforge.access.roles import Role
from qosforge.api.dependencies import Caller, TheBackend
from qosforge.api.run_pages import Before, write_cursor
from qosforge.runs.record.tables import RunStatus, Verdict
from qosforge.web.pages import ThePage, sees
from qosforge.web.views.runs import PAGE, Known, RunFilters, fingerprint

router = APIRouter()


@router.get("/runs", dependencies=sees(Role.VIEWER))
def list_runs(
    *,
    page: ThePage,
    caller: Caller,
    backend: TheBackend,
    filters: Annotated[RunFilters, Depends()],
    before: Before,
    known: Known = "",
) -> Response:
    """Runs of the networks that the caller sees, newest first; 204 where the page shows them already."""
    found = filters.runs(backend, caller, before, PAGE + 1)
    shown = found[:PAGE]
    mark = fingerprint(found)
    if page.is_fragment and known == mark:
        return Response(status_code=204)
    networks = caller.networks(backend.networks.names())
    return page.answer(
        "runs/list.html.j2",
        runs=shown,
        older=write_cursor(shown[-1].id) if len(found) > PAGE else None,
        first=before is None,
        filters=filters,
        mark=mark,
        networks=networks,
        policies=backend.policies.seen_by(caller).names(),
        statuses=list(RunStatus),
        verdicts=list(Verdict),
    )
