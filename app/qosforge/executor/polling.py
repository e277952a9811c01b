"""Periodic work of an executor: at once when a run is to begin, and at intervals for all else."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence

from qosforge.database.changes import Changes
from qosforge.database.connections import Database
from qosforge.errors import QosforgeError

LOOK_SECONDS = 1.0
"""How often it looks while there are workflows."""
IDLE_SECONDS = 20.0
"""The same while there are none."""
_NEWS_SECONDS = 5.0
"""How often it asks for news though nobody wrote: the moment may have come that a run waits for."""
_PART = 0.1
"""The part of the time that looks may take, however often something is written."""

_log = logging.getLogger(__name__)


class Poller:
    """A thread that takes looks, each of which may fail without the others.

    ``news`` tells whether something is to begin, ``busy`` whether there is anything under way.
    """

    def __init__(
        self,
        database: Database,
        looks: Sequence[Callable[[], None]],
        *,
        news: Callable[[], bool],
        busy: Callable[[], bool],
    ) -> None:
        self._database = database
        self._looks = looks
        self._news = news
        self._busy = busy
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Look, and go on looking until :meth:`stop`."""
        self._stop.clear()
        self._thread = threading.Thread(target=self._run, name="dispatcher", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End after the look that is under way."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _run(self) -> None:
        changes = Changes(self._database)
        while not self._stop.is_set():
            begun = time.monotonic()
            for look in self._looks:
                _taken(look)
            ended = time.monotonic()
            self._stop.wait((ended - begun) * (1 / _PART - 1))
            self._wait(changes, ended + (LOOK_SECONDS if _taken(self._busy) is not False else IDLE_SECONDS))
        changes.close()

    def _wait(self, changes: Changes, until: float) -> None:
        while (left := until - time.monotonic()) > 0 and not self._stop.is_set():
            changes.wait(min(left, _NEWS_SECONDS), self._stop)
            if _taken(self._news):
                return


def _taken(look: Callable[[], bool | None]) -> bool | None:
    """Look, and say what failed; ``None`` then."""
    try:
        return look()
    except QosforgeError as error:
        _log.warning("%s", error)
    except Exception:  # noqa: BLE001 - whatever failed, the next look has to be taken
        _log.exception("the dispatcher failed")
    return None
