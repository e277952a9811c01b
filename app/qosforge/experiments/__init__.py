"""The published experiments: run in the twin, and compared claim by claim with what the papers say."""

from qosforge.experiments.catalogue import experiment_labels, experiment_names, load_experiment
from qosforge.experiments.compare import ClaimComparison
from qosforge.experiments.document import document
from qosforge.experiments.running import ExperimentOutcome, ExperimentSession

__all__ = [
    "ClaimComparison",
    "ExperimentOutcome",
    "ExperimentSession",
    "document",
    "experiment_labels",
    "experiment_names",
    "load_experiment",
]
