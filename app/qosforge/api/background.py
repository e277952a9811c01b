"""Computations that take longer than a request may: begun by whoever asks first, asked for until they are ready."""

from __future__ import annotations

import pickle
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import structlog

from qosforge.compute import Compute, TooBusy
from qosforge.compute_process import Limits
from qosforge.errors import QosforgeError, ServiceError

State = Literal["waiting", "computing", "done", "failed"]
Lane = Literal["short", "long"]
"""Seconds, or minutes: what is short never waits behind what is long."""

KEPT = 128
"""How many that ended are kept: those that were asked for last."""
KEPT_BYTES = 64 << 20
"""What the results that are kept come to, as they are pickled; the newest is kept, however large."""
MOST_WAITING = 16
"""How many of one person may wait for their turn in a lane."""

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
    person: str
    topic: str | None
    function: Callable[..., Any]
    arguments: tuple[Any, ...]


class _Lane:
    """A process, the thread that waits for it, and the jobs that it has not begun."""

    def __init__(self, name: Lane, seconds: float, limits: Limits) -> None:
        self.name = name
        self.seconds = seconds
        self.compute = Compute(1, limits=limits)
        self.thread: threading.Thread | None = None
        self._waiting: dict[str, _Job] = {}
        self._turns: dict[str, int] = {}

    def of(self, person: str) -> list[_Job]:
        """What waits for a person."""
        return [job for job in self._waiting.values() if job.person == person]

    def add(self, job: _Job) -> None:
        self._waiting[job.key] = job

    def drop(self, key: str) -> None:
        del self._waiting[key]

    def share(self, key: str, person: str) -> None:
        """Note that a person asks for what may wait for another: that one cannot give it up any more."""
        job = self._waiting.get(key)
        if job is not None and job.person != person:
            self._waiting[key] = replace(job, topic=None)

    def take(self) -> _Job | None:
        """The first job of whoever had a turn longest ago: many of one person do not hold up another's one."""
        if not self._waiting:
            return None
        job = min(self._waiting.values(), key=lambda job: self._turns.get(job.person, 0))
        self._turns[job.person] = 1 + max(self._turns.values(), default=0)
        return self._waiting.pop(job.key)


class Background:
    """Computes beside what requests wait for; safe between threads.

    What takes seconds and what takes minutes have a lane each, which computes one after the other in a process of
    its own. Nothing of it outlives the service: what was under way when it ended is begun again by who asks again.
    """

    def __init__(self, short: float, long: float, limits: Limits) -> None:
        """How many seconds one computation may take in either lane, and what memory and processor time in any."""
        self._lanes: dict[Lane, _Lane] = {
            "short": _Lane("short", short, limits),
            "long": _Lane("long", long, limits),
        }
        self._changed = threading.Condition()
        self._progress: dict[str, Progress] = {}
        self._ended: OrderedDict[str, int] = (
            OrderedDict()
        )  # bytes by key, those that were asked for last at the end
        self._closed = False

    def ask(
        self,
        key: str,
        function: Callable[..., Any],
        *arguments: Any,
        person: str,
        topic: str | None = None,
        lane: Lane = "short",
    ) -> Progress:
        """How far the computation ``function(*arguments)`` is, which ``key`` names; asked for first, it begins.

        One that failed begins again. A person's ``topic`` (an editor's page, say) wants only its newest: what waits
        for it under another key is given up. The function is one of a module's own, and arguments and result can be
        pickled.

        Raises:
            TooBusy: too many of this person wait already.
        """
        with self._changed:
            chosen = self._lanes[lane]
            known = self._progress.get(key)
            if known is not None and known.state != "failed":
                if key in self._ended:
                    self._ended.move_to_end(key)
                chosen.share(key, person)
                return known
            for stale in chosen.of(person):
                if topic is not None and stale.topic == topic:
                    chosen.drop(stale.key)
                    del self._progress[stale.key]
            if len(chosen.of(person)) >= MOST_WAITING:
                raise TooBusy(f"{MOST_WAITING} computations of yours wait already", hint="come again")
            self._ended.pop(key, None)
            begun = self._progress[key] = Progress("waiting")
            chosen.add(_Job(key, person, topic, function, arguments))
            if chosen.thread is None:
                name = f"qosforge-background-{lane}"
                chosen.thread = threading.Thread(target=self._work, args=(chosen,), name=name, daemon=True)
                chosen.thread.start()
            self._changed.notify_all()
            return begun

    def known(self, key: str) -> Progress | None:
        """How far the computation of this key is; ``None`` where nobody asked for it, or it was given up."""
        with self._changed:
            return self._progress.get(key)

    def close(self) -> None:
        """Stop, whatever is under way."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for lane in self._lanes.values():
            lane.compute.close()
        for lane in self._lanes.values():
            if lane.thread is not None:
                lane.thread.join()

    def _work(self, lane: _Lane) -> None:
        while (job := self._next(lane)) is not None:
            ended = _computed(job, lane)
            size = len(pickle.dumps(ended.result))
            with self._changed:
                self._progress[job.key] = ended
                self._ended[job.key] = size
                while len(self._ended) > KEPT or (len(self._ended) > 1 and sum(self._ended.values()) > KEPT_BYTES):
                    oldest, _ = self._ended.popitem(last=False)
                    del self._progress[oldest]

    def _next(self, lane: _Lane) -> _Job | None:
        """The next job of a lane, once there is one; ``None`` at the end of the service."""
        with self._changed:
            while not self._closed:
                if (job := lane.take()) is not None:
                    self._progress[job.key] = Progress("computing")
                    return job
                self._changed.wait()
            return None


def _computed(job: _Job, lane: _Lane) -> Progress:
    try:
        return Progress("done", lane.compute.call(job.function, *job.arguments, timeout=lane.seconds))
    except QosforgeError as error:
        return Progress("failed", error=error)
    except Exception as error:  # noqa: BLE001  the lane must go on
        # What nobody expected: the service's log has it, who asked is told that there is one.
        _LOG.error("background computation failed", key=job.key, error=str(error))
        return Progress("failed", error=ServiceError("the computation failed; the service's log says why"))
