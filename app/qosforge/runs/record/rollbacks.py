"""Kept runs that can be rolled back: which runs were started for that, and what their devices held before."""

from __future__ import annotations

from qosforge.errors import Place
from qosforge.runs.record.expired import require_artifacts
from qosforge.runs.record.invalid_state import ChangedSince, require_status
from qosforge.runs.record.run import Run
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.tables import JournalAction, RunStatus

MAX_LATER_RUNS = 1000
"""Later runs that are looked through."""


def originals(store: RunStore, run_id: str) -> dict[str, str]:
    """Artifacts of what the devices held before a run that was kept, by device."""
    before: dict[str, str] = {}
    kept: dict[str, str] = {}
    for entry in store.journal.entries(run_id):
        if entry.before is not None:
            before[entry.device] = entry.before
        if entry.action is JournalAction.CONFIRMED and entry.device in before:
            kept[entry.device] = before[entry.device]
    return kept


def require_rollback_possible(store: RunStore, run: Run) -> None:
    """Make sure that a run can be rolled back: it was kept, and nothing stands on what it did.

    Raises:
        InvalidState: it was not kept, or a later run's change stands on its devices.
    """
    require_status(run, frozenset({RunStatus.KEPT}), "has nothing to roll back")
    require_last(store, run)


def rollbacks_of(store: RunStore, run: Run) -> list[Run]:
    """The runs that were started to roll this one back, newest first."""
    return store.rollbacks_of([run.id])


def require_last(store: RunStore, run: Run) -> None:
    """Make sure that a kept run's change is the last one on its devices, and that what they held is known.

    Raises:
        ChangedSince: a later one stands there, which going back would undo in silence.
        RunExpired: a retention took what they held.
    """
    require_artifacts(store, run)
    mine = originals(store, run.id)
    later = store.list_runs(limit=MAX_LATER_RUNS, networks=[run.network], status=RunStatus.KEPT, after=run.id)
    undone: set[str] = set()
    for other in later:  # newest first: what undid an undoing comes before it
        if other.id in undone:
            continue
        rolled_back = other.resolved.rollback_of
        if rolled_back is not None:
            undone.add(rolled_back)
            continue
        shared = sorted(mine.keys() & originals(store, other.id))
        if shared:
            raise ChangedSince(
                f"run {other.id} changed {', '.join(shared)} since",
                Place(device=shared[0]),
                f"roll that one back first, or push the policy that should stand: qosforge rollback {other.id}",
            )
