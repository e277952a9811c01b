"""Results of the steps of an attempt, which the engine records as JSON, and of the attempt as a whole.

Only fields that were set are recorded. A result that an earlier release recorded may lack some.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel

from qosforge.deltaq.objective import Outcome
from qosforge.runs.record.step_error import StepError
from qosforge.runs.record.stop_signal import StopSignal
from qosforge.runs.record.summaries import PlannedWave, PreparedDevice
from qosforge.runs.record.tables import RunStatus, Verdict
from qosforge.runs.workflow.gate import Wait


class StepResult(BaseModel):
    """The result of a step."""

    def document(self) -> dict[str, Any]:
        """The result as the engine records it."""
        return self.model_dump(mode="json", exclude_unset=True)


class Done(StepResult):
    """Nothing but that it was done."""


class StoppableResult(StepResult):
    """The result of a step that ends early when the run has to stop; ``stop`` is the signal then."""

    stop: StopSignal | None = None


class Beginning(StepResult):
    """The attempt is taken up, at the stage ``start``; or it is ``over``, and how the run stands."""

    over: bool
    start: str = "read"
    since: datetime | None = None
    status: RunStatus | None = None
    verdict: Verdict | None = None


class LockResult(StoppableResult):
    """The devices, once the run has them; or ``errors`` where it cannot have them. Else it is tried again."""

    devices: list[str] | None = None
    errors: list[StepError] | None = None


class ReadResult(StoppableResult):
    """Artifacts of what devices said they hold, and errors of those that could not be read.

    Where there is a ``refusal``, none was contacted.
    """

    running: dict[str, str]
    refusal: list[StepError] = []
    errors: list[StepError] = []
    left_out: list[StepError] = []


class PreparedChange(StepResult):
    """What is prepared for the devices, and the findings on it; ``refusal`` are the errors that forbid it."""

    refused: bool
    devices: dict[str, PreparedDevice]
    candidate: str
    findings: str = ""
    refusal: list[StepError] = []


class SideMeasurement(StepResult):
    """The artifacts of a measurement of one side of the push and of the verdicts on it, and what these come to.

    ``more``: whether more simulations are to decide what is inconclusive. A step that an earlier release recorded
    does not say.
    """

    measurement: str
    verdicts: str
    outcome: Outcome
    more: bool | None = None

    @property
    def is_open(self) -> bool:
        """Whether there is more to look at."""
        return self.outcome == "inconclusive" if self.more is None else self.more


class ReusedAttempt(StepResult):
    """What the last attempt read, prepared and measured."""

    running: dict[str, str]
    prepared: PreparedChange
    before: SideMeasurement | None = None


class RolloutPlan(StepResult):
    """The waves of a rollout, how many devices may be left out, and the errors of those that are already."""

    waves: list[PlannedWave] = []
    may_fail: int = 0
    left_out: list[StepError] = []
    errors: list[StepError] = []


class GateResult(StepResult):
    """What the run has to wait for; ``None`` where the change may be entered."""

    wait: Wait | None


class CheckpointResult(StepResult):
    """The signal to stop; ``None`` where the run goes on."""

    stop: StopSignal | None


class Hindrance(StoppableResult):
    """What keeps a run from touching devices: it has to stop, or to wait at the gate."""

    wait: Wait | None = None


class WaveResult(StoppableResult):
    """What the devices of a wave hold, and what went wrong; or why none may be touched now.

    ``begun``: whether a device is touched, where the run has to stop or wait.
    """

    running: dict[str, str] = {}
    errors: list[StepError] = []
    begun: bool = False
    wait: Wait | None = None


class RestoreResult(StepResult):
    """The configurations of devices that were rolled back, and the errors of those that could not be.

    ``unchanged``: this attempt of the run entered nothing into any device.
    """

    running: dict[str, str]
    errors: list[StepError]
    unchanged: bool = False
    left_out: list[StepError] = []


class CountersResult(StoppableResult):
    """The artifact of the notes on counters, and what contradicts them."""

    notes: str = ""
    errors: list[StepError]


class ConfirmResult(StoppableResult):
    """The devices that were to keep the change, and errors of those that did not."""

    devices: list[str] = []
    errors: list[StepError]


class ComparisonResult(StepResult):
    """Whether a change may be kept; ``None`` where somebody has to be asked, by the ``question``.

    ``why`` says in words why not, ``restores`` where going back is going to something worse.
    """

    keep: bool | None
    why: str
    restores: str
    question: str | None


class WaitResult(StoppableResult):
    """A wait for somebody outside, ``until`` it is too ``late``."""

    until: datetime
    late: bool = False


class KeepDecision(WaitResult):
    """What an approver said of keeping a change, once one did."""

    kept: bool | None = None
    by: str = ""


class AwaitedMeasurement(WaitResult):
    """The artifact of an external measurement, once it came."""

    measurement: str | None = None


class WaveTurn(StoppableResult):
    """Whether the next wave may begin; ``used`` are the seconds for which the rollout was paused so far.

    ``late`` says in words that it was paused for too long, ``until`` when the present pause ends.
    """

    go: bool = False
    used: float = 0.0
    late: str = ""
    until: datetime | None = None


class AttemptProgress(StepResult):
    """What an attempt has come to so far: artifacts of what devices held before it (``held``), hold after the push
    (``pushed``) and after they were put back (``restored``), and what was prepared and measured in between.
    """

    held: dict[str, str] = {}
    prepared: PreparedChange | None = None
    left_out: list[StepError] = []
    before: SideMeasurement | None = None
    pushed: dict[str, str] = {}
    after: SideMeasurement | None = None
    restored: dict[str, str] = {}


class AttemptResult(AttemptProgress):
    """How an attempt ended, or as what it waits, and what it came to."""

    status: RunStatus
    verdict: Verdict | None = None
    errors: list[StepError] = []
    reason: str = ""
    waits_for: str = ""
