"""The papers' experiments: their claims and the twin's results."""

from __future__ import annotations

import json
from collections import Counter

from fastapi import APIRouter, Response
from starlette.exceptions import HTTPException

from qosforge.access.roles import Role
from qosforge.api.backend import Backend
from qosforge.api.dependencies import Caller, TheBackend
from qosforge.api.jobs.experiment import PlottedExperiment
from qosforge.api.jobs.queue import JobProgress
from qosforge.experiments import experiment_labels, experiment_names, load_experiment
from qosforge.experiments.model import Experiment, Paper
from qosforge.web.pages import Page, ThePage, sees
from qosforge.web.views.experiments import (
    SEED,
    claim_views,
    claims_by_place,
    experiment_progress,
    row_views,
    submit_every_experiment,
    submit_experiment,
    tally,
)

router = APIRouter()

_EXPERIMENT = "/experiments/{name}"


@router.get("/experiments", dependencies=sees(Role.VIEWER))
def list_experiments(page: ThePage, backend: TheBackend) -> Response:
    """The experiments by paper, with the results of those that were run."""
    return _list(page, backend)


@router.post("/experiments/run", dependencies=sees(Role.OPERATOR, recorded=False))
def run_every_experiment(page: ThePage, backend: TheBackend) -> Response:
    """Run all experiments that were not run yet on the twin, as background jobs one after the other."""
    submit_every_experiment(backend)
    return _list(page, backend)


def _list(page: Page, backend: Backend) -> Response:
    found = [load_experiment(name) for name in experiment_names()]
    papers: dict[Paper, list[Experiment]] = {}
    outcomes: dict[str, dict[str, int]] = {}
    states = {}
    for experiment in found:
        papers.setdefault(experiment.paper, []).append(experiment)
        progress = experiment_progress(backend, experiment.name)
        states[experiment.name] = progress.state if progress is not None else ""
        result = _result(progress)
        if result is not None:
            outcomes[experiment.name] = tally(claim_views(experiment, result.document))
    return page.answer(
        "experiments/list.html.j2",
        papers=papers.items(),
        outcomes=outcomes,
        states=states,
        figures={
            published: sum(len(one.claims) for one in found if one.paper.published is published)
            for published in (True, False)
        },
        ended=sum(state in ("done", "failed") for state in states.values()),
        under_way=sum(state in ("waiting", "computing") for state in states.values()),
        agreement=sum((Counter(one) for one in outcomes.values()), Counter()),
    )


@router.get(_EXPERIMENT, dependencies=sees(Role.VIEWER))
def show_experiment(page: ThePage, backend: TheBackend, name: str) -> Response:
    """An experiment: its setup and claims, and its results where it was run."""
    return _outcome(page, backend, _require_known(name), "experiments/experiment.html.j2")


@router.get(f"{_EXPERIMENT}/outcome", dependencies=sees(Role.VIEWER))
def outcome(page: ThePage, backend: TheBackend, name: str) -> Response:
    """The progress of an experiment, or its results."""
    return _outcome(page, backend, _require_known(name), "experiments/outcome.html.j2")


@router.post(f"{_EXPERIMENT}/run", dependencies=sees(Role.OPERATOR, recorded=False))
def run_experiment(page: ThePage, caller: Caller, backend: TheBackend, name: str) -> Response:
    """Run the experiment on the twin as a background job."""
    experiment = _require_known(name)
    submit_experiment(backend, experiment.name, person=caller.name)
    return _outcome(page, backend, experiment, "experiments/outcome.html.j2")


@router.get(f"{_EXPERIMENT}/plots", dependencies=sees(Role.VIEWER))
def plots(page: ThePage, backend: TheBackend, name: str) -> Response:
    """The plots of an experiment that was run."""
    experiment = _require_known(name)
    found = _require_result(backend, experiment)
    return page.answer("experiments/plots.html.j2", plots=list(zip(found.plots, found.captions, strict=True)))


@router.get(f"{_EXPERIMENT}/outcome.json", dependencies=sees(Role.VIEWER))
def download(backend: TheBackend, name: str) -> Response:
    """The results as the command line and the API give them."""
    experiment = _require_known(name)
    headers = {"Content-Disposition": f'attachment; filename="{experiment.name}.json"'}
    body = json.dumps(_require_result(backend, experiment).document, ensure_ascii=False)
    return Response(body, media_type="application/json", headers=headers)


def _outcome(page: Page, backend: Backend, experiment: Experiment, template: str) -> Response:
    progress = experiment_progress(backend, experiment.name)
    found = _result(progress)
    claims = claim_views(experiment, found.document if found else None)
    return page.answer(
        template,
        experiment=experiment,
        seed=SEED,
        progress=progress,
        claims=claims,
        places=claims_by_place(claims),
        labels=experiment_labels(),
        tally=tally(claims),
        rows=row_views(experiment, found.document) if found else (),
        every_row=len(found.document["rows"]) if found else 0,
    )


def _result(progress: JobProgress | None) -> PlottedExperiment | None:
    """The result of an experiment; its progress is read once a page, since it may be dropped at any time."""
    return progress.result if progress is not None and progress.state == "done" else None


def _require_result(backend: Backend, experiment: Experiment) -> PlottedExperiment:
    found = _result(experiment_progress(backend, experiment.name))
    if found is None:
        raise HTTPException(404, "the experiment was not run since the service began")
    return found


def _require_known(name: str) -> Experiment:
    if name not in experiment_names():
        raise HTTPException(404, "there is no such experiment")
    return load_experiment(name)
