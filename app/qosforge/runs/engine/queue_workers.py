"""Workers that take workflows from the engine's queues: at once when called, and at no cost while nothing waits.

The engine's own thread for queues looks each second what queues there are, and has a worker of each look into it,
whether something waits there or not: some percent of a core for a service with nothing to do. Here the same workers
look when they are called.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping

import sqlalchemy as sa

Work = Callable[[threading.Event], None]
"""Takes what waits in one queue each time its event lets it, until the event is set."""

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


class QueueWorkers:
    """The workers of some queues in this process, between :meth:`start` and :meth:`stop`."""

    def __init__(self, works: Mapping[str, Work], waiting: Callable[[], Collection[str]]) -> None:
        """``works`` by queue; ``waiting`` gives the names of the queues in which something waits."""
        self._waiting = waiting
        self._calls = {queue: _Call() for queue in works}
        self._threads = [
            threading.Thread(target=work, args=(self._calls[queue],), name=f"queue-{queue}", daemon=True)
            for queue, work in works.items()
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
        names: Collection[str] = list(self._calls)  # what an earlier process left is put back just now
        while not self._stopped.wait(_WAITING_SECONDS if names else _LOOK_SECONDS):
            try:
                names = self._waiting()
            except sa.exc.SQLAlchemyError:
                names = list(self._calls)  # the workers say what is wrong
            for name in names:
                self.call(name)
