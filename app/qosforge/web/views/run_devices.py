"""The devices of a run as its page lists them: those that failed first, and of many those alike together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from qosforge.device_names import natural_order
from qosforge.reports.alike_devices import MOST_SINGLE
from qosforge.runs.record.gathered_errors import GatheredError, gather_errors
from qosforge.runs.record.stages import Stage
from qosforge.runs.record.step_error import StepError
from qosforge.runs.views.progress import DeviceProgress, DeviceStep, StepMark, StepState

FEW_ALIKE = 2
"""So many alike of a few devices have rows of their own; more stand in one row with their names."""

MOST_ROWS = 24
"""Rows that are open; further ones are folded away."""


class Failure(NamedTuple):
    """Why the devices of a row failed at a ``step``; where each says more, ``example`` is what the first says."""

    step: DeviceStep
    why: str
    example: str = ""


@dataclass(frozen=True)
class DeviceRow:
    """Devices that stand alike at every step, and failed for the same cause; ``steps`` are those of the first."""

    devices: tuple[str, ...]
    steps: Mapping[DeviceStep, StepMark]
    are_one: bool = True
    """Whether each says the very same of what failed, down to the line that was refused."""

    @property
    def failures(self) -> tuple[Failure, ...]:
        """The steps that failed, with what is known of why."""
        marks = ((step, mark) for step, mark in self.steps.items() if mark.state is StepState.FAILED)
        return tuple(self._failure(step, mark) for step, mark in marks if mark.note or mark.error)

    def _failure(self, step: DeviceStep, mark: StepMark) -> Failure:
        if self.are_one or mark.error is None or not mark.error.answer:
            return Failure(step, mark.note)
        of = mark.error
        return Failure(step, f"refused {of.refused}: “{of.answer}”", mark.note.removesuffix(of.answer).rstrip(" :"))


@dataclass(frozen=True)
class DeviceRows:
    """The rows of the devices of a run: ``shown``, and those that are ``folded`` away."""

    shown: tuple[DeviceRow, ...]
    folded: tuple[DeviceRow, ...]

    @property
    def folded_devices(self) -> int:
        """How many devices the rows have that are folded away."""
        return sum(len(row.devices) for row in self.folded)

    @cached_property
    def _told(self) -> Mapping[tuple[str, str], str]:
        """By step and device: what a row says of why it failed."""
        rows = (*self.shown, *self.folded)
        found = ((row, one) for row in rows for one in row.failures)
        return {(one.step.value, name): f"{one.why} {one.example}" for row, one in found for name in row.devices}

    def tell(self, stage: str, error: StepError) -> bool:
        """Whether a row says already what an error of a stage says."""
        said = self._told.get((stage, error.device), "")
        return bool(said) and (error.answer or error.message) in said


def errors_beside(rows: DeviceRows | None, stage: Stage) -> tuple[tuple[str, ...], tuple[GatheredError, ...]]:
    """The errors of a stage: the devices of which the ``rows`` tell them already, and the other errors."""
    told = [error for error in stage.summary.errors if rows is not None and rows.tell(stage.name, error)]
    names = sorted({error.device for error in told}, key=natural_order)
    return tuple(names), gather_errors(error for error in stage.summary.errors if error not in told)


def device_rows(devices: Sequence[DeviceProgress], *, half_way: bool = False) -> DeviceRows:
    """The rows of a run's devices; of one that stands ``half_way`` those not rolled back come first, too."""

    def needs_care(row: DeviceRow) -> bool:
        stands = half_way and row.steps[DeviceStep.ROLL_BACK].state is StepState.BUSY
        return stands or _has(row, StepState.FAILED)

    if len(devices) <= MOST_SINGLE:
        few = [row for alike in _gather(devices) for row in _few_apart(alike)]
        return DeviceRows(tuple(sorted(few, key=lambda row: not needs_care(row))), ())
    rows = sorted(
        map(_row, _gather(devices)),
        key=lambda row: (not needs_care(row), not _has(row, StepState.BUSY), -len(row.devices)),
    )
    return DeviceRows(tuple(rows[:MOST_ROWS]), tuple(rows[MOST_ROWS:]))


def _few_apart(alike: Sequence[DeviceProgress]) -> Iterable[DeviceRow]:
    return (_row(alike),) if len(alike) > FEW_ALIKE else (_row((one,)) for one in alike)


def _gather(devices: Iterable[DeviceProgress]) -> Iterable[Sequence[DeviceProgress]]:
    found: dict[tuple[object, ...], list[DeviceProgress]] = {}
    for one in devices:
        key = tuple((mark.state, _cause(mark)) for mark in one.steps.values())
        found.setdefault(key, []).append(one)
    return found.values()


def _row(alike: Sequence[DeviceProgress]) -> DeviceRow:
    said = {tuple(mark.note for mark in one.steps.values() if mark.state is StepState.FAILED) for one in alike}
    return DeviceRow(tuple(one.device for one in alike), alike[0].steps, are_one=len(said) == 1)


def _cause(mark: StepMark) -> tuple[str, ...]:
    """What failures of one cause have in common: of a refusal the device's answer, not how far each came."""
    if mark.state is not StepState.FAILED:
        return ()  # what is noted beside a step that went well differs from device to device, and says little
    if mark.error is not None and mark.error.answer:
        return mark.error.refused, mark.error.answer, mark.error.hint
    return (mark.note,)


def _has(row: DeviceRow, state: StepState) -> bool:
    return any(mark.state is state for mark in row.steps.values())
