"""What is predicted of a change that waits, in a line: its objectives, and the classes that would lose much."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from qosforge.api.backend import Backend
from qosforge.artifacts.store import ArtifactCorrupt, ArtifactMissing
from qosforge.prediction.record import left_to_run
from qosforge.runs.record.run import Run
from qosforge.runs.record.summaries import PredictionSummary
from qosforge.runs.requests.predicted_broken import predicted_verdicts
from qosforge.runs.requests.retry_conditions import last_summary
from qosforge.runs.views.trade_offs import run_trade_offs
from qosforge.web.views.objective_counts import ObjectiveCounts


@dataclass(frozen=True)
class PredictedChange:
    """A prediction in numbers; ``counts`` is ``None`` where nothing is judged.

    ``left_to_run``: the bounds that are open are, because less was simulated than the run measures. ``losses`` are
    the classes without an objective that would lose so much that little gets through, and what they lose.
    """

    counts: ObjectiveCounts | None = None
    left_to_run: bool = False
    losses: tuple[tuple[str, str], ...] = ()

    @property
    def broken(self) -> int:
        """How many objectives would be broken."""
        return self.counts.broken if self.counts else 0


def predicted_change(backend: Backend, run: Run) -> PredictedChange:
    """What is predicted of a run's change, as far as it is kept.

    Raises:
        StoreError: the store is away.
    """
    store, artifacts = backend.run_requests.store, backend.artifacts
    summary = last_summary(store, run, "predict")
    if not isinstance(summary, PredictionSummary):
        return PredictedChange()
    with suppress(ArtifactCorrupt, ArtifactMissing):
        verdicts = predicted_verdicts(store, artifacts, run)
        losses = [
            (one.name, figure.value)
            for one in run_trade_offs(artifacts, run.resolved, {"predicted": summary})
            if one.is_grave
            for figure in one.figures
            if figure.label == "loss"
        ]
        left = left_to_run(summary.simulated or (), summary.findings or ())
        return PredictedChange(ObjectiveCounts.of(verdicts) if verdicts else None, left is not None, tuple(losses))
    return PredictedChange()
