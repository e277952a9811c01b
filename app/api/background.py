"""Computations that take longer than a request may: begun by whoever asks first, asked for until they are ready."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import structlog

from app.api.compute import Compute, TooBusy
from app.errors import QosforgeError, ServiceError

State = Literal["waiting", "computing", "done", "failed"]

KEPT = 128
"""How many that ended are kept: those that were asked for last."""
MOST_WAITING = 32
"""How many may wait for their turn."""

_LOG = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Progress:
    """How far a computation is: its result where it is ``done``, its error where it ``failed``."""

    state: State
    result: Any = None
    error: QosforgeError | None = None

    @property
    def ended(self) -> bool:
        """Whether there is nothing more to wait for."""
        return self.state in ("done", "failed")


@dataclass(frozen=True)
class _Job:
    key: str
    topic: str | None
    function: Callable[..., Any]
    arguments: tuple[Any, ...]


class Background:
    """Computes one after the other in a process of its own, beside what requests wait for; safe between threads.

    Nothing of it outlives the service: what was under way when it ended is begun again by who asks again.
    """

    def __init__(self, timeout: float, preload: tuple[str, ...] = ()) -> None:
        """``timeout`` is how many seconds one computation may take."""
        self._timeout = timeout
        self._compute = Compute(1, preload)
        self._changed = threading.Condition()
        self._waiting: OrderedDict[str, _Job] = OrderedDict()
        self._progress: OrderedDict[str, Progress] = OrderedDict()
        self._thread: threading.Thread | None = None
        self._closed = False

    def ask(self, key: str, function: Callable[..., Any], *arguments: Any, topic: str | None = None) -> Progress:
        """How far the computation ``function(*arguments)`` is, which ``key`` names; asked for first, it begins.

        A ``topic`` (an editor's page, say) wants only its newest: what waits for it under another key is given up.
        The function is one of a module's own, and arguments and result can be pickled.

        Raises:
            TooBusy: too many wait already.
        """
        with self._changed:
            known = self._progress.get(key)
            if known is not None:
                self._progress.move_to_end(key)
                return known
            if topic is not None:
                for stale in [job.key for job in self._waiting.values() if job.topic == topic]:
                    del self._waiting[stale], self._progress[stale]
            if len(self._waiting) >= MOST_WAITING:
                raise TooBusy(f"{MOST_WAITING} long computations wait already", mend="come again")
            self._waiting[key] = _Job(key, topic, function, arguments)
            begun = self._progress[key] = Progress("waiting")
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="qosforge-background", daemon=True)
                self._thread.start()
            self._changed.notify_all()
            return begun

    def known(self, key: str) -> Progress | None:
        """How far the computation of this key is; ``None`` where nobody asked for it, or it was given up."""
        with self._changed:
            return self._progress.get(key)

    def forget(self, key: str) -> None:
        """Let a computation that ended be made anew."""
        with self._changed:
            known = self._progress.get(key)
            if known is not None and known.ended:
                del self._progress[key]

    def close(self) -> None:
        """Stop, whatever is under way."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._compute.close()
        if self._thread is not None:
            self._thread.join()

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._waiting and not self._closed:
                    self._changed.wait()
                if self._closed:
                    return
                _, job = self._waiting.popitem(last=False)
                self._progress[job.key] = Progress("computing")
            ended = self._computed(job)
            with self._changed:
                self._progress[job.key] = ended
                self._progress.move_to_end(job.key)
                while len(self._progress) - len(self._waiting) > KEPT:
                    oldest = next(key for key, one in self._progress.items() if one.ended)
                    del self._progress[oldest]

    def _computed(self, job: _Job) -> Progress:
        try:
            return Progress("done", self._compute.call(job.function, *job.arguments, timeout=self._timeout))
        except QosforgeError as error:
            return Progress("failed", error=error)
        except RuntimeError as error:
            # What nobody expected: the service's log has it, who asked is told that there is one.
            _LOG.error("background computation failed", key=job.key, error=str(error))
            return Progress("failed", error=ServiceError("the computation failed; the service's log says why"))
