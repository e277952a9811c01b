"""DBOS as the engine uses it: configuration, encoding, queries, and what its public interface does not give.

All that is private to DBOS and used by us is in `Internals`, `disable_pollers` and `disable_unpickling`, with the
reason; ``tests/runs/test_dbos_internals.py`` fails when DBOS changes it.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import dbos._dbos
import sqlalchemy as sa
from dbos import DBOS, DBOSClient, DBOSConfig, Queue, Serializer
from dbos import error as dbos_errors
from dbos._queue import queue_worker_thread
from dbos._serialization import DefaultSerializer

from qosforge.errors import StoreError
from qosforge.runs.engine import json_records
from qosforge.runs.engine.port import UnfinishedWorkflow, WorkflowState
from qosforge.runs.engine.queue_workers import QueueWorkers
from qosforge.runs.engine.record_checks import FOREIGN_HINT, SCHEMA
from qosforge.runs.engine.workflow_ids import run_named

UNFINISHED = ["PENDING", "ENQUEUED", "DELAYED"]
"""The statuses of workflows that have not ended."""
_ENDED = ["SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"]
_BATCH = 100


class JsonSerializer(Serializer):
    """Our own encoding, as the engine takes it."""

    def name(self) -> str:
        """What stands beside every record."""
        return json_records.NAME

    def serialize(self, data: Any) -> str:
        """See `json_records.encode`."""
        return json_records.encode(data)

    def deserialize(self, serialized_data: str) -> Any:
        """See `json_records.decode`."""
        return json_records.decode(serialized_data)


def dbos_config(url: sa.URL, version: str, executor: str) -> DBOSConfig:
    """The engine's configuration: its record at ``url``, our encoding, and nothing that we do not use."""
    return {
        "name": "qosforge",
        "system_database_url": url.render_as_string(hide_password=False),
        "dbos_system_schema": SCHEMA,
        "use_listen_notify": False,
        "application_version": version,
        "executor_id": executor,
        "serializer": JsonSerializer(),
        "enable_otlp": False,
        "log_level": "ERROR",
        # We send no notifications; the default of 1 s would only make every close that slow.
        "notification_listener_polling_interval_sec": 0.1,
    }


def silence_console_log() -> None:
    """Keep the engine from adding a console handler of its own: it adds one only where there is none."""
    logger = logging.getLogger("dbos")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())


def unfinished_workflows() -> list[UnfinishedWorkflow]:
    """Every workflow that has not ended, of all versions and executors."""
    return [
        UnfinishedWorkflow(
            status.workflow_id,
            status.name,
            status.app_version or "",
            status.executor_id or "",
            status.status == "PENDING",
        )
        for status in DBOS.list_workflows(status=UNFINISHED, load_input=False, load_output=False)
    ]


def workflow_state(workflow_id: str) -> WorkflowState:
    """What the engine's record says of a workflow."""
    status = DBOS.get_workflow_status(workflow_id)
    if status is None:
        return WorkflowState.UNKNOWN
    if status.status in UNFINISHED:
        return WorkflowState.UNFINISHED
    if status.status == "MAX_RECOVERY_ATTEMPTS_EXCEEDED":
        return WorkflowState.EXHAUSTED
    return WorkflowState.ENDED if status.status in ("SUCCESS", "ERROR") else WorkflowState.ABANDONED


def prune_record(url: sa.URL, before: datetime, unfinished: Collection[str], *, dry_run: bool = False) -> int:
    """Delete what the record at ``url`` holds of workflows that ended before a moment; how many they are.

    Those of runs that are ``unfinished`` stay, whatever their attempts came to. Engines may be at work meanwhile.

    Raises:
        StoreError: it cannot be read or written.
    """
    with _client(url) as client:
        if client is None:
            return 0
        ended = client.list_workflows(
            completed_before=before.isoformat(), load_input=False, load_output=False, status=_ENDED
        )
        over = [one.workflow_id for one in ended if run_named(one.workflow_id) not in unfinished]
        for start in range(0, len(over) if not dry_run else 0, _BATCH):
            client.delete_workflows(over[start : start + _BATCH])
        return len(over)


