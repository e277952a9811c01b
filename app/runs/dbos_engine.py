"""The engine port on DBOS Transact, with a SQLite record of its own in the run directory.

DBOS takes a dead process's workflows up only in a process with the same executor id, and two live ones with
one id would run the same step twice: so an operating-system lock lets one process own the engine.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, ParamSpec, Self, TypeVar

import sqlalchemy as sa
from dbos import DBOS, DBOSConfig, Serializer, SetWorkflowID, WorkflowHandle, WorkflowStatus
from dbos import error as dbos_errors

from app.database.filelock import FileLock
from app.errors import EngineBusy, InputError, Place, QosforgeError, StoreError
from app.runs import records
from app.runs.engine import JsonObject, Recovered, RunStranded, Workflow
from app.runs.store import EMBEDDED_EXECUTOR

WORKFLOW_VERSION = "2"
"""Version of the order of phases; raise it when recorded runs can no longer be replayed by the code."""

_UNFINISHED = ["PENDING", "ENQUEUED", "DELAYED"]
_POLL_SECONDS = 0.1  # how often a waiting caller looks at the record

P = ParamSpec("P")
T = TypeVar("T")

_in_process = threading.Lock()  # DBOS is one per process, whatever the directory


class _EngineClosing(BaseException):
    """Stops a workflow between two steps; not an ``Exception``, so DBOS leaves the run unfinished."""


class _JsonSerializer(Serializer):
    def name(self) -> str:
        return records.NAME

    def serialize(self, data: Any) -> str:
        return records.encode(data)

    def deserialize(self, serialized_data: str) -> Any:
        return records.decode(serialized_data)


class DbosEngine:
    """See :class:`app.runs.engine.Engine`. Files: ``engine.sqlite`` and ``engine.lock`` in ``directory``.

    ``drain_seconds`` is how long :meth:`close` waits for steps in flight to end and be recorded; a longer one
    goes on, and this process owns the engine until it has ended and :meth:`close` is called again.
    """

    def __init__(
        self, directory: Path, *, workflow_version: str = WORKFLOW_VERSION, drain_seconds: float = 60
    ) -> None:
        self._directory = directory
        self._record = directory / "engine.sqlite"
        self._lock = FileLock(directory / "engine.lock")
        self._version = workflow_version
        self._drain_seconds = drain_seconds
        self._workflows: dict[str, Workflow] = {}
        self._durable: dict[str, Workflow] = {}
        self._launched = False
        self._closing = False
        self._active = 0
        self._interrupted: set[str] = set()
        self._idle = threading.Condition()

    def __enter__(self) -> Self:
        self.launch()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def register(self, name: str, workflow: Workflow) -> None:
        """Make ``workflow`` known by ``name``, before the launch."""
        if self._launched:
            raise RuntimeError("workflows are registered before the engine is launched")
        if name in self._workflows:
            raise RuntimeError(f"workflow {name} is registered already")
        self._workflows[name] = workflow

    def launch(self) -> None:
        """Own the engine, and take up every unfinished run in the background.

        Raises:
            EngineBusy: another process (or another engine of this one) owns it.
            StoreError: its record cannot be opened or trusted.
        """
        self._own()
        try:
            _refuse_foreign_records(self._record)
            _quieten()
            for name, workflow in self._workflows.items():
                self._durable[name] = DBOS.workflow(name=name, max_recovery_attempts=None)(
                    self._guarded(name, workflow)
                )
            DBOS(config=self._config())
            DBOS.launch()
        except (sa.exc.SQLAlchemyError, sqlite3.Error, dbos_errors.DBOSException) as error:
            self._disown()
            raise StoreError(
                f"the engine's record cannot be opened: {error}",
                Place(file=str(self._record)),
                "check that it can be written and that its disk has space",
            ) from error
        except BaseException:
            self._disown()
            raise
        self._closing = False
        self._launched = True

    def run(self, workflow: str, run_id: str, params: JsonObject) -> JsonObject:
        """Run a workflow in the calling thread; its error is raised."""
        with SetWorkflowID(run_id):
            return self._durable[workflow](run_id, records.checked(params, "the run's params"))

    def start(self, workflow: str, run_id: str, params: JsonObject) -> None:
        """Start a workflow in the background; it is recorded when this returns."""
        with SetWorkflowID(run_id):
            DBOS.start_workflow(self._durable[workflow], run_id, records.checked(params, "the run's params"))

    def result(self, run_id: str) -> JsonObject:
        """Wait for a run and return its result; its error is raised.

        Raises:
            InputError: the engine never heard of it.
            RunStranded: it was interrupted in this process, so nothing carries it on before the next launch.
        """
        if run_id in self._interrupted:
            raise RunStranded(f"run {run_id} was interrupted", mend="finish it with `qosforge recover`")
        try:
            handle: WorkflowHandle[JsonObject] = DBOS.retrieve_workflow(run_id)
        except dbos_errors.DBOSNonExistentWorkflowError as error:
            raise InputError(f"the engine has no record of run {run_id}", mend="start the run again") from error
        return handle.get_result(polling_interval_sec=_POLL_SECONDS)

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
            result: T = records.checked(step(*args, **kwargs), f"the result of step {name}")
            return result

        return DBOS.run_step({"name": name}, recorded)

    def recover(self) -> list[Recovered]:
        """Wait until every unfinished run has ended, and tell how."""
        return [self._recovered(status) for status in DBOS.list_workflows(status=_UNFINISHED)]

    def close(self) -> None:
        """Let go: running workflows stop before their next step and stay unfinished."""
        if not self._launched:
            return
        self._closing = True
        with self._idle:
            if not self._idle.wait_for(lambda: self._active == 0, timeout=self._drain_seconds):
                return  # letting go now would let another process repeat the step beside us
        self._launched = False
        self._disown()

    def _recovered(self, status: WorkflowStatus) -> Recovered:
        run_id, name = status.workflow_id, status.name
        if status.app_version != self._version or name not in self._workflows:
            stranded = RunStranded(
                f"run {run_id} was begun as {name} version {status.app_version}, which this release cannot resume",
                mend="recover it with the release that began it",
            )
            return Recovered(run_id, name, error=stranded)
        try:
            return Recovered(run_id, name, result=self.result(run_id))
        except QosforgeError as error:
            return Recovered(run_id, name, error=error)

    def _guarded(self, name: str, workflow: Workflow) -> Workflow:
        def durable(run_id: str, params: JsonObject) -> JsonObject:
            with self._idle:
                self._active += 1
            try:
                result: JsonObject = records.checked(workflow(run_id, params), f"the result of {name}")
                return result
            except Exception:
                raise
            except BaseException:  # an interrupt, or our own closing: the run stays unfinished
                self._interrupted.add(run_id)
                raise
            finally:
                with self._idle:
                    self._active -= 1
                    self._idle.notify_all()

        return durable

    def _config(self) -> DBOSConfig:
        return {
            "name": "qosforge",
            "system_database_url": f"sqlite:///{self._record}",
            "application_version": self._version,
            "executor_id": EMBEDDED_EXECUTOR,
            "serializer": _JsonSerializer(),
            "enable_otlp": False,
            "log_level": "ERROR",
            # We send no notifications; the default of 1 s would only make every close that slow.
            "notification_listener_polling_interval_sec": 0.1,
        }

    def _own(self) -> None:
        if not _in_process.acquire(blocking=False):
            raise EngineBusy("this process runs an engine already", mend="close it first")
        try:
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not self._lock.try_acquire():
                raise EngineBusy(
                    f"process {self._lock.holder() or 'unknown'} owns the run engine",
                    Place(file=str(self._record)),
                    "wait until its run has ended, or stop that process and use `qosforge recover`",
                )
        except OSError as error:
            _in_process.release()
            raise StoreError(
                f"the run directory cannot be made: {error.strerror}", Place(file=str(self._directory))
            ) from error
        except BaseException:
            _in_process.release()
            raise

    def _disown(self) -> None:
        try:
            DBOS.destroy(destroy_registry=True)
        finally:
            self._durable.clear()
            self._interrupted.clear()
            self._lock.release()
            _in_process.release()


def _refuse_foreign_records(record: Path) -> None:
    """Refuse a record with values in another encoding: the engine would unpickle what says it is a pickle."""
    if not record.exists():
        return
    with closing(sqlite3.connect(record)) as connection:
        tables = connection.execute(
            "SELECT m.name FROM sqlite_master m JOIN pragma_table_info(m.name) c "
            "WHERE m.type = 'table' AND c.name = 'serialization'"
        ).fetchall()
        for (table,) in tables:
            foreign = connection.execute(
                f'SELECT serialization FROM "{table}" WHERE serialization <> ? LIMIT 1',  # noqa: S608 - its own schema
                (records.NAME,),
            ).fetchone()
            if foreign is not None:
                raise StoreError(
                    f"the engine's record holds {foreign[0]} data in {table}, which is never read",
                    Place(file=str(record)),
                    "something else wrote into it: move it away, and settle the boxes from the run store",
                )


def _quieten() -> None:
    """Keep the engine from adding a console handler of its own: it adds one only where there is none."""
    logger = logging.getLogger("dbos")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
