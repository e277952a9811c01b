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


def last_measurement(store: RunStore, network: Network, policy: str) -> LastMeasurement | None:
    """The last measurement of what devices still hold: by the newest run of the policy since the last change
    that was kept, as it measured what and how long this policy wants, else by the newest run of all.

    ``None`` where no run kept its change or found nothing to do, or the newest of them did not measure.
    """
    newest = _settled(store, network)
    if not newest:
        return None
    changed = max((run.id for run in newest if run.status is RunStatus.KEPT), default="")
    own = [run for run in _settled(store, network, policy) if run.id >= changed]
    candidates = [max(runs, key=lambda run: run.id) for runs in (own, newest) if runs]
    return next((found for run in candidates if (found := _measurement_of(store, run))), None)


def _settled(store: RunStore, network: Network, policy: str | None = None) -> list[Run]:
    """The newest run that kept its change, and the newest that found nothing to do, as far as there are any."""
    return [
        run
        for status in (RunStatus.KEPT, RunStatus.NO_CHANGES)
        for run in store.list_runs(limit=1, networks=[network.name], status=status, policy=policy)
    ]


def _measurement_of(store: RunStore, run: Run) -> LastMeasurement | None:
    """What a run measured last of what it left behind; ``None`` where it did not measure."""
    side = "after" if run.status is RunStatus.KEPT else "before"
    measured = [
        stage.summary.measurement
        for stage in store.stages(run.id)
        if isinstance(stage.summary, MeasurementSummary)
        and stage.outcome is StageOutcome.DONE
        and stage.run_attempt == run.attempt
        and stage.name.startswith(f"measure-{side}")
    ]
    return LastMeasurement(run, measured[-1]) if measured else None
