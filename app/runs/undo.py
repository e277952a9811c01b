"""Rolling back a kept run: which run's change stands on a box, and what the boxes held before it."""

from __future__ import annotations

from app.errors import Place
from app.runs.store import Run, RunStore
from app.runs.tables import JournalAction, RunStatus
from app.runs.wrong_state import WrongState

MOST_LATER = 1000
"""Later runs that are looked through."""


def originals(store: RunStore, run_id: str) -> dict[str, str]:
    """Artifacts of what the boxes held before a run that was kept, by device."""
    before: dict[str, str] = {}
    kept: dict[str, str] = {}
    for entry in store.journal.entries(run_id):
        if entry.before is not None:
            before[entry.device] = entry.before
        if entry.action is JournalAction.CONFIRMED and entry.device in before:
            kept[entry.device] = before[entry.device]
    return kept


def require_last(store: RunStore, run: Run) -> None:
    """Make sure that no later run's change stands on the boxes of a kept run.

    Raises:
        WrongState: one does; going back past it would undo it in silence.
    """
    mine = originals(store, run.id)
    later = store.list_runs(limit=MOST_LATER, network=run.network, status=RunStatus.KEPT, after=run.id)
    undone: set[str] = set()
    for other in later:  # newest first: what undid an undoing comes before it
        if other.id in undone:
            continue
        if other.params.get("undo_of"):
            undone.add(other.params["undo_of"])
            continue
        shared = sorted(mine.keys() & originals(store, other.id))
        if shared:
            raise WrongState(
                f"run {other.id} changed {', '.join(shared)} since",
                Place(device=shared[0]),
                f"roll that one back first, or push the policy that should stand: qosforge roll-back {other.id}",
            )
