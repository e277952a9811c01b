"""The workflows of runs: one attempt at a run, and settling devices that a run left between two states."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from structlog.contextvars import bound_contextvars

from qosforge.artifacts.store import Artifacts
from qosforge.deploy.route import Route, lab_route
from qosforge.deploy.sessions import Sessions
from qosforge.errors import QosforgeError
from qosforge.runs.engine.computing import Computing
from qosforge.runs.engine.port import Engine, JsonObject
from qosforge.runs.engine.workflow_ids import SETTLE, WORKFLOW, run_of, settling_id, workflow_id
from qosforge.runs.record.run import Run
from qosforge.runs.record.step_error import StepError
from qosforge.runs.record.store import RunStore
from qosforge.runs.workflow.context import Context, Observer
from qosforge.runs.workflow.results import AttemptResult, Done, RestoreResult
from qosforge.runs.workflow.rules import NetworkRules
from qosforge.runs.workflow.run_attempt import RunAttempt
from qosforge.runs.workflow.run_steps import RunSteps
from qosforge.runs.workflow.steps import push, status
from qosforge.telemetry.traces import span


@dataclass
class RunWorkflow:
    """Runs the workflow in this process."""

    store: RunStore
    artifacts: Artifacts
    engine: Engine
    observe: Observer
    rules: NetworkRules
    computing: Computing
    sessions: Sessions = field(default_factory=Sessions)
    route: Callable[[Path | None], Route] = lab_route

    def register(self) -> None:
        """Make the workflow known to the engine; before its launch."""
        self.engine.register(WORKFLOW, self._workflow)
        self.engine.register(SETTLE, self._settling)

    def execute(self, run_id: str) -> AttemptResult:
        """Do the present attempt at a recorded run to its end, or until it has to wait."""
        run = self.store.get_run(run_id)
        return AttemptResult.model_validate(self.engine.run(WORKFLOW, workflow_id(run), run.params))

    def unsettled(self) -> list[str]:
        """Runs that ended with a device between two states."""
        return sorted({touch.run_id for touch in self.store.journal.open_touches()})

    def settle(self, run_id: str) -> RestoreResult:
        """Undo what a run left between two states, as a workflow of its own."""
        return RestoreResult.model_validate(self.engine.run(SETTLE, settling_id(run_id), {"run": run_id}))

    def _settling(self, _workflow_id: str, params: JsonObject) -> JsonObject:
        run = self.store.get_run(params["run"])
        context = self._context(run, run.attempt)
        try:
            steps = RunSteps(context, self.engine)
            undone = steps.do("rollback", RestoreResult, push.settle)
            if not undone.errors:
                steps.do("status", Done, status.set_settled)
            return undone.document()
        finally:
            context.close()

    def _workflow(self, workflow_id: str, _params: JsonObject) -> JsonObject:
        # What a run does never changes, so its row tells an attempt that is taken up again the same.
        run_id, attempt = run_of(workflow_id)
        context = self._context(self.store.get_run(run_id), attempt)
        with (
            bound_contextvars(run_id=run_id),
            span("run", context.resolved.traceparent, run_id=run_id, attempt=attempt),
        ):
            try:
                return RunAttempt(context, self.engine).run().document()
            except Exception as error:
                # The error goes on to the caller; the store must not say for ever that a process is at it.
                RunSteps(context, self.engine).do("status-stopped", Done, status.set_stopped, _errors(error))
                raise
            finally:
                context.close()

    def _context(self, run: Run, attempt: int) -> Context:
        return Context(
            run.id,
            run.resolved,
            self.store,
            self.artifacts,
            self.observe,
            self.rules,
            self.computing,
            attempt,
            self.sessions,
            self.route,
        )


def _errors(error: Exception) -> list[StepError]:
    if isinstance(error, QosforgeError):
        return [StepError.of(problem) for problem in error.problems() or [error]]
    return [StepError(message=str(error) or type(error).__name__, hint="the log of the executor has the error")]
