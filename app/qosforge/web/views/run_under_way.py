"""What a run is doing right now, and how far it is, for the first sentence of its page."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from qosforge.inventory.changes import ChangeRules
from qosforge.runs.record.resolved_run import ResolvedRun
from qosforge.runs.views.progress import DeviceProgress, DeviceStep, Progress, StepState

_STEPS = {
    "read": DeviceStep.READ,
    "push": DeviceStep.PUSH,
    "read-back": DeviceStep.READ_BACK,
    "counters": DeviceStep.COUNTERS,
    "keep": DeviceStep.KEEP,
    "rollback": DeviceStep.ROLL_BACK,
}
"""Stages that are done device by device."""
_FAILING = (DeviceStep.PUSH, DeviceStep.READ_BACK, DeviceStep.COUNTERS, DeviceStep.KEEP)


class UnderWay(NamedTuple):
    """A stage that has begun and not ended: with how many of the ``total`` devices it is ``done``, and at how many
    devices the change ``failed``. The total is 0 where the stage is not done device by device.

    ``refused``: each of those that failed refused the change. ``goes_back``: for these the change will be rolled
    back.
    """

    stage: str
    done: int
    total: int
    failed: int
    refused: bool
    goes_back: bool


def under_way(resolved: ResolvedRun, progress: Progress, rules: Iterable[ChangeRules]) -> UnderWay | None:
    """What a run is doing; ``None`` where nothing has begun that has not ended. ``rules`` are its network's."""
    at = progress.under_way
    if at is None:
        return None
    step = _STEPS.get(at.name)
    concerned = _concerned(step, progress) if step else []
    done = sum(one.steps[step].state is StepState.DONE for one in concerned) if step else 0
    failed = {one.device for one in progress.devices if _has_failed(one)}
    refused = {
        error.device for stage in progress.stages for error in stage.summary.errors if error.refused == "the change"
    }
    # A simulation judges the network as a whole, and a rollback takes every device.
    needs_all = resolved.rollback_of is not None or (resolved.measure and resolved.tester != "external")
    goes_back = needs_all or any(len(failed) > one.rollout.may_fail(len(concerned)) for one in rules)
    return UnderWay(
        at.name, done, len(concerned), len(failed), bool(failed) and failed <= refused, bool(failed) and goes_back
    )


def _has_failed(device: DeviceProgress) -> bool:
    return any(device.steps[step].state is StepState.FAILED for step in _FAILING)


def _concerned(step: DeviceStep, progress: Progress) -> list[DeviceProgress]:
    """The devices that a step has to do with, as far as what came before it in this attempt tells."""
    changed = [one for one in progress.devices if one.steps[DeviceStep.PREPARE].state is not StepState.NOTHING]
    match step:
        case DeviceStep.READ:
            return list(progress.devices)
        case DeviceStep.PUSH:
            return changed
        case DeviceStep.ROLL_BACK:
            return [one for one in changed if one.steps[DeviceStep.PUSH].state is not StepState.OPEN] or changed
    return [one for one in changed if one.steps[DeviceStep.PUSH].state is StepState.DONE] or changed
