"""Workers that take workflows from DBOS's queues: at once when called, and at no cost while nothing waits.

The engine's own thread for queues looks each second what queues there are, and has a worker of each look into it,
whether something waits there or not: some percent of a core for a service with nothing to do. Here the same workers
look when they are called.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

import dbos._dbos
import sqlalchemy as sa
from dbos import DBOS
from dbos._queue import Queue, queue_worker_thread

_LOOK_SECONDS = 2.0
"""How often one query looks whether something waits that another process put in."""
_WAITING_SECONDS = 0.5
"""The same while something waits: for a place, or for the next minute."""
_LAST_SECONDS = 10.0
"""How long a look that is under way may take to end."""


class _Call(threading.Event):
    """The event that paces a worker and ends it: it lets the worker look once for each call.

    The intervals that the worker would wait for are of no account.
    """

    def __init__(self) -> None:
        super().__init__()
        self._called = threading.Event()

    def call(self) -> None:
        self._called.set()

    def end(self) -> None:
        self.set()
        self._called.set()

    def wait(self, timeout: float | None = None) -> bool:
        self._called.wait()
        self._called.clear()
        return self.is_set()


def disable_pollers() -> None:
    """Let the engine's threads for queues and schedules end as soon as it is launched: no setting does that."""
    vars(dbos._dbos).update(queue_thread=_nothing, dynamic_scheduler_loop=_nothing)


def _nothing(*_: object) -> None:
    """Instead of a loop."""


def stop_pollers(engine: DBOS) -> None:
    """End the engine's other threads that look at intervals for what we never use.

    Those are delays and time limits of workflows, and messages between them.
    """
    engine._background_jobs_stop_event.set()
    engine._sys_db._run_background_processes = False


class QueueWorkers:
    """The workers of some queues in this process, between :meth:`start` and :meth:`stop`."""

    def __init__(self, engine: DBOS, queues: Sequence[Queue]) -> None:
        self._engine = engine
        self._calls = {queue.name: _Call() for queue in queues}
        self._threads = [
            threading.Thread(
                target=queue_worker_thread,
                args=(self._calls[queue.name], engine, queue),
                name=f"queue-{queue.name}",
                daemon=True,
            )
            for queue in queues
        ]
        self._stopped = threading.Event()
        self._threads.append(threading.Thread(target=self._watch, name="queues", daemon=True))

    def start(self) -> None:
        """Take what waits, and what is put in from now on."""
        for thread in self._threads:
            thread.start()

    def call(self, queue: str) -> None:
        """Have the worker of a queue look into it now, if it is one of these."""
        if queue in self._calls:
            self._calls[queue].call()

    def stop(self) -> None:
        """Take nothing any more."""
        self._stopped.set()
        for call in self._calls.values():
            call.end()
        for thread in self._threads:
            thread.join(_LAST_SECONDS)

    def _watch(self) -> None:
        system = self._engine._sys_db
        table = system.tables.workflow_status
        waiting = sa.select(table.c.queue_name).where(table.c.status == "ENQUEUED").distinct()
        names = list(self._calls)  # what an earlier process left is put back just now
        while not self._stopped.wait(_WAITING_SECONDS if names else _LOOK_SECONDS):
            try:
                with system.engine.connect() as connection:
                    names = list(connection.scalars(waiting))
            except sa.exc.SQLAlchemyError:
                names = list(self._calls)  # the workers say what is wrong
            for name in names:
                self.call(name)
