"""Rolling back a kept run: which runs changed a device, its configuration before, and the lines that restore it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from qosforge.compiler.candidate import Candidate, rollback_difference, rollback_lines
from qosforge.deploy.driver_capabilities import driver_capabilities
from qosforge.deploy.transaction import Target, require_as_before
from qosforge.errors import DeviceError, Place
from qosforge.platforms.device_text import DeviceText
from qosforge.runs.record.expired import require_artifacts
from qosforge.runs.record.invalid_state import InvalidState, require_status
from qosforge.runs.record.outlines import RunOutline
from qosforge.runs.record.run import Run
from qosforge.runs.record.step_error import StepError
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.tables import JournalAction, RunStatus
from qosforge.runs.workflow.context import Context

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


def rolled_back_by(store: RunStore, run: Run) -> Run | None:
    """The run that rolled a kept one back, if that still holds: it was kept, and not rolled back itself."""
    return rolled_back_since(store, [run]).get(run.id)


def rolled_back_since(store: RunStore, runs: Iterable[Run | RunOutline]) -> dict[str, Run]:
    """By the ids of those of these runs that were kept and do not stand any more: the run that rolled each back."""
    newest: dict[str, Run] = {}
    for other in store.rollbacks_of([run.id for run in runs if run.status is RunStatus.KEPT]):
        if other.status is RunStatus.KEPT:
            newest.setdefault(str(other.resolved.rollback_of), other)
    undone = rolled_back_since(store, newest.values()) if newest else {}
    return {run_id: other for run_id, other in newest.items() if other.id not in undone}


def require_last(store: RunStore, run: Run) -> None:
    """Make sure that a kept run's change is the last one on its devices, and that what they held is known.

    Raises:
        InvalidState: a later one stands there, which going back would undo in silence; or a retention took it.
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
            raise InvalidState(
                f"run {other.id} changed {', '.join(shared)} since",
                Place(device=shared[0]),
                f"roll that one back first, or push the policy that should stand: qosforge rollback {other.id}",
            )


def rollback_targets(context: Context) -> dict[str, Target]:
    """What the devices have to go back to, by device."""
    if context.resolved.rollback_of is None:
        return {}
    found = {}
    for name, before in originals(context.store, context.resolved.rollback_of).items():
        device = context.network.device(name)
        found[name] = Target(
            device=name,
            platform=device.platform,
            capabilities=driver_capabilities(device.driver, name),
            original=context.configuration(name, before),
            delta=(),
            meets=lambda _text: False,
        )
    return found


def rollback_changes(context: Context, held: Mapping[str, str]) -> dict[str, Candidate]:
    """By device: the lines that lead back, and those that undo them.

    Only lines that qosforge manages differ: what others changed since stays.

    Raises:
        InvalidState: a later run's change stands on a device.
    """
    if context.resolved.rollback_of is not None:
        require_last(context.store, context.store.get_run(context.resolved.rollback_of))
    ways = {}
    for name, target in rollback_targets(context).items():
        ways[name] = context.compute(
            rollback_change, name, target.platform, context.configuration(name, held[name]), target.original
        )
    return ways


def rollback_change(device: str, platform: str, now: DeviceText, original: DeviceText) -> Candidate:
    """The lines that lead from what a device holds to what it held, and those that undo them."""
    there, back = rollback_lines(platform, now, original), rollback_lines(platform, original, now)
    changed = rollback_difference(platform, now, original) if there else ()
    return Candidate(device, there, back, difference=changed)


def is_restored(target: Target, running: DeviceText) -> bool:
    """Whether a device is back: what we manage reads as it did."""
    return not rollback_lines(target.platform, running, target.original)


def find_unrestored(context: Context, after: Mapping[str, str]) -> list[StepError]:
    """What does not read as it did, as errors; notes of what others changed go into the journal."""
    found = []
    for name, target in rollback_targets(context).items():
        if name in after:
            try:
                note = require_as_before(target, context.configuration(name, after[name]))
            except DeviceError as error:
                context.record(name, "failed", note=error.message)
                found.append(StepError.of(context.fleet.words(name).shown_in(error)))
            else:
                context.record(name, "read_back", note=note or "reads as before")
    return found
