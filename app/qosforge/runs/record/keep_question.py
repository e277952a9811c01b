"""The word that a run waits for after it compared: whether what it changed is kept."""

from __future__ import annotations

from qosforge.runs.record.run import Run
from qosforge.runs.record.status_events import ASKS
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.summaries import CompareSummary
from qosforge.runs.record.tables import RunStatus


def question(store: RunStore, run: Run) -> str | None:
    """The comparison on which a run waits for a word now; ``None`` where it does not."""
    if run.status is not RunStatus.RUNNING or run.waits_for != ASKS:
        return None
    compared = [
        stage.summary
        for stage in store.stages(run.id)
        if isinstance(stage.summary, CompareSummary) and stage.run_attempt == run.attempt
    ]
    return compared[-1].question if compared else None
