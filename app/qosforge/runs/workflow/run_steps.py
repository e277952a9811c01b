"""The steps of one attempt at a run, as the engine records them, and what ends the attempt between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from qosforge.runs.engine.port import Engine
from qosforge.runs.record.reason import Reason, retry
from qosforge.runs.record.stages import RunStopped
from qosforge.runs.record.tables import RunStatus
from qosforge.runs.workflow.context import Context

Json = dict[str, Any]


class Stop(Exception):
    """Somebody cancelled the run, or its time is over; ``errors`` are of devices left in the midst of it."""

    def __init__(self, stop: Json, step: str, run_id: str, errors: Sequence[Json] = ()) -> None:
        super().__init__(stop["reason"])
        self.status = RunStatus(stop["status"])
        self.reason = Reason(stop["reason"], step, retry(run_id))
        self.errors = list(errors)


class StopUntouched(Stop):
    """As `Stop`, and no device was touched: there is nothing to roll back."""


class PushFailed(Exception):
    """The push cannot stand, for ``errors`` at a ``step``."""

    def __init__(self, errors: Sequence[Json], step: str) -> None:
        super().__init__(step)
        self.errors = list(errors)
        self.step = step


def _stoppable(phase: Callable[..., Json], *arguments: Any) -> Json:
    """What a phase gives, or that the run had to stop while it computed: a result, so that it is recorded."""
    try:
        return phase(*arguments)
    except RunStopped as stopped:
        return {"stopped": stopped.stop}


@dataclass(frozen=True)
class RunSteps:
    """Does phases as steps of the engine."""

    context: Context
    engine: Engine

    def do(self, name: str, phase: Callable[..., Json], *arguments: Any, waits: bool = False) -> Json:
        """What a phase gives, or gave already; ``waits``: it waits for others.

        Raises:
            Stop: the run had to stop while it computed.
        """
        step = self.engine.wait_step if waits else self.engine.run_step
        got = step(name, _stoppable, phase, self.context, *arguments)
        if "stopped" in got:
            raise Stop(got["stopped"], name, self.context.run_id)
        return got

    def require_going_on(self, got: Json, step: str) -> None:
        """Make sure that a step was not left because the run has to stop.

        Raises:
            Stop: it was.
        """
        if "stop" in got:
            raise Stop(got["stop"], step, self.context.run_id)
