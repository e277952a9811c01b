"""Metrics: what a claim reads from rows, by name."""

from qosforge.experiments.metrics import changes, delays, gaps, indices, rates, repeats, sharing, sweeps
from qosforge.experiments.metrics.base import METRICS, LoadAggregate, Metric, NotMeasured, metric

__all__ = [
    "METRICS",
    "LoadAggregate",
    "Metric",
    "NotMeasured",
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
