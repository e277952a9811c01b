"""The experiments that exist, read from the data files."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from pydantic import ValidationError

from qosforge.errors import InputError, Place, ServiceError
from qosforge.experiments.model import Experiment, ExperimentLabels
from qosforge.resources import read_yaml

_FOLDER = "qosforge/experiments/data"


@cache
def experiment_names() -> tuple[str, ...]:
    """All experiments, in the order of their papers."""
    return tuple(_data("index.yaml"))


@cache
def load_experiment(name: str) -> Experiment:
    """One experiment by its name.

    Raises:
        InputError: there is none of this name.
        ServiceError: its data file is wrong.
    """
    if name not in experiment_names():
        raise InputError(f"there is no experiment {name!r}", hint=f"use one of {', '.join(experiment_names())}")
    claims = _data(f"{name}/claims.yaml")
    try:
        return Experiment(**_data(f"{name}/experiment.yaml"), claims=claims)
    except ValidationError as error:
        first = error.errors()[0]
        where = _place(first["loc"], claims)
        raise ServiceError(f"experiment {name}: {where}: {first['msg']}", Place(file=f"{_FOLDER}/{name}")) from None


@cache
def experiment_labels() -> ExperimentLabels:
    """The readers' words for metrics, devices, their parts and scenarios."""
    return ExperimentLabels.model_validate(_data("labels.yaml"))


def _place(loc: Sequence[int | str], claims: Any) -> str:
    """Where in the data an error is; a claim by its id."""
    match loc:
        case ("claims", int(number), *rest) if isinstance(claims[number], dict):
            loc = ("claims", claims[number].get("id", number), *rest)
    return ".".join(str(part) for part in loc)


def _data(name: str) -> Any:
    return read_yaml(f"{_FOLDER}/{name}")
