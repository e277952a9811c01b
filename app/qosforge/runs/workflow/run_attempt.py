"""One attempt at a run: read, prepare, gate, measure, push, measure, judge, keep or roll back.

Everything that acts or looks at the world is a step of the engine, in an order that depends on the results of
earlier steps alone: a process that goes on after another finds the same steps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import count

from qosforge.deltaq.error_spending import LOOKS
from qosforge.errors import QosforgeError, TesterError
from qosforge.runs.engine.port import Engine
from qosforge.runs.record.gathered_errors import gather_errors
from qosforge.runs.record.reason import NOT_MET, REASONED, Reason, half_way, reason_of_errors, retry, retry_left_out
from qosforge.runs.record.step_error import StepError
from qosforge.runs.record.summaries import PreparedDevice
from qosforge.runs.record.tables import RunStatus, Verdict
from qosforge.runs.workflow import rollout
from qosforge.runs.workflow.context import Context
from qosforge.runs.workflow.external_tester import EXTERNAL_TESTER_SECONDS
from qosforge.runs.workflow.gate import Wait
from qosforge.runs.workflow.results import (
    AttemptProgress,
    AttemptResult,
    AwaitedMeasurement,
    Beginning,
    CheckpointResult,
    ComparisonResult,
    ConfirmResult,
    CountersResult,
    Done,
    GateResult,
    KeepDecision,
    LockResult,
    PreparedChange,
    ReadResult,
    RestoreResult,
    ReusedAttempt,
    RolloutPlan,
    SideMeasurement,
)
from qosforge.runs.workflow.run_steps import PushFailed, RunSteps, Stop, StopUntouched
from qosforge.runs.workflow.steps import compare, counters, hindrance, lock, measure, prepare, push, status, wait
from qosforge.runs.workflow.wave_push import WavePush
from qosforge.tester.measurement.document import Side
from qosforge.validation.reads import devices_to_read

_REFUSAL = (StepError(message="findings stand against it", hint="correct the policy by its findings"),)


_WITH_OR_WITHOUT = frozenset({RunStatus.KEPT, RunStatus.NO_CHANGES})


@dataclass(frozen=True)
class AttemptOutcome:
    """How an attempt ends, or as what it waits. Without its change it ends for a ``reason``; with it there is one
    where devices were left out.
    """

    status: RunStatus
    reason: Reason | None
    verdict: Verdict | None = None
    errors: Sequence[StepError] = ()
    waits_for: str = ""
    due: datetime | None = None

    def __post_init__(self) -> None:
        if self.status not in _WITH_OR_WITHOUT and (self.status in REASONED) != (self.reason is not None):
            raise ValueError(f"an attempt ends as {self.status} with a reason, and no other so: {self.reason}")


@dataclass
class RunAttempt:
    """One attempt at one run."""

    context: Context
    engine: Engine

    @cached_property
    def _steps(self) -> RunSteps:
        return RunSteps(self.context, self.engine)

    @cached_property
    def _progress(self) -> AttemptProgress:
        return AttemptProgress()

    def run(self) -> AttemptResult:
        """Do it to its end, or until it has to wait for a decision or a moment."""
        begun = self._steps.do("begin", Beginning, status.begin)
        if begun.over:
            assert begun.status is not None
            return AttemptResult(status=begun.status, verdict=begun.verdict, errors=[])
        try:
            ending = self._with_devices(begun)
        except Exception:
            self._steps.do("release", Done, lock.release)
            raise
        # Not in a `finally`: an interrupted run goes on later, and must find the steps in the same order.
        # Before the status: once that is written another attempt may begin, and hold the devices itself.
        self._steps.do("release", Done, lock.release)
        self._steps.do(
            f"status-{ending.status}",
            Done,
            status.set_status,
            ending.status,
            ending.verdict,
            reason=ending.reason,
            waits_for=ending.waits_for,
            due=ending.due,
        )
        progress = {name: getattr(self._progress, name) for name in self._progress.model_fields_set}
        return AttemptResult(
            **progress,
            status=ending.status,
            verdict=ending.verdict,
            errors=list(ending.errors),
            reason=ending.reason.message if ending.reason else "",
            waits_for=ending.waits_for,
        )

    def _reason(self, errors: Sequence[StepError], step: str, total: int = 0) -> Reason:
        return reason_of_errors(errors, step, retry(self.context.run_id), total)

    def _with_devices(self, begun: Beginning) -> AttemptOutcome:
        try:
            devices, errors = self._lock(begun.since)
            if errors:
                return self._ended_by(errors, "lock")
            return self._prepared(begun.start, devices)
        except Stop as stop:
            return AttemptOutcome(stop.status, stop.reason)

    def _ended_by(self, errors: Sequence[StepError], step: str, total: int = 0) -> AttemptOutcome:
        """A failure at a step before the push."""
        return AttemptOutcome(RunStatus.FAILED, self._reason(errors, step, total), errors=errors)

    def _lock(self, since: datetime | None) -> tuple[list[str], list[StepError]]:
        for number in count(1):
            name = "lock" if number == 1 else f"lock-{number}"
            got = self._steps.wait(name, LockResult, lock.lock, since)
            self._steps.require_going_on(got, "lock")
            if got.devices is not None or got.errors is not None:
                break
        return got.devices or [], got.errors or []

    def _checkpoint(self, name: str, devices: list[str]) -> None:
        stop = self._steps.do(f"checkpoint-{name}", CheckpointResult, hindrance.checkpoint, devices).stop
        if stop is not None:
            raise Stop(stop, name, self.context.run_id)

    def _prepared(self, start: str, devices: list[str]) -> AttemptOutcome:
        undoing = self.context.resolved.rollback_of is not None
        progress = self._progress
        if start == "read":
            to_read = self._to_read(devices)
            read = self._steps.do("read", ReadResult, prepare.read, to_read)
            self._steps.require_going_on(read, "read")
            if read.refusal:
                return AttemptOutcome(RunStatus.REJECTED, self._reason(read.refusal, "read"))
            if read.errors:
                return self._ended_by(read.errors, "read", len(to_read))
            self._checkpoint("prepare", devices)
            work = prepare.prepare_rollback if undoing else prepare.prepare_change
            prepared = self._steps.do("prepare", PreparedChange, work, read.running)
            progress.held, progress.left_out = read.running, read.left_out
        else:
            reused = self._steps.do("reuse", ReusedAttempt, prepare.reuse, start)
            prepared = reused.prepared
            progress.held, progress.before = reused.running, reused.before
        progress.prepared = prepared
        if prepared.refused:
            # An attempt that an earlier release began has no more than that findings stand against it.
            return AttemptOutcome(RunStatus.REJECTED, self._reason(prepared.refusal or _REFUSAL, "validate"))
        to_push = {name: device for name, device in prepared.devices.items() if not device.empty}
        # Going back is never held up; to bring the change again is.
        waves = RolloutPlan()
        if to_push:
            unread = [each.device for each in progress.left_out]
            waves = self._steps.do("rollout", RolloutPlan, rollout.plan, progress.held, to_push, unread)
            progress.left_out = [*progress.left_out, *waves.left_out]
            if waves.errors:
                return self._ended_by(waves.errors, "rollout")
        gated = bool(to_push) and self.context.resolved.brings_policy
        if gated and (pending := self._steps.do("gate", GateResult, hindrance.gate, prepared.candidate).wait):
            return _waiting(pending)
        try:
            self._measure_before(devices)
        except QosforgeError as error:
            return self._ended_by([StepError.of(error)], "measure-before")
        if not to_push:
            outcome = _verdict(progress.before)
            return AttemptOutcome(RunStatus.NO_CHANGES, self._left_out(), outcome, errors=progress.left_out)
        return self._touch(to_push, waves, prepared.candidate if gated else None)

    def _left_out(self) -> Reason | None:
        """Who was left out of a change that stands, with the way on for just these; ``None`` where nobody was."""
        left_out = self._progress.left_out
        if not left_out:
            return None
        told = "; ".join(each.told for each in gather_errors(left_out))
        hint = retry_left_out(self.context.run_id)
        return Reason(f"left out: {told}", "push", hint, left_out[0].device if len(left_out) == 1 else "")

    def _to_read(self, devices: list[str]) -> list[str]:
        """The devices whose configuration is needed, in scope or not."""
        network = self.context.network
        if self.context.resolved.rollback_of is not None:
            return devices
        needed = devices_to_read(self.context.intent.intent, network, devices)
        return [device.name for device in network.devices if device.name in needed]

    def _measure_before(self, devices: list[str]) -> None:
        if self.context.resolved.measures_before and self._progress.before is None:
            self._checkpoint("measure-before", devices)
            self._progress.before = self._measured("before", self._progress.held)

    def _touch(
        self, to_push: Mapping[str, PreparedDevice], rollout_plan: RolloutPlan, candidate: str | None
    ) -> AttemptOutcome:
        progress = self._progress
        wave_push = WavePush(self._steps, progress.held, to_push, rollout_plan, candidate, progress.left_out)
        try:
            pending = wave_push.run()
        except StopUntouched:
            raise
        except Stop as stop:
            return self._roll_back(to_push, stop.reason, status=stop.status, errors=stop.errors)
        except PushFailed as failure:
            return self._failed(to_push, failure.errors, failure.step)
        except QosforgeError as error:
            if not wave_push.running:
                raise
            return self._failed(to_push, [StepError.of(error)], "push")
        finally:
            progress.pushed, progress.left_out = wave_push.running, wave_push.left_out
        if pending is not None:
            return _waiting(pending)
        return self._judge(to_push)

    def _judge(self, to_push: Mapping[str, PreparedDevice]) -> AttemptOutcome:
        """Measure what was pushed, and keep it or roll it back."""
        progress = self._progress
        pushed = progress.pushed
        devices = list(pushed)
        outcome: Verdict | None = None
        step = "counters"
        try:
            if self.context.resolved.rollback_of is None:
                counted = self._steps.do("counters", CountersResult, counters.check_counters, pushed)
                self._steps.require_going_on(counted, step)
                if counted.errors:
                    return self._failed(to_push, counted.errors, step)
            if self.context.resolved.measure:
                step = "measure-after"
                self._checkpoint("measure-after", devices)
                progress.after = self._measured("after", progress.held | pushed)
                outcome = _verdict(progress.after)
            self._checkpoint("keep", devices)
            step = compare.STAGE
            against = self._against(progress.after) if progress.after is not None else None
        except Stop as stop:
            return self._roll_back(to_push, stop.reason, status=stop.status, outcome=outcome)
        except QosforgeError as error:
            # Without a verdict nothing is kept.
            return self._failed(to_push, [StepError.of(error)], step)
        if against is not None:
            return self._roll_back(to_push, against, outcome=outcome)
        kept = self._steps.do("keep", ConfirmResult, push.confirm, progress.held, to_push)
        if kept.errors:
            if kept.stop is not None:
                cut = Stop(kept.stop, "keep", self.context.run_id)
                return self._roll_back(to_push, cut.reason, status=cut.status, errors=kept.errors)
            return self._failed(to_push, kept.errors, "keep")
        return AttemptOutcome(RunStatus.KEPT, self._left_out(), outcome, errors=progress.left_out)

    def _against(self, after: SideMeasurement) -> Reason | None:
        """Why a change that was measured is not kept; ``None`` where it is.

        Raises:
            Stop: the run had to stop while it asked.
        """
        before = self._progress.before
        got = self._steps.do(compare.STAGE, ComparisonResult, compare.compare_sides, before, after)
        if got.keep:
            return None
        judged = "are not met" if after.outcome == "broken" else "cannot be told to be met"
        why = short = f"after the push the objectives {judged}"
        if got.why:
            why += f", nor is it shown that nothing is worse than before: {got.why}"
        if got.keep is None:
            word = self._await_keep_decision(got.question or "")
            if word.kept:
                return None
            in_time = word.kept is not None
            why += f", and {word.by} rejected keeping it" if in_time else ", and nobody said in time to keep it"
        if got.restores:
            why += f". What the change made better is lost again: {got.restores}"
        return Reason(why, "measure-after", NOT_MET, short=short)

    def _await_keep_decision(self, question: str) -> KeepDecision:
        """What an approver said of keeping a change, or that nobody did in time."""
        until: datetime | None = None
        for number in count(1):
            name = f"await-keep-{number}"
            got = self._steps.wait(name, KeepDecision, compare.await_keep_decision, question, until)
            self._steps.require_going_on(got, compare.STAGE)
            if got.kept is not None or got.late:
                break
            until = got.until
        return got

    def _failed(
        self, to_push: Mapping[str, PreparedDevice], errors: Sequence[StepError], step: str
    ) -> AttemptOutcome:
        """Roll a push back for what went wrong at a step."""
        return self._roll_back(to_push, self._reason(errors, step, len(to_push)), errors=errors)

    def _measured(self, when: Side, running: Mapping[str, str]) -> SideMeasurement:
        if self.context.resolved.tester == "external":
            artifact = self._await_measurement(when)
            return self._steps.do(f"measure-{when}", SideMeasurement, measure.judge_external, artifact, when)
        probes = self.context.resolved.tester == "probes"
        work = measure.measure_with_probes if probes else measure.measure_with_twin
        found: SideMeasurement | None = None
        for look in range(1, LOOKS + 1):
            if found is not None and not found.is_open:
                break
            earlier = found.measurement if found else None
            found = self._steps.do(
                measure.look_stage(when, look), SideMeasurement, work, running, when, look, earlier
            )
        assert found is not None
        return found

    def _await_measurement(self, when: Side) -> str:
        """The artifact that an external tester gives in time.

        Raises:
            TesterError: none does.
        """
        until: datetime | None = None
        for number in count(1):
            got = self._steps.wait(
                f"await-{when}-{number}",
                AwaitedMeasurement,
                wait.await_measurement,
                when,
                until,
                EXTERNAL_TESTER_SECONDS,
            )
            self._steps.require_going_on(got, f"measure-{when}")
            if got.measurement is not None or got.late:
                break
            until = got.until
        if got.measurement is None:
            raise TesterError(
                f"no outside measurement {when} the push came within {EXTERNAL_TESTER_SECONDS:.0f} s",
                hint="start the tester when the run says that it waits, and run it again",
            )
        return got.measurement

    def _roll_back(
        self,
        to_push: Mapping[str, PreparedDevice],
        reason: Reason,
        *,
        status: RunStatus = RunStatus.ROLLED_BACK,
        errors: Sequence[StepError] = (),
        outcome: Verdict | None = None,
    ) -> AttemptOutcome:
        undone = self._steps.do("rollback", RestoreResult, push.roll_back, self._progress.held, to_push)
        self._progress.restored = undone.running
        if undone.errors:
            status = RunStatus.NEEDS_RECOVERY
            reason = half_way(self._reason(undone.errors, "rollback"), reason)
        elif undone.unchanged and status is RunStatus.ROLLED_BACK:
            status = RunStatus.FAILED
        return AttemptOutcome(status, reason, outcome, errors=[*errors, *undone.errors])


def _verdict(measured: SideMeasurement | None) -> Verdict | None:
    return Verdict(measured.outcome) if measured is not None else None


def _waiting(pending: Wait) -> AttemptOutcome:
    return AttemptOutcome(pending.status, None, waits_for=pending.waits_for, due=pending.due)
