"""The progress of a run: its stages, and the steps of every device."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from qosforge.device_names import natural_order
from qosforge.runs.record.journal import JournalEntry
from qosforge.runs.record.rollout_record import wave_states
from qosforge.runs.record.run import Run
from qosforge.runs.record.stages import Stage
from qosforge.runs.record.step_error import StepError
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.summaries import (
    CountersSummary,
    PrepareSummary,
    PushSummary,
    ReadBackSummary,
    ReadSummary,
    StageSummary,
)
from qosforge.runs.record.tables import JournalAction, StageOutcome


class DeviceStep(StrEnum):
    """What a run does on each device, in this order; it ends with one of the last two."""

    READ = "read"
    PREPARE = "prepare"
    PUSH = "push"
    READ_BACK = "read-back"
    COUNTERS = "counters"
    KEEP = "keep"
    ROLL_BACK = "rollback"


class StepState(StrEnum):
    """How far a step came on a device."""

    OPEN = "open"
    """Not begun, or not wanted."""
    BUSY = "busy"
    DONE = "done"
    NOTHING = "nothing"
    """Looked at, and nothing had to change."""
    FAILED = "failed"


_UNPUSHED = frozenset({StepState.OPEN, StepState.BUSY})


@dataclass(frozen=True, slots=True)
class StepMark:
    """One step on one device; ``note`` says why, in words, and ``error`` what a stage recorded of a failure."""

    state: StepState = StepState.OPEN
    note: str = ""
    error: StepError | None = None


@dataclass
class DeviceProgress:
    """The steps of one device."""

    device: str
    steps: dict[DeviceStep, StepMark] = field(default_factory=lambda: dict.fromkeys(DeviceStep, StepMark()))


@dataclass(frozen=True)
class WaveProgress:
    """One wave of a rollout; ``state``: ``to come``, ``now``, ``done``, ``failed`` or ``rolled back``."""

    name: str
    devices: tuple[str, ...]
    state: str


@dataclass(frozen=True)
class Progress:
    """A run's present attempt, or the last that began: its stages in order, and its devices by name.

    ``earlier`` are the stages of the attempts before it, ``waves`` those of its rollout.
    """

    attempt: int
    stages: tuple[Stage, ...]
    earlier: tuple[Stage, ...]
    devices: tuple[DeviceProgress, ...]
    waves: tuple[WaveProgress, ...] = ()

    @property
    def under_way(self) -> Stage | None:
        """The stage that has begun and not ended."""
        return next((stage for stage in reversed(self.stages) if stage.outcome is None), None)


def progress(store: RunStore, run: Run) -> Progress:
    """How far a run came, from its stages, its journal and its events."""
    every = store.stages(run.id)
    shown = max((stage.run_attempt for stage in every), default=run.attempt)
    stages = tuple(stage for stage in every if stage.run_attempt == shown)
    begun = min((stage.started for stage in stages), default=run.created)
    board = _Board()
    for stage in stages:
        board.stage(stage)
    board.looks(stages, _looked_at(store, run.id, begun))
    for entry in store.journal.entries(run.id):
        if entry.at >= begun:
            board.touch(entry)
    board.failed_pushes()
    return Progress(
        attempt=shown,
        stages=stages,
        earlier=tuple(stage for stage in every if stage.run_attempt != shown),
        devices=tuple(board.devices[name] for name in sorted(board.devices, key=natural_order)),
        waves=tuple(
            WaveProgress(wave.name, tuple(wave.devices), state) for wave, state in wave_states(every, shown)
        ),
    )


def _looked_at(store: RunStore, run_id: str, since: datetime) -> list[tuple[str, str]]:
    events = store.events.of_devices(run_id, since)
    return [(event.data["device"], event.data["action"]) for event in events]


class _Board:
    """The devices, as far as they are known, and what each was marked with last."""

    def __init__(self) -> None:
        self.devices: dict[str, DeviceProgress] = {}
        self._unpushed: dict[str, StepError] = {}

    def _mark(self, device: str, step: DeviceStep, state: StepState, note: str = "") -> None:
        self.devices.setdefault(device, DeviceProgress(device)).steps[step] = StepMark(state, note)

    def _all(self, devices: Iterable[str], step: DeviceStep, state: StepState) -> None:
        for device in devices:
            self._mark(device, step, state)

    def stage(self, stage: Stage) -> None:
        """What a stage that ended says of the devices; one that is open, of those that it is at."""
        match stage.summary:
            case PushSummary(errors=errors):
                self._unpushed |= {error.device: error for error in errors if error.device}
            case ReadBackSummary(running=running):
                failed = self._failed(stage.summary, DeviceStep.READ_BACK)
                self._all(running.keys() - failed, DeviceStep.READ_BACK, StepState.DONE)
            case ReadSummary(asked=asked) if stage.name == "read" and stage.outcome is None:
                self._all(asked, DeviceStep.READ, StepState.OPEN)
            case ReadSummary(running=running) if stage.name == "read":
                self._all(running, DeviceStep.READ, StepState.DONE)
                self._failed(stage.summary, DeviceStep.READ)
            case PrepareSummary(devices=devices):
                for name, device in devices.items():
                    self._mark(name, DeviceStep.PREPARE, StepState.NOTHING if device.empty else StepState.DONE)
            case CountersSummary():
                self._counted(stage)

    def _counted(self, stage: Stage) -> None:
        failed = self._failed(stage.summary, DeviceStep.COUNTERS)
        pushed = {
            name for name, one in self.devices.items() if one.steps[DeviceStep.READ_BACK].state is StepState.DONE
        }
        ended = stage.outcome is StageOutcome.DONE
        self._all(pushed - failed, DeviceStep.COUNTERS, StepState.DONE if ended else StepState.BUSY)

    def _failed(self, summary: StageSummary, step: DeviceStep) -> set[str]:
        told = [error for error in summary.errors or summary.left_out if error.device]
        # Earlier releases recorded what a push met with what was read back after it, too.
        errors = [error for error in told if error != self._unpushed.get(error.device)]
        for error in errors:
            self._mark(error.device, step, StepState.FAILED, _told(error))
        return {error.device for error in errors}

    def looks(self, stages: Sequence[Stage], seen: Iterable[tuple[str, str]]) -> None:
        """What is known of single devices while a stage that looks at many is under way."""
        open_now = {stage.name for stage in stages if stage.outcome is None}
        steps = {"read": (DeviceStep.READ, "read"), "counted": (DeviceStep.COUNTERS, "counters")}
        for device, action in seen:
            step, stage = steps.get(action, (None, ""))
            if step is not None and stage in open_now:
                self._mark(device, step, StepState.DONE)

    def touch(self, entry: JournalEntry) -> None:
        """What was written of a device before or after it was touched."""
        device, note = entry.device, entry.note
        match entry.action:
            case JournalAction.TOUCHING:
                self._mark(device, DeviceStep.PUSH, StepState.BUSY)
            case JournalAction.TOUCHED:
                self._mark(device, DeviceStep.PUSH, StepState.DONE, note)
            case JournalAction.READ_BACK:
                self._mark(device, DeviceStep.READ_BACK, StepState.DONE, note)
            case JournalAction.FAILED:
                self._mark(device, self._at_work(device), StepState.FAILED, note)
            case JournalAction.UNDOING:
                self._mark(device, DeviceStep.ROLL_BACK, StepState.BUSY)
            case JournalAction.CONFIRMED:
                self._mark(device, DeviceStep.KEEP, StepState.DONE)
            case JournalAction.UNDONE:
                self._mark(device, DeviceStep.ROLL_BACK, StepState.DONE, note)

    def failed_pushes(self) -> None:
        """What stages of pushing say of devices: more than their journal, or alone, as of one out of reach."""
        for device, error in self._unpushed.items():
            steps = self.devices.setdefault(device, DeviceProgress(device)).steps
            mark = steps[DeviceStep.PUSH]
            if mark.state in _UNPUSHED:
                mark = StepMark(StepState.FAILED, _told(error))
            if mark.state is StepState.FAILED:
                steps[DeviceStep.PUSH] = replace(mark, error=error)

    def _at_work(self, device: str) -> DeviceStep:
        """The step that failed on a device: the one that it was at, or that a stage's errors name already."""
        steps = self.devices.setdefault(device, DeviceProgress(device)).steps
        if steps[DeviceStep.ROLL_BACK].state is StepState.BUSY:
            return DeviceStep.ROLL_BACK
        if steps[DeviceStep.PUSH].state is not StepState.DONE:
            return DeviceStep.PUSH
        for step in (DeviceStep.READ_BACK, DeviceStep.COUNTERS):
            if steps[step].state in (StepState.BUSY, StepState.FAILED):
                return step
        return DeviceStep.KEEP if steps[DeviceStep.READ_BACK].state is StepState.DONE else DeviceStep.READ_BACK


def _told(error: StepError) -> str:
    return f"{error.message} ({error.hint})" if error.hint else error.message
