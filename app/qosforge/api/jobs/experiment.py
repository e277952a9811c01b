"""Jobs of experiments: run one on the twin and compare it with its publication."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from qosforge.experiments import Outcome, Session, document, load_experiment
from qosforge.experiments.compare import compare


@dataclass(frozen=True)
class PlottedExperiment:
    """The document of an experiment that was run, and its plots, an ``<svg>`` each."""

    document: dict[str, Any]
    plots: tuple[str, ...]


def compare_with_publication(name: str, seed: int) -> dict[str, Any]:
    """Run an experiment; return its outcome and the comparison with what was published.

    Raises:
        ServiceError: the twin refuses a case.
    """
    return _run_and_compare(name, seed)[1]


def plot_experiment(name: str, seed: int) -> PlottedExperiment:
    """Run an experiment as `compare_with_publication` does, and plot it.

    Raises:
        ServiceError: the twin refuses a case.
    """
    from qosforge.experiments.pictures import pictures  # noqa: PLC0415 - matplotlib takes a second to load

    outcome, compared = _run_and_compare(name, seed)
    return PlottedExperiment(compared, pictures(outcome))


def _run_and_compare(name: str, seed: int) -> tuple[Outcome, dict[str, Any]]:
    session = Session(seed)
    outcome = session.outcome(name)
    return outcome, document(outcome, compare(session, load_experiment(name)))
