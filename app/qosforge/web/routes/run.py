"""The page of one run, and the parts of it that are fetched again while the run goes on."""

from __future__ import annotations

from fastapi import APIRouter, Response

from qosforge.access.roles import Role
from qosforge.api.dependencies import Caller, TheBackend
from qosforge.web.pages import Page, ThePage, sees
from qosforge.web.views.run import RunView

router = APIRouter()


@router.get("/runs/{run_id}", dependencies=sees(Role.VIEWER))
def run_page(page: ThePage, caller: Caller, backend: TheBackend, run_id: str) -> Response:
    """All of a run: how far it came, what it would do or did, and what may be asked of it."""
    return _answer(page, "runs/run.html.j2", RunView(backend, caller, backend.desk.run(run_id)))


@router.get("/runs/{run_id}/progress", dependencies=sees(Role.VIEWER))
def run_progress(page: ThePage, caller: Caller, backend: TheBackend, run_id: str) -> Response:
    """How far a run came."""
    return _answer(page, "runs/progress.html.j2", RunView(backend, caller, backend.desk.run(run_id)))


@router.get("/runs/{run_id}/standing", dependencies=sees(Role.VIEWER))
def run_standing(page: ThePage, caller: Caller, backend: TheBackend, run_id: str) -> Response:
    """The rest of its page: decisions, verdicts, what is entered, findings, downloads."""
    return _answer(page, "runs/standing.html.j2", RunView(backend, caller, backend.desk.run(run_id)))


def _answer(page: Page, template: str, view: RunView) -> Response:
    _ = view.seq  # before the rest: what happens meanwhile is told again, and nothing is missed
    return page.answer(template, view=view, run=view.run)
