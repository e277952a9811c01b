"""The prediction beside the preview: submitted as a job, and polled until it is ready."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response
from starlette.exceptions import HTTPException

from qosforge.access.roles import Role
from qosforge.api.dependencies import Caller, TheBackend
from qosforge.api.jobs.queue import JobProgress
from qosforge.intent.policy_analysis import analyse_policy
from qosforge.web.pages import Page, ThePage, sees
from qosforge.web.views.prediction import job_key, submit_prediction
from qosforge.web.views.preview import PreviewForm

router = APIRouter()

_PATH = "/preview/prediction"
_Network = Annotated[str, Query(max_length=128)]
_Key = Annotated[str, Query(pattern=r"^[0-9a-f]{64}$")]


@router.post(_PATH, dependencies=sees(Role.VIEWER, recorded=False))
def predict(
    *, page: ThePage, caller: Caller, backend: TheBackend, form: Annotated[PreviewForm, Depends()]
) -> Response:
    """Submit the prediction of the preview's policy, if that can be compiled."""
    caller.require(Role.VIEWER, form.network)
    network = backend.networks.network(form.network)
    written = form.written(backend, caller)
    reading = analyse_policy(written)
    if reading.loaded is None:  # what is wrong is told above it, by the editor or the preview
        return page.answer("prediction/refused.html.j2", is_edited=form.is_edited)
    job = submit_prediction(backend, network, written, reading.loaded.intent.intent, person=caller.name)
    return _state(page, network.name, job.key, job.progress)


@router.get(_PATH, dependencies=sees(Role.VIEWER))
def prediction(
    *,
    page: ThePage,
    caller: Caller,
    backend: TheBackend,
    network: _Network,
    key: _Key,
    state: Annotated[str, Query(max_length=16)] = "",
) -> Response:
    """The progress of a prediction, or its result; 204 while it is still the ``state`` that the page shows."""
    caller.require(Role.VIEWER, network)
    progress = backend.jobs.progress(job_key(network, key))
    if progress is not None and progress.state == state:
        return Response(status_code=204)
    return _state(page, network, key, progress)


@router.get(f"{_PATH}/figures", dependencies=sees(Role.VIEWER))
def figures(
    *,
    page: ThePage,
    caller: Caller,
    backend: TheBackend,
    network: _Network,
    key: _Key,
    scenario: Annotated[str, Query(max_length=128)],
) -> Response:
    """The figures of one scenario of a prediction that is ready."""
    caller.require(Role.VIEWER, network)
    progress = backend.jobs.progress(job_key(network, key))
    if progress is None or progress.state != "done" or scenario not in progress.result.figures:
        raise HTTPException(404, "there is no such prediction any more: change the policy, or load the page again")
    return page.answer("prediction/figures.html.j2", figures=progress.result.figures[scenario])


def _state(page: Page, network: str, key: str, progress: JobProgress | None) -> Response:
    return page.answer("prediction/prediction.html.j2", network=network, key=key, progress=progress)
