"""The page of one run, and the parts of it that refresh while the run goes on."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Response

from qosforge.access.roles import Role
from qosforge.api.dependencies import Caller, TheBackend
from qosforge.errors import InputError, QosforgeError, ServiceError
from qosforge.web.pages import Page, ThePage, sees
from qosforge.web.views.run import RunView
from qosforge.web.views.run_events import EventSearch, Listed
from qosforge.web.views.run_tab import Tab

router = APIRouter()


def _event_search(
    device: Annotated[str, Query(max_length=128)] = "",
    step: Annotated[str, Query(max_length=64)] = "",
    errors: Annotated[Literal["", "only"], Query()] = "",
    events: Annotated[Listed, Query()] = "",
) -> EventSearch:
    return EventSearch(device.strip(), step, errors=errors == "only", listed=events)


def _view(
    caller: Caller,
    backend: TheBackend,
    run_id: str,
    *,
    tab: Annotated[Tab | Literal[""], Query()] = "",
    scenario: Annotated[str, Query(max_length=128)] = "",
    figure: Annotated[str, Query(max_length=32)] = "",
    search: Annotated[EventSearch, Depends(_event_search)],
) -> RunView:
    return RunView(backend, caller, backend.run_requests.run(run_id), tab, scenario, figure, search)


TheView = Annotated[RunView, Depends(_view)]
"""The run of a route, and which part of its page is asked for."""


@router.get("/runs/{run_id}", dependencies=sees(Role.VIEWER))
def run_page(page: ThePage, view: TheView, draw: Annotated[Literal["", "now"], Query()] = "") -> Response:
    """The whole page of a run; ``draw`` has its figures drawn for a browser without scripts."""
    failed = _draw(view) if draw else None
    return _answer(page, "runs/run.html.j2", replace(view), failed)


@router.get("/runs/{run_id}/progress", dependencies=sees(Role.VIEWER))
def run_progress(page: ThePage, view: TheView, standing: Annotated[str, Query(max_length=128)] = "") -> Response:
    """What the run is doing, in a sentence and by steps; with the rest of the page, where what is shown of that, by
    its key ``standing``, is not true any more.
    """
    return _answer(page, "runs/progress.html.j2", view, brings_standing=bool(standing) and standing != view.key)


@router.get("/runs/{run_id}/standing", dependencies=sees(Role.VIEWER))
def run_standing(page: ThePage, view: TheView) -> Response:
    """The rest of the page: what each class gets, and the part that was chosen."""
    return _answer(page, "runs/standing.html.j2", view)


@router.get("/runs/{run_id}/watch", dependencies=sees(Role.VIEWER))
def run_watch(page: ThePage, view: TheView) -> Response:
    """Devices by step, stages and events."""
    return _answer(page, "runs/watch.html.j2", view)


@router.get("/runs/{run_id}/figures", dependencies=sees(Role.VIEWER))
def run_figures(page: ThePage, view: TheView, brief: Annotated[Literal["", "yes"], Query()] = "") -> Response:
    """The figures of a scenario: as they are kept, else drawn now, which takes seconds, and kept.

    ``brief``: not themselves, but that they are drawn, for a part of the page that does not show them.
    """
    failed = None if view.drawn.document else _draw(view)
    template = "runs/figures-drawn.html.j2" if brief else "runs/figures.html.j2"
    return page.answer(template, view=replace(view), run=view.run, failed=failed)


def _draw(view: RunView) -> QosforgeError | None:
    """Draw the figures that are asked for; what kept that from being done, for the page to tell."""
    if not view.measured:
        return None
    try:
        drawn = view.drawn.draw(view.caller)
    except ServiceError as error:
        return error
    return None if drawn else InputError("the run measured no such scenario", hint="choose one of those it has")


def _answer(
    page: Page,
    template: str,
    view: RunView,
    failed: QosforgeError | None = None,
    *,
    brings_standing: bool = False,
) -> Response:
    _ = view.seq  # before the rest: what happens meanwhile is told again, and nothing is missed
    return page.answer(template, view=view, run=view.run, failed=failed, brings_standing=brings_standing)
