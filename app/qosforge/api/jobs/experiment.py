"""Jobs of experiments: run one on the twin and compare it with its publication."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from qosforge.experiments import ExperimentOutcome, ExperimentSession, document, load_experiment
from qosforge.experiments.compare import compare_claims


@dataclass(frozen=True)
class PlottedExperiment:
    """The document of an experiment that was run, and its plots: an ``<svg>`` and a caption each."""

    document: dict[str, Any]
    plots: tuple[str, ...]
    captions: tuple[str, ...] = ()


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
    from qosforge.experiments.figures import captions, figures  # noqa: PLC0415 - matplotlib takes a second to load

    outcome, compared = _run_and_compare(name, seed)
    return PlottedExperiment(compared, figures(outcome), captions(outcome))


def _run_and_compare(name: str, seed: int) -> tuple[ExperimentOutcome, dict[str, Any]]:
    session = ExperimentSession(seed)
    outcome = session.outcome(name)
    return outcome, document(outcome, compare_claims(session, load_experiment(name)))
