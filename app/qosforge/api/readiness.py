"""Readiness checks of the service. They are public, so they name no host and no path."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import structlog
from pydantic import BaseModel, Field

from qosforge.database.connections import Database
from qosforge.database.revisions import current_revision, known_revisions
from qosforge.errors import StoreError
from qosforge.runs.engine.executor_leases import live_executors
from qosforge.runs.record.write_probe import probe_writing

_ANSWER_SECONDS = 0.8
"""How long a look may take; what has not answered by then is not good."""
_SHARED_SECONDS = 0.25
"""How long a look counts for whoever asks next: anybody may ask, and every look writes."""
_END_SECONDS = 5.0
_BLOCK = b"\0" * 4096

_LOG = structlog.get_logger(__name__)


class ReadinessCheck(BaseModel):
    """The result of one readiness check."""

    name: str = Field(examples=["database"])
    good: bool
    detail: str


@dataclass
class _Probe:
    """One probe in its thread, with the results of the checks that have ended."""

    begun: float = field(default_factory=time.monotonic)
    made: dict[str, ReadinessCheck] = field(default_factory=dict)
    done: threading.Event = field(default_factory=threading.Event)


class ReadinessProbe:
    """Probes whether the store can be read and written; thread-safe.

    One look is made at a time, and everybody who asks meanwhile has its answer. A database that hangs keeps the
    look, and no one who asks, waiting.
    """

    def __init__(self, database: Database, run_directory: Path) -> None:
        self._database = database.without_waiting()
        self._run_directory = run_directory
        self._lock = threading.Lock()
        self._look: _Probe | None = None

    def checks(self) -> list[ReadinessCheck]:
        """The results of all checks; one that takes longer than a second is not good."""
        with self._lock:
            last = self._look
            if last is None or (last.done.is_set() and time.monotonic() - last.begun > _SHARED_SECONDS):
                last = self._look = _Probe()
                threading.Thread(target=self._examine, args=(last,), name="readiness", daemon=True).start()
        last.done.wait(_ANSWER_SECONDS)
        late = "no answer in time"
        return [last.made.get(name) or ReadinessCheck(name=name, good=False, detail=late) for name in self._looks()]

    def close(self) -> None:
        """Wait for a running probe to end, before the store is closed."""
        if self._look is not None:
            self._look.done.wait(_END_SECONDS)

    def _examine(self, look: _Probe) -> None:
        try:
            for name, made in self._looks().items():
                look.made[name] = _run_check(name, made)
        finally:
            look.done.set()

    def _looks(self) -> dict[str, Callable[[], tuple[bool, str]]]:
        return {"database": self._revision, "writing": self._writing, "executors": self._executors}

    def _revision(self) -> tuple[bool, str]:
        with self._database.read() as connection:
            revision = current_revision(connection)
        good = revision == known_revisions()[0]
        return good, f"revision {revision}" if good else f"{revision}, expected {known_revisions()[0]}"

    def _writing(self) -> tuple[bool, str]:
        probe_writing(self._database)
        if self._database.is_embedded:  # its artifacts are files
            with tempfile.TemporaryFile(dir=self._run_directory) as file:
                file.write(_BLOCK)
                file.flush()
        return True, "runs can be written"

    def _executors(self) -> tuple[bool, str]:
        living = len(live_executors(self._database))
        return living > 0, f"{living} carry out runs" if living else "nothing carries out runs: start a worker"


def _run_check(name: str, look: Callable[[], tuple[bool, str]]) -> ReadinessCheck:
    try:
        good, detail = look()
    except StoreError as error:
        _LOG.warning("not ready", check=name, error=str(error))
        good, detail = False, f"the database {'cannot be written' if name == 'writing' else 'does not answer'}"
    except OSError as error:
        _LOG.warning("not ready", check=name, error=str(error))
        good, detail = False, "the run directory cannot be written"
    return ReadinessCheck(name=name, good=good, detail=detail)
