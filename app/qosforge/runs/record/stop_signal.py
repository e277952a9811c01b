"""The signal that a run has to stop: somebody cancelled it, or its time is over."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from qosforge.runs.record.tables import RunStatus


class StopSignal(BaseModel):
    """The status that a run has to end with, and why."""

    model_config = ConfigDict(frozen=True)

    status: RunStatus
    reason: str


class RunStopped(Exception):
    """A run has to stop in the midst of a computation."""

    def __init__(self, stop: StopSignal) -> None:
        super().__init__(stop.reason)
        self.stop = stop
