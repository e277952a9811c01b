"""Metrics: what a claim reads from rows, by name."""

from qosforge.experiments.metrics import changes, delays, gaps, indices, rates, repeats, sharing, sweeps
from qosforge.experiments.metrics.base import METRICS, Metric, NotMeasured, Over, metric

__all__ = [
    "METRICS",
    "Metric",
    "NotMeasured",
    "Over",
    "changes",
    "delays",
    "gaps",
    "indices",
    "metric",
    "rates",
    "repeats",
    "sharing",
    "sweeps",
]
