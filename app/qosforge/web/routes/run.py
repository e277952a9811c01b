"""The page of one run, and the parts of it that refresh while the run goes on."""

from __future__ import annotations

from fastapi import APIRouter, Response

from qosforge.access.roles import Role
from qosforge.api.dependencies import Caller, TheBackend
from qosforge.web.pages import Page, ThePage, sees
from qosforge.web.views.run import RunView

router = APIRouter()


@router.get("/runs/{run_id}", dependencies=sees(Role.VIEWER))
def run_page(page: ThePage, caller: Caller, backend: TheBackend, run_id: str) -> Response:
    """The whole page of a run: progress, candidate, verdicts and actions."""
    return _answer(page, "runs/run.html.j2", RunView(backend, caller, backend.run_requests.run(run_id)))


@router.get("/runs/{run_id}/progress", dependencies=sees(Role.VIEWER))
def run_progress(page: ThePage, caller: Caller, backend: TheBackend, run_id: str) -> Response:
    """The progress of a run."""
    return _answer(page, "runs/progress.html.j2", RunView(backend, caller, backend.run_requests.run(run_id)))


@router.get("/runs/{run_id}/standing", dependencies=sees(Role.VIEWER))
def run_standing(page: ThePage, caller: Caller, backend: TheBackend, run_id: str) -> Response:
    """The rest of the page: decisions, verdicts, lines to enter, findings, downloads."""
    return _answer(page, "runs/standing.html.j2", RunView(backend, caller, backend.run_requests.run(run_id)))


def _answer(page: Page, template: str, view: RunView) -> Response:
    _ = view.seq  # before the rest: what happens meanwhile is told again, and nothing is missed
    return page.answer(template, view=view, run=view.run)