@contextmanager
def _client(url: sa.URL) -> Iterator[DBOSClient | None]:
    """A client of the record, which carries nothing out; ``None`` where no engine has made one yet."""
    embedded = url.get_backend_name() == "sqlite"
    engine = sa.create_engine(url)
    try:
        schema = None if embedded else SCHEMA
        if (embedded and not Path(str(url.database)).is_file()) or not sa.inspect(engine).has_table(
            "workflow_status", schema
        ):
            yield None
            return
        client = DBOSClient(
            system_database_engine=engine,
            dbos_system_schema=SCHEMA,
            serializer=JsonSerializer(),
            retry_connection_errors=False,
        )
        try:
            yield client
        finally:
            client.destroy()
    except (sa.exc.SQLAlchemyError, dbos_errors.DBOSException) as error:
        raise StoreError(f"the engine's record cannot be pruned: {error}") from error
    finally:
        engine.dispose()


def disable_unpickling() -> None:
    """Take from the engine, in this process, its way to unpickle: a value chooses its decoder by name.

    A serializer of ours in the configuration replaces the default, and not the decoder of records that name it.
    """

    def refuse(_text: str) -> NoReturn:
        raise StoreError("the engine's record holds py_pickle data, which is never read", hint=FOREIGN_HINT)

    DefaultSerializer.deserialize = staticmethod(refuse)  # type: ignore[assignment,method-assign]


def disable_pollers() -> None:
    """Let the engine's threads for queues and schedules end as soon as it is launched.

    They look each second, whether anything waits or not. `DBOS.listen_queues` and the polling intervals make them
    look at less or later, and what is put in then begins as much later.
    """
    vars(dbos._dbos).update(queue_thread=_nothing, dynamic_scheduler_loop=_nothing)


def _nothing(*_: object) -> None:
    """Instead of a loop."""


class Internals:
    """The private parts of a launched DBOS that the engine needs: its own database, queue workers and threads."""

    def __init__(self, engine: DBOS) -> None:
        self._engine = engine
        self._system = engine._sys_db
        self._table = self._system.tables.workflow_status

    def stop_pollers(self) -> None:
        """End the engine's other threads that look at intervals for what we never use: no setting does that.

        Those are delays and time limits of workflows, and messages between them.
        """
        self._engine._background_jobs_stop_event.set()
        self._system._run_background_processes = False

    def queue_workers(self, queues: Iterable[Queue]) -> QueueWorkers:
        """Workers for ``queues``, and for the queue of workflows that were begun directly and then recovered.

        The public interface has no worker of one queue that looks when it is called.
        """
        every = [*queues, self._engine._registry.get_internal_queue()]
        works = {queue.name: partial(_take, self._engine, queue) for queue in every}
        return QueueWorkers(works, self._waiting)

    def put_back(self, workflow_id: str, executor: str, queue: str) -> bool:
        """Whether a workflow was put back into its queue, or else into ``queue``: only while ``executor`` has it.

        `DBOS.resume_workflow` asks nobody who has it: of two that put it back, the second would have it run twice.
        """
        return bool(self._system.reenqueue_for_recovery(workflow_id, [executor], queue))

    def move_enqueued(self, workflow_id: str, queue: str) -> None:
        """Put a workflow that waits in a queue into another one.

        `DBOS.resume_workflow` would also put back one that was taken meanwhile: it would run twice.
        """
        waits = (self._table.c.workflow_uuid == workflow_id) & (self._table.c.status == "ENQUEUED")
        with self._system.engine.begin() as connection:
            connection.execute(sa.update(self._table).where(waits).values(queue_name=queue))

    def count_recovery(self, workflow_id: str, more: int) -> None:
        """Change how often a workflow counts as recovered: not where its process lets go of it, or it waits.

        DBOS counts every time that it is taken up, and has no call to change that.
        """
        count = self._table.c.recovery_attempts
        counted = (self._table.c.workflow_uuid == workflow_id) & (count + more >= 0)
        # Where the record is away, the count stays: a run is given up sooner or later, and never carried out twice.
        with suppress(sa.exc.SQLAlchemyError), self._system.engine.begin() as connection:
            connection.execute(sa.update(self._table).where(counted).values(recovery_attempts=count + more))

    def _waiting(self) -> list[str]:
        """The queues in which something waits, by one query: `DBOS.list_workflows` reads every workflow in them."""
        names = sa.select(self._table.c.queue_name).where(self._table.c.status == "ENQUEUED").distinct()
        with self._system.engine.connect() as connection:
            return list(connection.scalars(names))


def _take(engine: DBOS, queue: Queue, stop: threading.Event) -> None:
    queue_worker_thread(stop, engine, queue)
