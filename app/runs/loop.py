"""The loop as a durable workflow: read, compile, validate, measure, push, measure, judge, keep or roll back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from app.errors import QosforgeError, StoreError
from app.runs import phases
from app.runs.artifacts import ArtifactStore
from app.runs.context import Context, Documents, Observer
from app.runs.engine import Engine, JsonObject
from app.runs.ids import new_run_id
from app.runs.store import RunStore
from app.runs.tables import RunStatus, Verdict
from app.tester.traffic import LONGEST_STRETCH

WORKFLOW = "loop"
SETTLE = "settle"

Json = dict[str, Any]


@dataclass
class Loop:
    """Runs the workflow in this process."""

    store: RunStore
    artifacts: ArtifactStore
    engine: Engine
    observe: Observer

    def register(self) -> None:
        """Make the workflow known to the engine; before its launch."""
        self.engine.register(WORKFLOW, self._workflow)
        self.engine.register(SETTLE, self._settling)

    def start(self, documents: Documents, network: str, policy: str, version: str) -> str:
        """Record a new run and return its id; `carry_out` does it."""
        return self.store.create_run(network, policy, version, documents.as_json()).id

    def carry_out(self, run_id: str) -> Json:
        """Do a recorded run to its end.

        Returns:
            ``{"status", "verdict", "errors", "before", "after"}``: see `_Course`.
        """
        run = self.store.get_run(run_id)
        return self.engine.run(WORKFLOW, run.id, run.params)

    def unsettled(self) -> list[str]:
        """Runs that ended with a box between two states."""
        return sorted({touch.run_id for touch in self.store.journal.open_touches()})

    def settle(self, run_id: str) -> Json:
        """Undo what a run left between two states, as a workflow of its own."""
        return self.engine.run(SETTLE, new_run_id(), {"run": run_id})

    def _settling(self, workflow_id: str, params: JsonObject) -> JsonObject:
        del workflow_id
        run = self.store.get_run(params["run"])
        context = Context(run.id, Documents(**run.params), self.store, self.artifacts, self.observe)
        try:
            undone = self.engine.run_step("roll-back", phases.settle, context)
            if not undone["errors"]:
                self.engine.run_step("status", phases.set_status, context, RunStatus.ROLLED_BACK.value, None)
            return undone
        finally:
            context.close()

    def _workflow(self, run_id: str, params: JsonObject) -> JsonObject:
        context = Context(run_id, Documents(**params), self.store, self.artifacts, self.observe)
        try:
            return _Course(context, self.engine).go()
        except Exception:
            # The error goes on to the caller; the store must not say for ever that a process is at it.
            self.engine.run_step("status-stopped", phases.set_stopped, context)
            raise
        finally:
            context.close()


@dataclass
class _Course:
    """One run on its way. Everything that acts or looks at the world is a step of the engine."""

    context: Context
    engine: Engine

    def _step(self, name: str, phase: Callable[..., Json], *arguments: Any) -> Json:
        return self.engine.run_step(name, phase, self.context, *arguments)

    def go(self) -> Json:
        self._status(RunStatus.RUNNING)
        got = self._step("read", phases.read)
        held: dict[str, str] = got["running"]
        if got["errors"]:
            return self._end(RunStatus.FAILED, errors=got["errors"])
        prepared = self._step("prepare", phases.prepare, held)
        result: Json = {"held": held, "prepared": prepared}
        if prepared["refused"]:
            return self._end(RunStatus.REFUSED, **result)
        if self.context.documents.measure:
            try:
                result["before"] = self._measured("before", held)
            except QosforgeError as error:
                return self._end(RunStatus.FAILED, errors=[error.document()], **result)
        changing = [name for name, entry in prepared["devices"].items() if not entry["empty"]]
        if not changing:
            outcome = result["before"]["outcome"] if "before" in result else None
            return self._end(RunStatus.NOTHING_TO_DO, outcome, **result)
        devices = {name: prepared["devices"][name] for name in changing}
        try:
            self._step("lock", phases.lock, changing)
        except StoreError as error:
            return self._end(RunStatus.FAILED, errors=[error.document()])
        try:
            ended = self._touch(held, devices, result)
        except Exception:
            self._step("release", phases.release)
            raise
        # Not in a `finally`: an interrupted run goes on later, and must find the steps in the same order.
        self._step("release", phases.release)
        return ended

    def _touch(self, held: dict[str, str], devices: dict[str, Json], result: Json) -> Json:
        pushed = self._step("push", phases.push, held, devices, list(devices))
        result["pushed"] = pushed["running"]
        if pushed["errors"]:
            return self._undo(held, devices, result, pushed["errors"])
        outcome = None
        try:
            problems = self._step("counters", phases.counters, pushed["running"])["errors"]
            if not problems and self.context.documents.measure:
                self._step("renew", phases.renew, list(devices))
                result["after"] = self._measured("after", held | pushed["running"])
                outcome = result["after"]["outcome"]
        except QosforgeError as error:
            # Without a verdict nothing is kept.
            problems = [error.document()]
        if problems or outcome not in (None, Verdict.MET):
            return self._undo(held, devices, result, problems, outcome)
        kept = self._step("keep", phases.keep, held, devices)
        if kept["errors"]:
            return self._undo(held, devices, result, kept["errors"])
        return self._end(RunStatus.KEPT, outcome, **result)

    def _measured(self, when: str, held: dict[str, str]) -> Json:
        stretch = 1
        found = self._step(f"measure-{when}", phases.measure, held, when, stretch)
        while found["outcome"] == Verdict.INCONCLUSIVE and stretch < LONGEST_STRETCH:
            stretch *= 2
            found = self._step(f"measure-{when}-x{stretch}", phases.measure, held, when, stretch)
        return found

    def _undo(
        self,
        held: dict[str, str],
        devices: dict[str, Json],
        result: Json,
        errors: list[Json],
        outcome: str | None = None,
    ) -> Json:
        undone = self._step("roll-back", phases.roll_back, held, devices)
        result["restored"] = undone["running"]
        status = RunStatus.NEEDS_RECOVERY if undone["errors"] else RunStatus.ROLLED_BACK
        return self._end(status, outcome, errors=[*errors, *undone["errors"]], **result)

    def _status(self, status: RunStatus, outcome: str | None = None) -> None:
        self._step(f"status-{status}", phases.set_status, status.value, outcome)

    def _end(
        self, status: RunStatus, outcome: str | None = None, errors: list[Json] | None = None, **rest: Any
    ) -> Json:
        self._status(status, outcome)
        return {"status": status.value, "verdict": outcome, "errors": errors or [], **rest}
