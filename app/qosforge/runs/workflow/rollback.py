"""Rolling back a kept run: the lines that lead each device back, and whether it is."""

from __future__ import annotations

from collections.abc import Mapping

from qosforge.compiler.candidate import Candidate, rollback_difference, rollback_lines
from qosforge.deploy.driver_capabilities import driver_capabilities
from qosforge.deploy.transaction import Target, require_as_before
from qosforge.errors import DeviceError
from qosforge.platforms.device_text import DeviceText
from qosforge.runs.record.rollbacks import originals, require_last
from qosforge.runs.record.step_error import StepError
from qosforge.runs.workflow.context import Context


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
