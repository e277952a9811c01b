"""Steps that touch devices: push a wave, leave devices out, confirm, roll back, and settle what was left."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial

from qosforge.compiler.candidate import plan_differences
from qosforge.compiler.compile import CompiledDevice
from qosforge.deploy import transaction
from qosforge.deploy.device_driver import DeviceDriver
from qosforge.deploy.driver_capabilities import driver_capabilities
from qosforge.deploy.fleet import Outcome
from qosforge.deploy.transaction import Target
from qosforge.errors import DeviceError, Place, ServiceError, StoreError
from qosforge.platforms.device_text import DeviceText
from qosforge.runs.record.attempts import attempt_start
from qosforge.runs.record.gathered_errors import gather_errors
from qosforge.runs.record.leases import LeaseLost
from qosforge.runs.record.rollout_record import LEAVE_OUT, planned_waves
from qosforge.runs.record.step_error import StepError
from qosforge.runs.record.summaries import (
    KeepSummary,
    PlannedWave,
    PreparedDevice,
    PushSummary,
    ReadBackSummary,
    ReadSummary,
    StageSummary,
)
from qosforge.runs.workflow import rollback
from qosforge.runs.workflow.context import Context
from qosforge.runs.workflow.results import ConfirmResult, RestoreResult, WaveResult
from qosforge.runs.workflow.steps.hindrance import find_hindrance
from qosforge.runs.workflow.steps.prepare import errors_of, recompile, stop_after, store_texts


def _targets(
    context: Context,
    original: Mapping[str, str],
    prepared: Mapping[str, PreparedDevice],
    meets: Mapping[str, Callable[[DeviceText], bool]] | None = None,
) -> dict[str, Target]:
    """The devices of a run; what they have to meet is worked out where something is entered or kept: `_goals`."""
    targets = {}
    for name, planned in prepared.items():
        device = context.network.device(name)
        targets[name] = Target(
            device=name,
            platform=device.platform,
            capabilities=driver_capabilities(device.driver, name),
            original=context.configuration(name, original[name]),
            delta=tuple(context.artifacts.get_text(planned.delta).splitlines()),
            meets=meets[name] if meets is not None else _nothing_meets,
        )
    return targets


def _goals(
    context: Context, original: Mapping[str, str], *, touched: bool
) -> Mapping[str, Callable[[DeviceText], bool]]:
    """Whether a running configuration is what the run wants of a device, by device."""
    if context.resolved.rollback_of is None:
        compiled = recompile(context, original, touched=touched)
        return {device.name: partial(_meets, device) for device in compiled.devices}
    return {
        name: partial(rollback.is_restored, before) for name, before in rollback.rollback_targets(context).items()
    }


def _nothing_meets(_running: DeviceText) -> bool:
    return False


def _meets(device: CompiledDevice, running: DeviceText) -> bool:
    return not plan_differences(device, running)


@dataclass(frozen=True)
class NumberedWave:
    """A planned wave with its number, and how many there are."""

    wave: PlannedWave
    number: int
    total: int

    def __str__(self) -> str:
        devices = ", ".join(self.wave.devices)
        return devices if self.total == 1 else f"wave {self.number} of {self.total}, {self.wave.name}: {devices}"


def push_wave(
    context: Context,
    original: Mapping[str, str],
    prepared: Mapping[str, PreparedDevice],
    numbered: NumberedWave,
    candidate: str | None,
) -> WaveResult:
    """Enter the deltas of one wave and read back; what a device holds must be what was meant.

    ``candidate`` is what the gate is asked about; a push that nothing holds up has none. Where the run has to stop,
    the errors are of devices that were left in the midst of it.

    Raises:
        LeaseLost: another run took a device before one was touched.
    """
    wave = numbered.wave
    names = wave.devices
    earlier = {touch.device for touch in context.store.journal.open_touches(context.run_id)}
    begun = bool(earlier)
    try:
        hindrance = find_hindrance(context, list(prepared), candidate, wave.revert_seconds)
        if hindrance is None:
            targets = {
                name: replace(target, touched=name in earlier)
                for name, target in _targets(
                    context, original, prepared, _goals(context, original, touched=begun)
                ).items()
            }
            # Again: that may have taken its time, and what the gate says holds for a moment.
            hindrance = find_hindrance(context, list(prepared), candidate, wave.revert_seconds)
    except LeaseLost as error:
        if not begun:
            raise
        return WaveResult(running={}, errors=[StepError.of(error)])
    if begun and hindrance is not None and hindrance.wait is not None:
        # A process died in the midst of it: what was open then is closed by now, and devices do not wait half-way.
        why = ServiceError(
            f"the push was cut short and may not go on: {hindrance.wait.waits_for}", hint="retry the run"
        )
        return WaveResult(running={}, errors=[StepError.of(why)])
    if hindrance is not None:
        stop = hindrance.stop
        return WaveResult(begun=begun, wait=hindrance.wait) if stop is None else WaveResult(begun=begun, stop=stop)
    with context.store.stage(context.run_id, "push", PushSummary()) as pushed:
        text = str(numbered)
        context.observe("push", text)

        def touch(name: str, driver: DeviceDriver) -> DeviceText:
            return transaction.apply(driver, targets[name], context, wave.revert_seconds)

        outcomes = context.on_devices(names, touch, steps=wave.steps, paced=True)
        errors = errors_of(outcomes)
        pushed.errors, pushed.devices, pushed.wave, pushed.text = errors, names, numbered.number, text
    stopped = stop_after(context, errors)
    if stopped:
        touched = bool(context.store.journal.open_touches(context.run_id))
        return WaveResult(begun=touched, errors=errors, **stopped)
    with context.store.stage(context.run_id, "read-back", ReadBackSummary()) as summary:
        after = store_texts(context, outcomes)
        # What the push itself met is told there: a device that refused it has nothing to compare.
        unlike = _compare(context, original, after)
        summary.running, summary.errors, summary.wave = after, unlike, numbered.number
    return WaveResult(running=after, errors=[*errors, *unlike])


def leave_out(
    context: Context,
    original: Mapping[str, str],
    prepared: Mapping[str, PreparedDevice],
    names: list[str],
    errors: list[StepError],
) -> RestoreResult:
    """Put devices back that failed, with those that must not be changed without them, and go on without them.

    Left out are those that could be put back.
    """
    with context.store.stage(context.run_id, LEAVE_OUT, StageSummary()) as summary:
        told = {error.device: error for error in errors}
        context.observe(LEAVE_OUT, ", ".join(names))
        touched = {touch.device for touch in context.store.journal.open_touches(context.run_id)}
        targets = {n: t for n, t in _targets(context, original, prepared).items() if n in names and n in touched}
        undone = _restored(context, targets)
        failed = {error.device for error in undone.errors}
        why = f"changes with {', '.join(sorted(told))}, which failed"
        left_out = [
            told.get(name) or StepError(message=why, hint="", device=name) for name in names if name not in failed
        ]
        summary.left_out = left_out
        summary.text = "; ".join(each.told for each in gather_errors(left_out))
    return RestoreResult(running=undone.running, errors=undone.errors, left_out=left_out)


def _compare(context: Context, original: Mapping[str, str], after: Mapping[str, str]) -> list[StepError]:
    if context.resolved.rollback_of is not None:
        return rollback.find_unrestored(context, after)
    found: list[StepError] = []
    for device in recompile(context, original, touched=True).devices:
        if device.name not in after:
            continue
        read = context.configuration(device.name, after[device.name])
        found_unlike = tuple(read.saying(words).in_message() for words in plan_differences(device, read))
        if found_unlike:
            context.record(device.name, "failed", note=f"does not hold the plan: {found_unlike[0]}")
            error = DeviceError(
                f"does not hold what it was given: {_told(found_unlike)}",
                Place(device=device.name),
                "the device took the lines and did not keep them: compare the read-back with the configuration",
            )
            found.append(StepError.of(error))
        else:
            context.record(device.name, "read_back", note="holds the plan")
    return found


MOST_TOLD = 5


def _told(differences: tuple[str, ...]) -> str:
    """The first few differences; a map that fell back to its default has dozens."""
    more = len(differences) - MOST_TOLD
    return "; ".join(differences[:MOST_TOLD]) + (f"; and {more} more" if more > 0 else "")


def confirm(context: Context, original: Mapping[str, str], prepared: Mapping[str, PreparedDevice]) -> ConfirmResult:
    """Confirm on every touched device: disarm and save."""
    touched = [touch.device for touch in context.store.journal.open_touches(context.run_id)]
    targets = _targets(context, original, prepared, _goals(context, original, touched=True))
    with context.store.stage(context.run_id, "keep", KeepSummary()) as summary:
        context.observe("keep", ", ".join(touched))

        def save(name: str, driver: DeviceDriver) -> str:
            transaction.confirm(driver, targets[name], context)
            return "saved"

        outcomes = context.on_devices(touched, save)
        errors = errors_of(outcomes)
        summary.devices, summary.errors = touched, errors
    return ConfirmResult(devices=touched, errors=errors, **stop_after(context, errors))


def roll_back(
    context: Context, original: Mapping[str, str], prepared: Mapping[str, PreparedDevice]
) -> RestoreResult:
    """Undo every touched device, a confirmed one too, and prove by reading that it is as before."""
    saved = context.store.journal.saved(context.run_id)
    touched = {touch.device for touch in context.store.journal.open_touches(context.run_id)} | saved
    targets = _targets(context, original, prepared)
    undone = _restored(
        context,
        {name: replace(target, saved=name in saved) for name, target in targets.items() if name in touched},
    )
    begun = attempt_start(context.store.stages(context.run_id), context.attempt)
    assert begun is not None  # by the stage that rolled back, at the latest
    return undone.model_copy(update={"unchanged": not context.store.journal.changed(context.run_id, begun)})


def _restored(context: Context, targets: Mapping[str, Target]) -> RestoreResult:
    """Restore devices, newest wave first: those of a wave when all of the waves after it are done."""
    with context.store.stage(context.run_id, "rollback", ReadSummary()) as summary:
        context.observe("rollback", ", ".join(targets) or "no device was touched")

        def back(name: str, driver: DeviceDriver) -> DeviceText:
            return transaction.restore(driver, targets[name], context)

        outcomes: dict[str, Outcome[DeviceText]] = {}
        for steps in _newest_first(context, targets):
            names = [name for step in steps for name in step]
            outcomes |= context.on_devices(names, back, stoppable=False, steps=steps)
        after = store_texts(context, outcomes)
        errors = errors_of(outcomes)
        summary.running, summary.errors = after, errors
    return RestoreResult(running=after, errors=errors)


def _newest_first(context: Context, targets: Collection[str]) -> list[list[list[str]]]:
    """The steps of each wave, as far as they are among ``targets``, the last wave first."""
    left = set(targets)
    found = []
    for wave in reversed(planned_waves(context.store, context.run_id)):
        steps = [names for step in reversed(wave.steps) if (names := [name for name in step if name in left])]
        left.difference_update(*steps)
        found.append(steps)
    rest = [[name] for name in targets if name in left]  # of a run of an earlier release
    return [steps for steps in (rest, *found) if steps]


def settle(context: Context) -> RestoreResult:
    """Undo what an ended run left open, from what its journal kept of every device."""
    open_now = {touch.device: touch for touch in context.store.journal.open_touches(context.run_id)}
    saved = context.store.journal.saved(context.run_id)
    targets = {}
    for name, touch in open_now.items():
        device = context.network.device(name)
        if touch.before is None:
            raise StoreError("the journal has no configuration to go back to", Place(device=name))
        targets[name] = Target(
            device=name,
            platform=device.platform,
            capabilities=driver_capabilities(device.driver, name),
            original=context.configuration(name, touch.before),
            delta=(),
            meets=_nothing_meets,
            saved=name in saved,
        )
    return _restored(context, targets)
