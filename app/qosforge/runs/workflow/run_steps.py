"""The steps of one attempt at a run, as the engine records them, and what ends the attempt between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Concatenate, ParamSpec, TypeVar

from qosforge.runs.engine.port import Engine
from qosforge.runs.record.reason import Reason, retry
from qosforge.runs.record.step_error import StepError
from qosforge.runs.record.stop_signal import RunStopped, StopSignal
from qosforge.runs.workflow.context import Context
from qosforge.runs.workflow.results import StepResult, StoppableResult

P = ParamSpec("P")
Result = TypeVar("Result", bound=StepResult)

_STOPPED = "stopped"
"""Key of the record of a step that was stopped while it computed."""


class Stop(Exception):
    """Somebody cancelled the run, or its time is over; ``errors`` are of devices left in the midst of it."""

    def __init__(self, stop: StopSignal, step: str, run_id: str, errors: Sequence[StepError] = ()) -> None:
        super().__init__(stop.reason)
        self.status = stop.status
        self.reason = Reason(stop.reason, step, retry(run_id))
        self.errors = list(errors)


class StopUntouched(Stop):
    """As `Stop`, and no device was touched: there is nothing to roll back."""


class PushFailed(Exception):
    """The push cannot stand, for ``errors`` at a ``step``."""

    def __init__(self, errors: Sequence[StepError], step: str) -> None:
        super().__init__(step)
        self.errors = list(errors)
        self.step = step


def _recorded(step: Callable[..., StepResult], *arguments: Any, **more: Any) -> dict[str, Any]:
    """The result of a step, or that the run had to stop while it computed, as a record."""
    try:
        return step(*arguments, **more).document()
    except RunStopped as stopped:
        return {_STOPPED: stopped.stop.model_dump(mode="json")}


@dataclass(frozen=True)
class RunSteps:
    """Carries out the steps of an attempt by the engine, which records their results."""

    context: Context
    engine: Engine

    def do(
        self,
        name: str,
        result: type[Result],
        step: Callable[Concatenate[Context, P], Result],
        *arguments: P.args,
        **more: P.kwargs,
    ) -> Result:
        """The result of a step, carried out now or recorded already.

        Raises:
            Stop: the run had to stop while it computed.
        """
        return self._read(
            name, result, self.engine.run_step(name, _recorded, step, self.context, *arguments, **more)
        )

    def wait(
        self,
        name: str,
        result: type[Result],
        step: Callable[Concatenate[Context, P], Result],
        *arguments: P.args,
        **more: P.kwargs,
    ) -> Result:
        """As `do`, for a step that waits for others."""
        got = self.engine.wait_step(name, _recorded, step, self.context, *arguments, **more)
        return self._read(name, result, got)

    def _read(self, name: str, result: type[Result], got: dict[str, Any]) -> Result:
        if _STOPPED in got:
            raise Stop(StopSignal.model_validate(got[_STOPPED]), name, self.context.run_id)
        return result.model_validate(got)

    def require_going_on(self, got: StoppableResult, step: str) -> None:
        """Make sure that a step was not left because the run has to stop.

        Raises:
            Stop: it was.
        """
        if got.stop is not None:
            raise Stop(got.stop, step, self.context.run_id)
