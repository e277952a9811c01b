"""The engine port on DBOS Transact: a SQLite record in the run directory for one process, or PostgreSQL for many.

DBOS takes a dead process's workflows up only in a process with the same executor id, and two live ones with
one id would run the same step twice. So on SQLite, where the id is always the same, an operating-system lock
lets one process own the engine. On PostgreSQL every process has an id of its own with a lease, and the
survivors put a dead one's workflows back into their queues: each of them then has exactly one taker.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from contextlib import closing
from pathlib import Path
from typing import ParamSpec, Self, TypeVar

import sqlalchemy as sa
from dbos import DBOS, SetWorkflowID, WorkflowHandle, WorkflowStatus
from dbos import error as dbos_errors

from qosforge.database.sqlite_file import keep_private, let_shrink
from qosforge.errors import InputError, Place, QosforgeError, StoreError
from qosforge.runs.engine import json_records
from qosforge.runs.engine.dbos_adapter import (
    UNFINISHED,
    Internals,
    dbos_config,
    disable_pollers,
    disable_unpickling,
    silence_console_log,
    unfinished_workflows,
    workflow_state,
)
from qosforge.runs.engine.ownership import Ownership
from qosforge.runs.engine.port import (
    MAX_RECOVERY_ATTEMPTS,
    WORKFLOW_VERSION,
    JsonObject,
    RecoveredRun,
    RunStranded,
    UnfinishedWorkflow,
    Workflow,
    WorkflowQueue,
    WorkflowState,
)
from qosforge.runs.engine.queue_workers import QueueWorkers
from qosforge.runs.engine.record_checks import reject_foreign_records
from qosforge.runs.record.store import EMBEDDED_EXECUTOR

_POLL_SECONDS = 0.1  # how often a waiting caller looks at the record
_LOST_SECONDS = 10  # taken by this process and not begun for so long: the answer to the taking was lost
_WITHOUT_QUEUE = "_dbos_internal_queue"  # started directly and then recovered: the engine's own name

P = ParamSpec("P")
T = TypeVar("T")


class _EngineClosing(BaseException):
    """Stops a workflow between two steps; not an ``Exception``, so DBOS leaves the run unfinished."""


_EXHAUSTED = (
    dbos_errors.MaxRecoveryAttemptsExceededError,
    dbos_errors.DBOSAwaitedWorkflowMaxRecoveryAttemptsExceeded,
)
"""What the engine raises for a workflow that it has given up: to who begins it, and to who waits for it."""


class _Superseded(BaseException):
    """Stops an execution that another one has taken over from: it must not even clean up."""


class DbosEngine:
    """See :class:`qosforge.runs.engine.port.Engine`.

    Without ``url``: files ``engine.sqlite`` and ``engine.lock`` in ``directory``; ``store`` is then the SQLite file
    whose runs it carries out, which nobody else may do meanwhile. With the ``url`` of a PostgreSQL
    database: tables in its schema ``dbos``, and an ``executor`` id that no other live process has.
    """

    def __init__(
        self,
        directory: Path,
        *,
        url: sa.URL | None = None,
        store: Path | None = None,
        executor: str = EMBEDDED_EXECUTOR,
        queues: Sequence[WorkflowQueue] = (),
        workflow_version: str = WORKFLOW_VERSION,
    ) -> None:
        self._record = directory / "engine.sqlite" if url is None else None
        self._url = url or sa.URL.create("sqlite", database=str(self._record))
        self._place = Place(file=str(self._record)) if url is None else Place(path=url.render_as_string())
        self._ownership = Ownership(directory, record=self._record, store=store)
        self._executor = executor
        self._queues = tuple(queues)
        self._version = workflow_version
        self._workflows: dict[str, Workflow] = {}
        self._durable: dict[str, Workflow] = {}
        self._launched: Internals | None = None
        self._work: QueueWorkers | None = None
        self._closing = False
        self._active: Counter[str] = Counter()
        self._interrupted: set[str] = set()
        self._idle_since: dict[str, float] = {}
        self._idle = threading.Condition()

    @property
    def executor(self) -> str:
        """What this process is called in the record."""
        return self._executor

    @property
    def version(self) -> str:
        """Version of the workflows that this process can carry out."""
        return self._version

    def __enter__(self) -> Self:
        self.launch()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def register(self, name: str, workflow: Workflow) -> None:
        """Make ``workflow`` known by ``name``, before the launch."""
        if self._launched is not None:
            raise RuntimeError("workflows are registered before the engine is launched")
        if name in self._workflows:
            raise RuntimeError(f"workflow {name} is registered already")
        self._workflows[name] = workflow

    def launch(self, listen: bool = True) -> None:
        """Join the engine; with ``listen``, carry out what its queues hold, in the background.

        Raises:
            EngineBusy: another process (or another engine of this one) owns it.
            StoreError: its record cannot be opened or trusted.
        """
        self._ownership.acquire()
        try:
            disable_unpickling()
            reject_foreign_records(self._url, self._place)
            silence_console_log()
            disable_pollers()
            if self._record is not None:
                keep_private(self._record)
                with closing(sqlite3.connect(self._record)) as plain:
                    let_shrink(plain)
            for name, workflow in self._workflows.items():
                self._durable[name] = DBOS.workflow(name=name, max_recovery_attempts=MAX_RECOVERY_ATTEMPTS)(
                    self._guarded(name, workflow)
                )
            self._closing = False
            engine = DBOS(config=dbos_config(self._url, self._version, self._executor))
            DBOS.listen_queues([])
            DBOS.launch()
            internals = Internals(engine)
            internals.stop_pollers()
            queues = [
                DBOS.register_queue(
                    queue.name,
                    worker_concurrency=queue.concurrency,
                    limiter={"limit": queue.per_minute, "period": 60.0} if queue.per_minute else None,
                )
                for queue in self._queues
            ]
            self._work = internals.queue_workers(queues if listen else [])
            self._launched = internals  # before the first workflow is taken
            self._work.start()
        except (sa.exc.SQLAlchemyError, sqlite3.Error, OSError, dbos_errors.DBOSException) as error:
            self._disown()
            raise StoreError(
                f"the engine's record cannot be opened: {error}",
                self._place,
                "check that it can be written and that its disk has space",
            ) from error
        except BaseException:
            self._disown()
            raise

    def run(self, workflow: str, run_id: str, params: JsonObject) -> JsonObject:
        """Run a workflow in the calling thread; its error is raised."""
        with SetWorkflowID(run_id):
            return self._durable[workflow](run_id, json_records.require_plain_json(params, "the run's params"))

    def start(self, workflow: str, run_id: str, params: JsonObject) -> None:
        """Start a workflow in the background; it is recorded when this returns."""
        with SetWorkflowID(run_id):
            DBOS.start_workflow(
                self._durable[workflow], run_id, json_records.require_plain_json(params, "the run's params")
            )

    def enqueue(self, workflow: str, workflow_id: str, params: JsonObject, queue: str) -> None:
        """Put a workflow into a queue; one that is known by its id already is left as it is."""
        with SetWorkflowID(workflow_id):
            DBOS.enqueue_workflow(
                queue,
                self._durable[workflow],
                workflow_id,
                json_records.require_plain_json(params, "the run's params"),
            )
        self._look_into(queue)

    def unfinished(self) -> list[UnfinishedWorkflow]:
        """Every workflow that has not ended, of all versions and executors."""
        return unfinished_workflows()

    def state(self, workflow_id: str) -> WorkflowState:
        """What the engine knows of a workflow."""
        return workflow_state(workflow_id)

    def take_over(self, alive: Collection[str]) -> list[str]:
        """Put back into their queues the workflows of dead executors, and those that this process took and lost.

        The engine changes the row of one that its executor still has, and only then: so it is put back once, and
        a queue hands it to one taker. Its recovery by executor ids would do the same but for the queue's name.
        """
        mine = {entry.workflow_id for entry in self._lost()}
        taken = []
        for entry in self.unfinished():
            if not entry.running or entry.version != self._version:
                continue
            if entry.executor not in alive or entry.workflow_id in mine:
                queue = self._queues[0].name if self._queues else _WITHOUT_QUEUE
                if self._internals.put_back(entry.workflow_id, entry.executor, queue):
                    taken.append(entry.workflow_id)
                    self._look_into(queue)
        return taken

    def move(self, workflow_id: str, queue: str) -> None:
        """Put a workflow that waits in a queue into another one; one that runs, or has ended, is left alone."""
        self._internals.move_enqueued(workflow_id, queue)
        self._look_into(queue)

    def abandon(self, workflow_id: str) -> None:
        """End a workflow where it stands; its step in flight, if any, is not recorded."""
        DBOS.cancel_workflow(workflow_id)

    def result(self, run_id: str) -> JsonObject:
        """Wait for a run and return its result; its error is raised.

        Raises:
            InputError: the engine never heard of it.
            RunStranded: it was interrupted in this process, so nothing carries it on before the next launch.
        """
        if run_id in self._interrupted:
            raise RunStranded(f"run {run_id} was interrupted", hint="finish it with `qosforge recover`")
        try:
            handle: WorkflowHandle[JsonObject] = DBOS.retrieve_workflow(run_id)
        except dbos_errors.DBOSNonExistentWorkflowError as error:
            raise InputError(f"the engine has no record of run {run_id}", hint="start the run again") from error
        try:
            return handle.get_result(polling_interval_sec=_POLL_SECONDS)
        except _EXHAUSTED as error:
            raise RunStranded(
                f"the process of {run_id} died under it too often", hint="start the run again"
            ) from error

    def run_step(self, name: str, step: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do ``step`` and record its result or error, or return the record of an earlier run.

        Raises:
            RuntimeError: called outside a workflow, from a thread of its own, or inside another step.
            TypeError: the result is not plain JSON.
        """
        # The engine would run these silently, and record nothing.
        if DBOS.workflow_id is None or DBOS.step_id is not None:
            raise RuntimeError(f"step {name} is not called from the thread of a workflow, between its steps")
        if self._closing:
            raise _EngineClosing

        def recorded() -> T:
            result: T = json_records.require_plain_json(step(*args, **kwargs), f"the result of step {name}")
            return result

        try:
            return DBOS.run_step({"name": name}, recorded)
        except dbos_errors.DBOSWorkflowConflictIDError as error:
            raise _Superseded from error

    def wait_step(self, name: str, step: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """As :meth:`run_step`; a process that dies in the step does not count as one that died under it."""
        workflow_id = str(DBOS.workflow_id)

        def waiting(*args: P.args, **kwargs: P.kwargs) -> T:
            self._internals.count_recovery(workflow_id, -1)
            try:
                return step(*args, **kwargs)
            finally:
                self._internals.count_recovery(workflow_id, 1)

        return self.run_step(name, waiting, *args, **kwargs)

    def recover(self) -> list[RecoveredRun]:
        """Wait until every unfinished run of this executor has ended, and tell how."""
        mine = DBOS.list_workflows(status=UNFINISHED, executor_id=self._executor)
        return [self._recovered(status) for status in mine]

    def close(self, drain_seconds: float = 60) -> bool:
        """Let go: running workflows stop before their next step and stay unfinished.

        Returns whether the steps in flight ended and were recorded within ``drain_seconds``; if not, they go on,
        and this process owns the engine until they have ended and it is called again.
        """
        if self._launched is None:
            return True
        self._closing = True
        if self._work is not None:
            self._work.stop()
        with self._idle:
            if not self._idle.wait_for(lambda: not self._active, timeout=drain_seconds):
                return False  # letting go now would let another process repeat the step beside us
        self._disown()
        return True

    @property
    def _internals(self) -> Internals:
        if self._launched is None:
            raise RuntimeError("the engine is not launched")
        return self._launched

    def _look_into(self, queue: str) -> None:
        if self._work is not None:
            self._work.call(queue)

    def _lost(self) -> list[UnfinishedWorkflow]:
        """Workflows that the record gives to this process, and that it has not been at for a while."""
        now = time.monotonic()
        with self._idle:
            idle = [
                entry
                for entry in self.unfinished()
                if entry.running and entry.executor == self._executor and entry.workflow_id not in self._active
            ]
        self._idle_since = {
            entry.workflow_id: self._idle_since.get(entry.workflow_id, now)
            for entry in idle
            if entry.workflow_id not in self._interrupted
        }
        return [entry for entry in idle if now - self._idle_since.get(entry.workflow_id, now) >= _LOST_SECONDS]

    def _recovered(self, status: WorkflowStatus) -> RecoveredRun:
        run_id, name = status.workflow_id, status.name
        if status.app_version != self._version or name not in self._workflows:
            stranded = RunStranded(
                f"run {run_id} was begun as {name} version {status.app_version}, which this release cannot resume",
                hint="recover it with the release that began it",
            )
            return RecoveredRun(run_id, name, error=stranded)
        try:
            return RecoveredRun(run_id, name, result=self.result(run_id))
        except QosforgeError as error:
            return RecoveredRun(run_id, name, error=error)

    def _guarded(self, name: str, workflow: Workflow) -> Workflow:
        def durable(workflow_id: str, params: JsonObject) -> JsonObject:
            with self._idle:
                self._active[workflow_id] += 1
            try:
                result: JsonObject = json_records.require_plain_json(
                    workflow(workflow_id, params), f"the result of {name}"
                )
                return result
            except (Exception, _Superseded):
                raise
            except BaseException:  # an interrupt, or our own closing: the run stays unfinished
                self._interrupted.add(workflow_id)
                self._internals.count_recovery(workflow_id, -1)
                raise
            finally:
                with self._idle:
                    self._active -= Counter([workflow_id])
                    self._idle.notify_all()

        return durable

    def _disown(self) -> None:
        self._launched = None
        try:
            if self._work is not None:
                self._work.stop()
                self._work = None
            DBOS.destroy(destroy_registry=True)
        finally:
            self._durable.clear()
            self._interrupted.clear()
            self._ownership.release()
