"""The error of a request that a run's state does not allow."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from qosforge.errors import InputError
from qosforge.runs.record.run import Run
from qosforge.runs.record.tables import RunStatus

FINISH = "finish it first: qosforge recover"
"""What to do with a run that stopped between two states."""


@dataclass(eq=False)
class InvalidState(InputError):
    """The run is not in a state in which this can be done to it."""


@dataclass(eq=False)
class BetweenStates(InvalidState):
    """It left a device between two states."""


@dataclass(eq=False)
class RunExpired(InvalidState):
    """A retention took what this would need."""


@dataclass(eq=False)
class ChangedSince(InvalidState):
    """A later run changed a device of it: the place names one."""


def require_status(run: Run, statuses: Collection[RunStatus], what: str) -> None:
    """Make sure that a run is in one of these statuses.

    Raises:
        InvalidState: it is not; ``what`` says what it is not fit for.
    """
    if run.status not in statuses:
        raise InvalidState(
            f"run {run.id} {what}: it is {run.status.value.replace('_', ' ')}", hint="look at the run"
        )


def require_stoppable(run: Run) -> None:
    """Make sure that a run has something left to stop.

    Raises:
        InvalidState: it is over, or stopped between two states.
    """
    if run.status is RunStatus.NEEDS_RECOVERY:
        raise BetweenStates(f"run {run.id} stopped between two states", hint=FINISH)
    if run.status.final:
        status = run.status.value.replace("_", " ")
        raise InvalidState(f"run {run.id} is over: {status}", hint="a run that was kept can be rolled back")
