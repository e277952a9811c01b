"""Background jobs: computations that take longer than a request may, submitted once and polled until done."""

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
from qosforge.units import counted

JobState = Literal["waiting", "computing", "done", "failed"]
QueueName = Literal["short", "long"]
"""A queue for jobs of seconds and one for jobs of minutes: a short job never waits behind a long one."""

MAX_RESULTS = 128
"""Ended jobs whose results are kept, least recently used out first."""
MAX_RESULT_BYTES = 64 << 20
"""Pickled bytes of all kept results; the newest one is kept, however large."""
MAX_WAITING_PER_PERSON = 16
"""Jobs of one person that may wait in a queue; `TooBusy` beyond that."""

_LOG = structlog.get_logger(__name__)


@dataclass(frozen=True)
class JobProgress:
    """The state of a job, with its result once it is ``done`` or its error where it ``failed``."""

    state: JobState
    result: Any = None
    error: QosforgeError | None = None

    @property
    def ended(self) -> bool:
        """Whether the job is done or has failed."""
        return self.state in ("done", "failed")


@dataclass(frozen=True)
class _QueuedJob:
    key: str
    person: str
    topic: str | None
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    at_end: Callable[[JobProgress], None] | None = None


class _Queue:
    """A job queue: one worker process, the thread that feeds it, and the waiting jobs."""

    def __init__(self, name: QueueName, seconds: float, limits: Limits) -> None:
        self.name = name
        self.seconds = seconds
        self.compute = Compute(1, limits=limits)
        self.thread: threading.Thread | None = None
        self._waiting: dict[str, _QueuedJob] = {}
        self._turns: dict[str, int] = {}

    def waiting_for(self, person: str) -> list[_QueuedJob]:
        """The waiting jobs of a person."""
        return [job for job in self._waiting.values() if job.person == person]

    def add(self, job: _QueuedJob) -> None:
        self._waiting[job.key] = job

    def drop(self, key: str) -> None:
        del self._waiting[key]

    def share(self, key: str, person: str) -> None:
        """Note that a second person waits for a job: a newer job of the first one's topic drops it no more."""
        job = self._waiting.get(key)
        if job is not None and job.person != person:
            self._waiting[key] = replace(job, topic=None)

    def pop(self) -> _QueuedJob | None:
        """Pop the next job, round-robin by person: many jobs of one person do not hold up those of another."""
        if not self._waiting:
            return None
        job = min(self._waiting.values(), key=lambda job: self._turns.get(job.person, 0))
        self._turns[job.person] = 1 + max(self._turns.values(), default=0)
        return self._waiting.pop(job.key)


class JobQueues:
    """The short and the long job queue; thread-safe.

    Each queue has a process of its own and computes one job after the other. Jobs live in memory only: one that was
    running when the service ended runs again when it is submitted again.
    """

    def __init__(self, short: float, long: float, limits: Limits) -> None:
        """Time limits of a job in either queue, in seconds; ``limits``: memory and processor time of any."""
        self._queues: dict[QueueName, _Queue] = {
            "short": _Queue("short", short, limits),
            "long": _Queue("long", long, limits),
        }
        self._changed = threading.Condition()
        self._progress: dict[str, JobProgress] = {}
        self._ended: OrderedDict[str, int] = (
            OrderedDict()
        )  # bytes by key, those that were asked for last at the end
        self._closed = False

    def submit(
        self,
        key: str,
        function: Callable[..., Any],
        *arguments: Any,
        person: str,
        topic: str | None = None,
        queue: QueueName = "short",
        at_end: Callable[[JobProgress], None] | None = None,
        most_waiting: int | None = None,
    ) -> JobProgress:
        """Submit the job ``function(*arguments)`` unless one of this ``key`` exists; return its progress.

        A failed job is submitted again. Of a person's ``topic`` (an editor's page, say) only the newest job waits:
        a waiting one with another key is dropped. The function is one at module level; arguments and result can be
        pickled. ``at_end`` is called in the queue's thread once the job is done or has failed, not
        where it is dropped; what it raises is logged, and the job has failed then. ``most_waiting`` jobs of the
        person may wait, with this one; by default `MAX_WAITING_PER_PERSON`.

        Raises:
            TooBusy: too many jobs of this person wait already.
        """
        with self._changed:
            target = self._queues[queue]
            known = self._progress.get(key)
            if known is not None and known.state != "failed":
                if key in self._ended:
                    self._ended.move_to_end(key)
                target.share(key, person)
                return known
            for stale in target.waiting_for(person):
                if topic is not None and stale.topic == topic:
                    target.drop(stale.key)
                    del self._progress[stale.key]
            most = MAX_WAITING_PER_PERSON if most_waiting is None else most_waiting
            if len(target.waiting_for(person)) >= most:
                raise TooBusy(f"{counted(most, 'computation')} of yours wait already", hint="come again")
            self._ended.pop(key, None)
            submitted = self._progress[key] = JobProgress("waiting")
            target.add(_QueuedJob(key, person, topic, function, arguments, at_end))
            if target.thread is None:
                name = f"qosforge-jobs-{queue}"
                target.thread = threading.Thread(target=self._work, args=(target,), name=name, daemon=True)
                target.thread.start()
            self._changed.notify_all()
            return submitted

    def progress(self, key: str) -> JobProgress | None:
        """The progress of the job of this key; ``None`` where none was submitted, or it was dropped."""
        with self._changed:
            return self._progress.get(key)

    def close(self) -> None:
        """Stop the processes, whatever they are computing."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for queue in self._queues.values():
            queue.compute.close()
        for queue in self._queues.values():
            if queue.thread is not None:
                queue.thread.join()

    def _work(self, queue: _Queue) -> None:
        while (job := self._next(queue)) is not None:
            progress = _execute(job, queue)
            if job.at_end is not None:
                progress = _told(job, job.at_end, progress)
            size = len(pickle.dumps(progress.result))
            with self._changed:
                self._progress[job.key] = progress
                self._ended[job.key] = size
                while len(self._ended) > MAX_RESULTS or (
                    len(self._ended) > 1 and sum(self._ended.values()) > MAX_RESULT_BYTES
                ):
                    oldest, _ = self._ended.popitem(last=False)
                    del self._progress[oldest]

    def _next(self, queue: _Queue) -> _QueuedJob | None:
        """The next job of a queue, once there is one; ``None`` at the end of the service."""
        with self._changed:
            while not self._closed:
                if (job := queue.pop()) is not None:
                    self._progress[job.key] = JobProgress("computing")
                    return job
                self._changed.wait()
            return None


def _execute(job: _QueuedJob, queue: _Queue) -> JobProgress:
    try:
        return JobProgress("done", queue.compute.call(job.function, *job.arguments, timeout=queue.seconds))
    except QosforgeError as error:
        return JobProgress("failed", error=error)
    except Exception as error:  # noqa: BLE001  the queue must go on
        # Unexpected: the log has the error itself; the caller only learns that there is one.
        _LOG.error("background job failed", key=job.key, error=str(error))
        return JobProgress("failed", error=ServiceError("the computation failed; the service's log says why"))


def _told(job: _QueuedJob, at_end: Callable[[JobProgress], None], progress: JobProgress) -> JobProgress:
    """Tell the end of a job; its progress, which has failed where nobody could be told."""
    try:
        at_end(progress)
    except Exception as error:  # noqa: BLE001  the queue must go on
        _LOG.error("the end of a background job could not be told", key=job.key, error=str(error))
        hint = "try again; the service's log says why"
        return JobProgress("failed", error=ServiceError("the result could not be stored", hint=hint))
    return progress
