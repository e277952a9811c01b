"""Expired runs: their record stays, while the retention has dropped their artifacts."""

from __future__ import annotations

from qosforge.runs.record.invalid_state import RunExpired
from qosforge.runs.record.run import Run
from qosforge.runs.record.store import RunStore

RETENTION_STAGE = "retention"
"""Stage that marks a run whose artifacts were given up, and when."""


def require_artifacts(store: RunStore, run: Run) -> None:
    """Make sure that a run still has what another attempt, or a rollback, would need.

    Raises:
        RunExpired: a retention took it.
    """
    for stage in store.stages(run.id):
        if stage.name == RETENTION_STAGE:
            raise RunExpired(
                f"run {run.id} gave up what it had read and prepared on {stage.started:%Y-%m-%d}",
                hint="start a new run",
            )
