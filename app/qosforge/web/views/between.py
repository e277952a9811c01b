"""Devices between two states: what they hold is not judged before the run that touched them has settled them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from qosforge.api.backend import Backend
from qosforge.runs.record.run import Run
from qosforge.runs.record.tables import RunStatus


@dataclass(frozen=True)
class Unsettled:
    """Why a device is between two states: a ``run`` touched it, and neither kept that nor rolled it back."""

    run: Run

    @property
    def state(self) -> str:
        """``half_way`` where the run stopped there, ``changing`` while it goes on."""
        return "half_way" if self.run.status is RunStatus.NEEDS_RECOVERY else "changing"


def unsettled_devices(backend: Backend) -> Mapping[str, Mapping[str, Unsettled]]:
    """By network and device, those between two states; of a run that stands half-way and whose journal names none
    the device of its reason.

    Raises:
        StoreError: the store is away.
    """
    store = backend.run_requests.store
    runs = store.runs_in({RunStatus.RUNNING, RunStatus.NEEDS_RECOVERY})
    touched = store.journal.open_devices([run.id for run in runs])
    found: dict[str, dict[str, Unsettled]] = {}
    for run in runs:
        for device in touched.get(run.id) or _told(run):
            found.setdefault(run.network, {})[device] = Unsettled(run)
    return found


def _told(run: Run) -> tuple[str, ...]:
    stuck = run.status is RunStatus.NEEDS_RECOVERY
    reasons = run.outcome.reasons if stuck and run.outcome else ()
    return tuple(reason.device for reason in reasons[:1] if reason.device)
