"""The published experiments: run in the twin, and compared claim by claim with what the papers say."""

from qosforge.experiments.catalogue import experiment_names, load_experiment
from qosforge.experiments.compare import Comparison
from qosforge.experiments.document import document
from qosforge.experiments.running import Outcome, Session

__all__ = ["Comparison", "Outcome", "Session", "document", "experiment_names", "load_experiment"]
