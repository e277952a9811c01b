"""The last measurement of a network that still holds."""

from __future__ import annotations

from dataclasses import dataclass

from qosforge.inventory.models import Network
from qosforge.runs.record.run import Run
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.summaries import MeasurementSummary
from qosforge.runs.record.tables import RunStatus, StageOutcome


@dataclass(frozen=True, slots=True)
class LastMeasurement:
    """A run, and the artifact of the measurement of what it left behind."""

    run: Run
    artifact: str


def last_measurement(store: RunStore, network: Network) -> LastMeasurement | None:
    """The last measurement of what devices still hold: by the newest run that kept its change or found nothing to
    do.

    ``None`` where there is no such run, or it did not measure.
    """
    settled = [
        run
        for status in (RunStatus.KEPT, RunStatus.NO_CHANGES)
        for run in store.list_runs(limit=1, networks=[network.name], status=status)
    ]
    if not settled:
        return None
    newest = max(settled, key=lambda run: run.id)
    side = "after" if newest.status is RunStatus.KEPT else "before"
    measured = [
        stage.summary.measurement
        for stage in store.stages(newest.id)
        if isinstance(stage.summary, MeasurementSummary)
        and stage.outcome is StageOutcome.DONE
        and stage.run_attempt == newest.attempt
        and stage.name.startswith(f"measure-{side}")
    ]
    return LastMeasurement(newest, measured[-1]) if measured else None
