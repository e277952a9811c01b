"""The published experiments: run in the twin, and compared claim by claim with what the papers say."""

from app.experiments.catalogue import experiment_names, load_experiment
from app.experiments.compare import Comparison
from app.experiments.document import document
from app.experiments.running import Outcome, Session

__all__ = ["Comparison", "Outcome", "Session", "document", "experiment_names", "load_experiment"]
