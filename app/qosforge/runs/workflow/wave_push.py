"""Push wave after wave: each only when the one before it stands and the rollout is not paused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count

from qosforge.compiler.waves import CANARY
from qosforge.runs.record.step_error import StepError
from qosforge.runs.record.stop_signal import StopSignal
from qosforge.runs.record.summaries import PlannedWave, PreparedDevice
from qosforge.runs.record.tables import RunStatus
from qosforge.runs.workflow.gate import Wait
from qosforge.runs.workflow.results import CountersResult, RestoreResult, RolloutPlan, WaveResult, WaveTurn
from qosforge.runs.workflow.run_steps import PushFailed, RunSteps, Stop, StopUntouched
from qosforge.runs.workflow.steps import counters, push, wait


@dataclass
class WavePush:
    """The push of a run.

    ``original`` are artifacts of the configurations that were read before it, ``prepared`` what is prepared for the
    devices that change, and ``candidate`` what the gate is asked about.

    ``running`` are artifacts of what the devices that were pushed hold, and ``left_out`` an error for each device
    that was left out.
    """

    steps: RunSteps
    original: Mapping[str, str]
    prepared: Mapping[str, PreparedDevice]
    planned: RolloutPlan
    candidate: str | None
    left_out: list[StepError]
    running: dict[str, str] = field(default_factory=dict)

    def run(self) -> Wait | None:
        """Push every wave; what the run has to wait for before the first, ``None`` once all are through.

        Raises:
            StopUntouched, Stop: the run has to stop.
            PushFailed: too many devices failed, or one of the canary.
        """
        paused = 0.0
        waves = self.planned.waves
        for number, wave in enumerate(waves, 1):
            if number > 1:
                paused = self._wait_while_paused(number, paused)
            numbered = push.NumberedWave(wave, number, len(waves))
            name = "push" if number == 1 else f"push-{number}"
            pushed = self.steps.do(
                name, WaveResult, push.push_wave, self.original, self.prepared, numbered, self.candidate
            )
            if pushed.stop is not None:
                kind = Stop if pushed.begun else StopUntouched
                raise kind(pushed.stop, "push", self.steps.context.run_id, pushed.errors)
            if pushed.wait is not None:
                return pushed.wait
            self._collect(numbered, pushed)
            if wave.name == CANARY and len(waves) > 1:
                self._check_canary(pushed.running)
        if not self.running:
            raise PushFailed(self.left_out, "push")
        return None

    def _collect(self, numbered: push.NumberedWave, pushed: WaveResult) -> None:
        """Take in what a wave came to, without the devices that failed where so many may be left out."""
        running, errors, wave = pushed.running, pushed.errors, numbered.wave
        if errors:
            left = [] if wave.name == CANARY else _with_their_steps(wave, errors)
            if not left or len(self.left_out) + len(left) > self.planned.may_fail:
                raise PushFailed(errors, "push")
            name = f"leave-out-{numbered.number}"
            undone = self.steps.do(name, RestoreResult, push.leave_out, self.original, self.prepared, left, errors)
            if undone.errors:
                raise PushFailed([*errors, *undone.errors], "push")
            self.left_out = [*self.left_out, *undone.left_out]
            running = {device: text for device, text in running.items() if device not in left}
        self.running |= running

    def _check_canary(self, canary: Mapping[str, str]) -> None:
        """Let the canary's own counters say that it does what its configuration says, before others follow it."""
        if self.steps.context.resolved.rollback_of is not None:
            return
        counted = self.steps.do("counters-canary", CountersResult, counters.check_counters, canary)
        self.steps.require_going_on(counted, "counters")
        if counted.errors:
            raise PushFailed(counted.errors, "counters")

    def _wait_while_paused(self, number: int, used: float) -> float:
        """Wait while the rollout is paused; the seconds that it has been paused for in all."""
        until: datetime | None = None
        for times in count(1):
            name = f"wave-{number}" if times == 1 else f"wave-{number}-{times}"
            devices = list(self.prepared)
            got = self.steps.wait(name, WaveTurn, wait.between_waves, devices, number, until, used)
            self.steps.require_going_on(got, "push")
            if got.late:
                late = StopSignal(status=RunStatus.ROLLED_BACK, reason=got.late)
                raise Stop(late, "push", self.steps.context.run_id)
            if got.go:
                break
            until = got.until
        return got.used


def _with_their_steps(wave: PlannedWave, errors: Sequence[StepError]) -> list[str]:
    """Devices that failed, and those that must not change without them; none where an error is of no device."""
    failed = {error.device for error in errors}
    if not failed <= set(wave.devices):
        return []
    return [name for step in wave.steps if failed & set(step) for name in step]
