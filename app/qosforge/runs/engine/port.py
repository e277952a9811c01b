"""The engine port: durable workflows, which survive the death of their process. The domain knows only this."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ParamSpec, Protocol, Self, TypeVar

from qosforge.errors import QosforgeError, ServiceError

MAX_RECOVERY_ATTEMPTS = 2
"""How often a workflow is taken up whose process died under it."""

WORKFLOW_VERSION = "7"
"""Version of the order of steps; raise it when recorded runs can no longer be replayed by the code."""

JsonObject = dict[str, Any]
"""A plain JSON object: text keys; lists, not tuples; no NaN. It survives JSON unchanged."""

Workflow = Callable[[str, JsonObject], JsonObject]
"""``(workflow_id, params) -> result``. Deterministic between its steps; everything that acts is a step."""

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(eq=False)
class RunStranded(ServiceError):
    """An unfinished run that this release of the engine cannot take up."""


@dataclass(eq=False)
class RecordedError(ServiceError):
    """An error of a step or run, other than a :class:`QosforgeError`, read back from the engine's record."""


@dataclass(frozen=True, slots=True)
class RecoveredRun:
    """How an unfinished run ended after recovery: with ``result``, or with ``error``."""

    run_id: str
    workflow: str
    result: JsonObject | None = None
    error: QosforgeError | None = None


@dataclass(frozen=True, slots=True)
class WorkflowQueue:
    """A queue of workflows. ``concurrency`` counts per executor, ``per_minute`` over all; ``None``: no limit."""

    name: str
    concurrency: int | None = None
    per_minute: int | None = None


@dataclass(frozen=True, slots=True)
class UnfinishedWorkflow:
    """A workflow that has not ended. ``running``: an ``executor`` took it; else it waits in a queue."""

    workflow_id: str
    workflow: str
    version: str
    executor: str
    running: bool


class WorkflowState(StrEnum):
    """What the engine knows of a workflow."""

    UNKNOWN = "unknown"
    UNFINISHED = "unfinished"
    ENDED = "ended"
    """With a result or an error."""
    EXHAUSTED = "exhausted"
    """Its process died under it again and again."""
    ABANDONED = "abandoned"


class Engine(Protocol):
    """Runs workflows whose finished steps are never repeated, whatever happens to the process.

    Life: :meth:`register` every workflow, :meth:`launch`, then run, enqueue, recover, :meth:`close`. As a context
    manager it launches and closes. A step is *at least once*: one that was cut short runs again from its
    beginning, so whatever it touches it reads first.
    """

    def register(self, name: str, workflow: Workflow) -> None:
        """Make ``workflow`` known by a name that later releases keep. Only before :meth:`launch`."""

    @property
    def executor(self) -> str:
        """What this process is called in the record; unique among those that live."""

    @property
    def version(self) -> str:
        """Version of the workflows that this process can carry out."""

    def launch(self, listen: bool = True) -> None:
        """Join the engine; with ``listen``, carry out what its queues hold, in the background.

        What an earlier process of the same executor id left unfinished is taken up.

        Raises:
            EngineBusy: another process owns it.
            StoreError: its record cannot be opened.
        """

    def run(self, workflow: str, run_id: str, params: JsonObject) -> JsonObject:
        """Run a workflow in the calling thread and return its result; its error is raised.

        A run that is over returns (or raises) what it ended with. Interrupting the call leaves the run
        unfinished, for :meth:`recover`.
        """

    def start(self, workflow: str, run_id: str, params: JsonObject) -> None:
        """Start a workflow in the background; the run is recorded when this returns."""

    def enqueue(self, workflow: str, workflow_id: str, params: JsonObject, queue: str) -> None:
        """Put a workflow into a queue, for any executor; one that is known by its id already is left as it is."""

    def unfinished(self) -> list[UnfinishedWorkflow]:
        """Every workflow that has not ended, of all versions and executors."""

    def state(self, workflow_id: str) -> WorkflowState:
        """What the engine knows of a workflow."""

    def take_over(self, alive: Collection[str]) -> list[str]:
        """Put back into their queues the workflows of this version whose executor is not among ``alive``.

        Also those that this process took and lost. Any number of processes may do it at once. Returns their ids.
        """

    def move(self, workflow_id: str, queue: str) -> None:
        """Put a workflow that waits in a queue into another one; one that runs, or has ended, is left alone."""

    def abandon(self, workflow_id: str) -> None:
        """End a workflow where it stands; its step in flight, if any, is not recorded."""

    def result(self, run_id: str) -> JsonObject:
        """Wait for a run and return its result; its error is raised."""

    def run_step(self, name: str, step: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Inside a workflow: do ``step`` and record its result (plain JSON) or error, or return the record.

        Raises:
            RuntimeError: called outside a workflow, from a thread of its own, or inside another step.
            TypeError: the result does not survive JSON unchanged.
        """

    def wait_step(self, name: str, step: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """As :meth:`run_step`, for a step that waits for others: no death of a process is its workflow's doing."""

    def recover(self) -> list[RecoveredRun]:
        """Wait until every unfinished run has ended, and tell how; a failed one is a value here."""

    def close(self, drain_seconds: float = 60) -> bool:
        """Let go: running workflows stop before their next step and stay unfinished.

        Returns whether the steps in flight ended and were recorded within ``drain_seconds``; if not, they go on.
        """

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...
