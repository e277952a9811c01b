"""The runs of a network that are not over: how far each is, and which devices no other run gets meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from qosforge.api.backend import Backend
from qosforge.artifacts.store import ArtifactCorrupt, ArtifactMissing
from qosforge.runs.record.run import Run
from qosforge.runs.record.tables import UNFINISHED, RunStatus
from qosforge.runs.requests.change_size import ChangeSize, change_size
from qosforge.runs.views.progress import progress
from qosforge.web.views.run_steps import steps_of

_GOING_ON = UNFINISHED - {RunStatus.NEEDS_RECOVERY}


@dataclass(frozen=True)
class RunNow:
    """A run that goes on or waits, and how far it is.

    ``step`` is the name of the one under way (empty between two), ``done`` of ``of`` devices are through it, where
    it is done device by device. ``held`` are the devices that no other run gets before it ends or waits;
    ``waits_for_devices``: another run holds those that it wants. ``size`` is how much it would change, of one that
    waits to be approved.
    """

    run: Run
    step: str
    done: int
    of: int
    held: tuple[str, ...]
    waits_for_devices: bool
    size: ChangeSize | None

    @property
    def waits(self) -> bool:
        """Whether it waits for a person or a moment; it holds no device then."""
        return self.run.status.waiting


def runs_now(backend: Backend, network: str) -> tuple[RunNow, ...]:
    """The runs of a network that go on or wait, but for those that stand half-way; what is at work comes first.

    Raises:
        StoreError: the store is away.
    """
    runs = [run for run in _going_on(backend) if run.network == network]
    if not runs:
        return ()
    held: dict[str, list[str]] = {}
    for lease in backend.run_requests.store.leases.active(network):
        held.setdefault(lease.run_id, []).append(lease.device)
    return tuple(_now(backend, run, tuple(held.get(run.id, ())), taken=bool(held)) for run in runs)


def first_going_on(backend: Backend) -> Mapping[str, Run]:
    """By the name of the network, the first of `runs_now`.

    Raises:
        StoreError: the store is away.
    """
    return {run.network: run for run in reversed(_going_on(backend))}


def _going_on(backend: Backend) -> list[Run]:
    found = backend.run_requests.store.runs_in(_GOING_ON)
    return sorted(found, key=lambda run: (run.status.waiting, run.id))


def _now(backend: Backend, run: Run, held: tuple[str, ...], *, taken: bool) -> RunNow:
    store = backend.run_requests.store
    if run.status.waiting:
        return RunNow(run, "", 0, 0, (), waits_for_devices=False, size=_size(backend, run))
    steps = steps_of(run, progress(store, run), (), {}, asks=False) if held else ()
    step = next((one for one in steps if one.state == "now"), None)
    done, _, of = (step.devices if step else "").partition("/")
    waiting = taken and not held and run.status is RunStatus.RUNNING
    return RunNow(run, step.name if step else "", int(done or 0), int(of or 0), held, waiting, None)


def _size(backend: Backend, run: Run) -> ChangeSize | None:
    """How much it would change, as far as it prepared that and its files are whole."""
    try:
        return change_size(backend.run_requests.store, backend.artifacts, run)
    except (ArtifactCorrupt, ArtifactMissing):
        return None
