"""The papers' experiments: their data, and their claims compared with the twin's results."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from qosforge.access.roles import Role
from qosforge.api.dependencies import Caller, TheBackend
from qosforge.api.jobs.experiment import compare_with_publication
from qosforge.api.middleware.authorization import Needs
from qosforge.api.problems import responses
from qosforge.experiments import experiment_names, load_experiment
from qosforge.experiments.model import Experiment

router = APIRouter(tags=["experiments"])


class ExperimentEntry(BaseModel):
    """An experiment in a list."""

    name: str
    title: str
    paper: dict[str, Any]
    claims: int


class ExperimentList(BaseModel):
    """All experiments, in the order of their papers."""

    experiments: list[ExperimentEntry]


class ExperimentComparison(BaseModel):
    """The results of an experiment on the twin, and the comparison with each claim; as on the command line."""

    version: int
    experiment: str
    seed: int
    delay_reference: str
    conditional_on_delivery: bool
    rows: list[dict[str, Any]]
    comparisons: list[dict[str, Any]]


@router.get("/experiments", summary="List experiments", dependencies=[Depends(Needs(Role.VIEWER))])
def list_experiments() -> ExperimentList:
    """The experiments, with their papers and numbers of claims."""
    found = [load_experiment(name) for name in experiment_names()]
    return ExperimentList(
        experiments=[
            ExperimentEntry(name=e.name, title=e.title, paper=e.paper.model_dump(), claims=len(e.claims))
            for e in found
        ]
    )


@router.get(
    "/experiments/{name}",
    summary="Show an experiment",
    dependencies=[Depends(Needs(Role.VIEWER))],
    responses=responses(404),
)
def get_experiment(name: str) -> dict[str, Any]:
    """An experiment's data: its setup, and the published figures and claims."""
    return _require_known(name).model_dump(mode="json", by_alias=True)


@router.post(
    "/experiments/{name}/compare",
    summary="Compare an experiment with its paper",
    response_model=ExperimentComparison,
    dependencies=[Depends(Needs(Role.OPERATOR, recorded=False))],
    responses=responses(404),
)
def compare_experiment(
    caller: Caller, backend: TheBackend, name: str, seed: Annotated[int, Query(ge=0, le=2**64 - 1)] = 1
) -> dict[str, Any]:
    """Run an experiment on the twin and compare it claim by claim.

    It has as long as a request has: the largest ones are for the command line, `qosforge experiment run`.
    """
    experiment = _require_known(name)
    return backend.compute_for(caller, compare_with_publication, experiment.name, seed)


def _require_known(name: str) -> Experiment:
    if name not in experiment_names():
        raise HTTPException(404, "there is no such experiment")
    return load_experiment(name)
