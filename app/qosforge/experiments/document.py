"""An experiment's outcome as one JSON document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from qosforge.experiments.compare import ClaimComparison
from qosforge.experiments.rows import ResultRow
from qosforge.experiments.running import ExperimentOutcome


def document(outcome: ExperimentOutcome, comparisons: Sequence[ClaimComparison]) -> dict[str, Any]:
    """Rows of what was measured, and comparisons with what was published."""
    experiment = outcome.experiment
    return {
        "version": 1,
        "experiment": experiment.name,
        "seed": outcome.seed,
        "delay_reference": experiment.delay_reference,
        "conditional_on_delivery": experiment.conditional_on_delivery,
        "rows": [
            _row(scenario, experiment.rate_layer, row)
            for scenario, points in outcome.points.items()
            for point in sorted(points, key=lambda point: point.load or 0.0)
            for row in point.pooled.values()
        ],
        "comparisons": [comparison.document() for comparison in comparisons],
    }


def _row(scenario: str, layer: str, row: ResultRow) -> dict[str, Any]:
    return {
        "scenario": scenario,
        "load": row.load,
        "subject": row.subject,
        "offered_mbps": row.offered_mbps,
        "throughput_mbps": row.throughput_mbps,
        "rate_layer": layer,
        "delay_us": None if row.delay_us is None else dict(row.delay_us),
        "delay_sd_us": row.delay_sd_us,
        "interarrival_sd_us": row.interarrival_sd_us,
        "loss_ratio": row.loss_ratio,
        "packets": row.packets,
        "fairness": row.fairness,
        "unused_mbps": None if row.unused_mbps is None else dict(row.unused_mbps),
        "expected": dict(row.selection.expected),
        **({"values": dict(row.values)} if row.values else {}),
    }
