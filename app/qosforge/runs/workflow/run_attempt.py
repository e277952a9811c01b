"""One attempt at a run: read, prepare, gate, measure, push, measure, judge, keep or roll back.

Everything that acts or looks at the world is a step of the engine, in an order that depends on the results of
earlier steps alone: a process that goes on after another finds the same steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import Any

from qosforge.deltaq.error_spending import LOOKS
from qosforge.errors import QosforgeError, TesterError
from qosforge.runs.engine.port import Engine
from qosforge.runs.record.reason import REASONED, RECOVER, Reason, reason_of_errors, retry
from qosforge.runs.record.tables import RunStatus, Verdict
from qosforge.runs.workflow import rollout
from qosforge.runs.workflow.context import Context
from qosforge.runs.workflow.external_tester import EXTERNAL_TESTER_SECONDS
from qosforge.runs.workflow.run_steps import PushFailed, RunSteps, Stop, StopUntouched
from qosforge.runs.workflow.steps import compare, measure, prepare, push, wait
from qosforge.runs.workflow.wave_push import WavePush
from qosforge.tester.measurement.document import Side
from qosforge.validation.reads import devices_to_read

Json = dict[str, Any]

_REFUSAL = ({"message": "findings stand against it", "hint": "correct the policy by its findings"},)
_NOT_MET = "see which bound of which class is broken, and change the policy or the objective"


_WITH_OR_WITHOUT = frozenset({RunStatus.KEPT, RunStatus.NO_CHANGES})


@dataclass(frozen=True)
class AttemptOutcome:
    """How an attempt ends, or as what it waits. Without its change it ends for a ``reason``; with it there is one
    where devices were left out.
    """

    status: RunStatus
    reason: Reason | None
    verdict: str | None = None
    errors: list[Json] = field(default_factory=list)
    waits_for: str = ""
    due: str | None = None
    result: Json = field(default_factory=dict)

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

    def _step(self, name: str, phase: Callable[..., Json], *arguments: Any, waits: bool = False) -> Json:
        return self._steps.do(name, phase, *arguments, waits=waits)

    def run(self) -> Json:
        """Do it to its end, or until it has to wait for a decision or a moment.

        Returns:
            ``status``, ``verdict``, ``errors``, ``reason``, ``waits_for``; and as far as it came ``held``,
            ``prepared``, ``before``, ``pushed``, ``after``, ``restored``.
        """
        begun = self._step("begin", wait.begin)
        if begun["over"]:
            return {"status": begun["status"], "verdict": begun["verdict"], "errors": []}
        try:
            ending = self._with_devices(begun)
        except Exception:
            self._step("release", wait.release)
            raise
        # Not in a `finally`: an interrupted run goes on later, and must find the steps in the same order.
        # Before the status: once that is written another attempt may begin, and hold the devices itself.
        self._step("release", wait.release)
        reason = ending.reason.document() if ending.reason else None
        told = {"reason": reason, "waits_for": ending.waits_for, "due": ending.due}
        self._step(f"status-{ending.status}", wait.set_status, ending.status.value, ending.verdict, told)
        return {
            "status": ending.status.value,
            "verdict": ending.verdict,
            "errors": ending.errors,
            "reason": ending.reason.message if ending.reason else "",
            "waits_for": ending.waits_for,
            **ending.result,
        }

    def _reason(self, errors: Sequence[Json], step: str) -> Reason:
        return reason_of_errors(errors, step, retry(self.context.run_id))

    def _with_devices(self, begun: Json) -> AttemptOutcome:
        result: Json = {}
        try:
            devices, errors = self._lock(begun["since"])
            if errors:
                return AttemptOutcome(RunStatus.FAILED, self._reason(errors, "lock"), errors=errors)
            return self._prepared(begun["start"], devices, result)
        except Stop as stop:
            return AttemptOutcome(stop.status, stop.reason, result=result)

    def _lock(self, since: str) -> tuple[list[str], list[Json]]:
        for number in count(1):
            got = self._step("lock" if number == 1 else f"lock-{number}", wait.lock, since, waits=True)
            if got.get("stop"):
                raise Stop(got["stop"], "lock", self.context.run_id)
            if "devices" in got or "errors" in got:
                break
        return got.get("devices", []), got.get("errors", [])

    def _checkpoint(self, name: str, devices: list[str]) -> None:
        stop = self._step(f"checkpoint-{name}", wait.checkpoint, devices)["stop"]
        if stop:
            raise Stop(stop, name, self.context.run_id)

    def _prepared(self, start: str, devices: list[str], result: Json) -> AttemptOutcome:
        undoing = self.context.resolved.rollback_of is not None
        if start == "read":
            got = self._step("read", prepare.read, self._to_read(devices))
            self._steps.require_going_on(got, "read")
            if got["errors"]:
                return AttemptOutcome(RunStatus.FAILED, self._reason(got["errors"], "read"), errors=got["errors"])
            self._checkpoint("prepare", devices)
            prepared = self._step(
                "prepare", prepare.prepare_rollback if undoing else prepare.prepare_change, got["running"]
            )
        else:
            got = self._step("reuse", prepare.reuse, start)
            prepared = got["prepared"]
            if got["before"]:
                result["before"] = got["before"]
        left_out: list[Json] = got.get("left_out") or []
        result |= {"held": got["running"], "prepared": prepared, "left_out": left_out}
        if prepared["refused"]:
            # An attempt that an earlier release began has no more than that findings stand against it.
            why = prepared.get("refusal") or _REFUSAL
            return AttemptOutcome(RunStatus.REJECTED, self._reason(why, "validate"), result=result)
        to_push = {name: entry for name, entry in prepared["devices"].items() if not entry["empty"]}
        # Going back is never held up; to bring the change again is.
        waves: Json = {}
        if to_push:
            unread = [each["device"] for each in left_out]
            waves = self._step("rollout", rollout.plan, got["running"], to_push, unread)
            left_out = result["left_out"] = [*left_out, *waves["left_out"]]
            if waves["errors"]:
                errors = waves["errors"]
                return AttemptOutcome(
                    RunStatus.FAILED, self._reason(errors, "rollout"), errors=errors, result=result
                )
        gated = bool(to_push) and (not undoing or self.context.resolved.reapplies)
        if gated and (pending := self._step("gate", wait.gate, prepared["candidate"])["wait"]):
            return _waiting(pending, result)
        try:
            self._measure_before(devices, result)
        except QosforgeError as error:
            errors = [error.document()]
            return AttemptOutcome(
                RunStatus.FAILED, self._reason(errors, "measure-before"), errors=errors, result=result
            )
        if not to_push:
            outcome = result["before"]["outcome"] if "before" in result else None
            why = self._left_out_of(result)
            return AttemptOutcome(RunStatus.NO_CHANGES, why, outcome, errors=left_out, result=result)
        return self._touch(got["running"], to_push, result, waves, prepared["candidate"] if gated else None)

    def _left_out_of(self, result: Json) -> Reason | None:
        """Who was left out of a change that stands, with the way on for just these; ``None`` where nobody was."""
        left_out: list[Json] = result["left_out"]
        if not left_out:
            return None
        told = "; ".join(f"{each['device']}: {each['message']}" for each in left_out)
        hint = f"qosforge retry {self.context.run_id} changes just these"
        return Reason(f"left out: {told}", "push", hint, left_out[0]["device"] if len(left_out) == 1 else "")

    def _to_read(self, devices: list[str]) -> list[str]:
        """The devices whose configuration is needed, in scope or not."""
        network = self.context.network
        if self.context.resolved.rollback_of is not None:
            return devices
        needed = devices_to_read(self.context.intent.intent, network, devices)
        return [device.name for device in network.devices if device.name in needed]

    def _measure_before(self, devices: list[str], result: Json) -> None:
        resolved = self.context.resolved
        if resolved.measure and "before" not in result and (resolved.tester == "twin" or resolved.before):
            self._checkpoint("measure-before", devices)
            result["before"] = self._measured("before", result["held"])

    def _touch(
        self,
        original: dict[str, str],
        to_push: dict[str, Json],
        result: Json,
        rollout_plan: Json,
        candidate: str | None,
    ) -> AttemptOutcome:
        wave_push = WavePush(self._steps, original, to_push, rollout_plan, candidate, result["left_out"])
        try:
            pending = wave_push.run()
        except StopUntouched:
            raise
        except Stop as stop:
            return self._roll_back(original, to_push, result, stop.reason, status=stop.status, errors=stop.errors)
        except PushFailed as failure:
            return self._failed(original, to_push, result, failure.errors, failure.step)
        except QosforgeError as error:
            if not wave_push.running:
                raise
            return self._failed(original, to_push, result, [error.document()], "push")
        finally:
            result |= {"pushed": wave_push.running, "left_out": wave_push.left_out}
        if pending is not None:
            return _waiting(pending, result)
        pushed = wave_push.running
        devices = list(pushed)
        outcome = None
        step = "counters"
        try:
            if self.context.resolved.rollback_of is None:
                counted = self._step("counters", measure.check_counters, pushed)
                self._steps.require_going_on(counted, step)
                if counted["errors"]:
                    return self._failed(original, to_push, result, counted["errors"], step)
            if self.context.resolved.measure:
                step = "measure-after"
                self._checkpoint("measure-after", devices)
                result["after"] = self._measured("after", original | pushed)
                outcome = result["after"]["outcome"]
            self._checkpoint("keep", devices)
        except Stop as stop:
            return self._roll_back(original, to_push, result, stop.reason, status=stop.status, outcome=outcome)
        except QosforgeError as error:
            # Without a verdict nothing is kept.
            return self._failed(original, to_push, result, [error.document()], step)
        if outcome is not None:
            try:
                against = self._against(result, outcome)
            except Stop as stop:
                return self._roll_back(original, to_push, result, stop.reason, status=stop.status, outcome=outcome)
            except QosforgeError as error:
                return self._failed(original, to_push, result, [error.document()], compare.STAGE)
            if against is not None:
                return self._roll_back(original, to_push, result, against, outcome=outcome)
        kept = self._step("keep", push.confirm, original, to_push)
        if kept["errors"]:
            if "stop" in kept:
                cut = Stop(kept["stop"], "keep", self.context.run_id)
                return self._roll_back(
                    original, to_push, result, cut.reason, status=cut.status, errors=kept["errors"]
                )
            return self._failed(original, to_push, result, kept["errors"], "keep")
        left_out = result["left_out"]
        return AttemptOutcome(RunStatus.KEPT, self._left_out_of(result), outcome, errors=left_out, result=result)

    def _against(self, result: Json, outcome: str) -> Reason | None:
        """Why a change that was measured is not kept; ``None`` where it is.

        Raises:
            Stop: the run had to stop while it asked.
        """
        got = self._step(compare.STAGE, compare.compare_sides, result.get("before"), result["after"])
        if got["keep"]:
            return None
        judged = "are not met" if outcome == Verdict.BROKEN else "cannot be told to be met"
        why = f"after the push the objectives {judged}"
        if got["why"]:
            why += f", nor is it shown that nothing is worse than before: {got['why']}"
        if got["keep"] is None:
            word = self._await_keep_decision(got["question"])
            if word.get("kept"):
                return None
            why += (
                f", and {word['by']} rejected keeping it"
                if "kept" in word
                else ", and nobody said in time to keep it"
            )
        if got["restores"]:
            why += f". What is restored is worse in this: {got['restores']}"
        return Reason(why, "measure-after", _NOT_MET)

    def _await_keep_decision(self, question: str) -> Json:
        """What an approver said of keeping a change, or that nobody did in time."""
        until: str | None = None
        for number in count(1):
            got = self._step(f"await-keep-{number}", compare.await_keep_decision, question, until, waits=True)
            if got.get("stop"):
                raise Stop(got["stop"], compare.STAGE, self.context.run_id)
            if "kept" in got or "late" in got:
                break
            until = got["until"]
        return got

    def _failed(
        self, original: dict[str, str], to_push: dict[str, Json], result: Json, errors: list[Json], step: str
    ) -> AttemptOutcome:
        """Roll a push back for what went wrong at a step."""
        return self._roll_back(original, to_push, result, self._reason(errors, step), errors=errors)

    def _measured(self, when: Side, running: dict[str, str]) -> Json:
        if self.context.resolved.tester == "external":
            return self._step(f"measure-{when}", measure.judge_external, self._await_measurement(when), when)
        found: Json = {"measurement": None, "outcome": Verdict.INCONCLUSIVE}
        for look in range(1, LOOKS + 1):
            # A step that an earlier release recorded does not say whether there is more to look at.
            if not found.get("more", found["outcome"] == Verdict.INCONCLUSIVE):
                break
            name = measure.look_stage(when, look)
            found = self._step(name, measure.measure_with_twin, running, when, look, found["measurement"])
        return found

    def _await_measurement(self, when: Side) -> str:
        """The artifact that an external tester gives in time.

        Raises:
            TesterError: none does.
        """
        until: str | None = None
        for number in count(1):
            name = f"await-{when}-{number}"
            got = self._step(name, wait.await_measurement, when, until, EXTERNAL_TESTER_SECONDS, waits=True)
            if got.get("stop"):
                raise Stop(got["stop"], f"measure-{when}", self.context.run_id)
            if "measurement" in got or "late" in got:
                break
            until = got["until"]
        if "measurement" not in got:
            raise TesterError(
                f"no outside measurement {when} the push came within {EXTERNAL_TESTER_SECONDS:.0f} s",
                hint="start the tester when the run says that it waits, and run it again",
            )
        measurement: str = got["measurement"]
        return measurement

    def _roll_back(
        self,
        original: dict[str, str],
        to_push: dict[str, Json],
        result: Json,
        reason: Reason,
        *,
        status: RunStatus = RunStatus.ROLLED_BACK,
        errors: list[Json] | None = None,
        outcome: str | None = None,
    ) -> AttemptOutcome:
        undone = self._step("rollback", push.roll_back, original, to_push)
        result["restored"] = undone["running"]
        if undone["errors"]:
            status = RunStatus.NEEDS_RECOVERY
            left = self._reason(undone["errors"], "rollback")
            message = f"{left.message}; it was rolled back because of: {reason.message}"
            reason = Reason(message, left.step, RECOVER, left.device)
        return AttemptOutcome(status, reason, outcome, [*(errors or []), *undone["errors"]], result=result)


def _waiting(pending: Json, result: Json) -> AttemptOutcome:
    return AttemptOutcome(**{**pending, "status": RunStatus(pending["status"])}, reason=None, result=result)
