"""Processes that compute for requests and runs: within bounds of time and memory, and with a fair turn for all.

Compiling holds the interpreter, so it gets interpreters of its own; and whatever a text makes of it, no more than
one of these processes is lost.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import resource
import signal
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from importlib import import_module
from multiprocessing import connection
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from app.errors import QosforgeError, ServiceError
from app.lifeline import die_with

P = ParamSpec("P")
T = TypeVar("T")

WAITING_PER_PROCESS = 32
"""Calls that may wait for each process, unless told otherwise."""
_LOOK_SECONDS = 1.0
"""How often it is asked whether a call is still wanted."""
_OBJECTS_BETWEEN_COLLECTIONS = 50_000
"""More than a preview of ten devices leaves; the interpreter's own 700 mean a search at every other device."""
_MOST_KEPT = 0.25
"""The part of its memory that a process may keep from one call to the next; one that keeps more is replaced."""
_STOP_SECONDS = 5.0
"""How long it is waited for a killed process to be gone; one that the kernel holds is left to itself."""
_CONTEXT = multiprocessing.get_context("spawn")  # a fork of a process with threads may hang
_STARTER = ThreadPoolExecutor(1, "qosforge-compute-starter")
"""Begins every process: a process dies with the thread that began it, and this one lasts as long as ours."""
_CHILDREN = threading.Lock()
"""Held to begin a process and to ask whether one ended: to begin one, the library asks that of all others, and of
two who ask at once one is told that there is no such process.
"""


@dataclass(eq=False)
class TooBusy(ServiceError):
    """So many calls wait already that another one is better told to come again."""


@dataclass(eq=False)
class TookTooLong(ServiceError):
    """A computation was not ready in time, and was stopped."""


@dataclass(eq=False)
class TookTooMuch(ServiceError):
    """A computation needed more memory or processor time than it may, and was stopped."""


@dataclass(eq=False)
class ComputeDied(ServiceError):
    """A computing process died in the middle of a call; it was replaced."""


@dataclass(eq=False)
class _NotTaken(ComputeDied):
    """A computing process was dead before it had the call."""


class NotWanted(Exception):
    """Nobody waits for a call any more: it was stopped."""


@dataclass(frozen=True)
class Limits:
    """What one call may take: megabytes beside those of an idle process, and seconds of processor time."""

    megabytes: int = 2048
    cpu_seconds: int = 3600


class _Process:
    """One child and the pipe to it; it lives until it is stopped, killed or its parent is gone.

    Its descriptors are closed with the last reference: who reads the pipe while another thread stops the process
    must not find a descriptor that has become something else.
    """

    def __init__(self, preload: tuple[str, ...], limits: Limits) -> None:
        self.pipe, theirs = _CONTEXT.Pipe()
        self._process = _CONTEXT.Process(
            target=_serve, args=(theirs, os.getpid(), preload, limits), name="qosforge-compute", daemon=True
        )
        try:
            _STARTER.submit(_begin, self._process).result()
        except OSError as error:
            raise ComputeDied(f"no computing process could begin: {error.strerror}", mend="come again") from error
        finally:
            theirs.close()
        self.pid = self._process.pid

    def ended_by(self) -> int | None:
        """The signal that ended it, once it is gone."""
        self._wait(_LOOK_SECONDS)
        with _CHILDREN:
            code = self._process.exitcode
        return -code if code is not None and code < 0 else None

    def stop(self) -> None:
        """End it now, whatever it is at."""
        with _CHILDREN:
            self._process.kill()
        self._wait(_STOP_SECONDS)

    def _wait(self, seconds: float) -> None:
        # Not under the lock: a large process takes a while to be gone.
        if connection.wait([self._process.sentinel], seconds):
            with _CHILDREN:
                self._process.join()


def _begin(process: SpawnProcess) -> None:
    with _CHILDREN:
        process.start()


class _Seat:
    """Room for one process: it begins at the first call, or before, and another one takes its place."""

    def __init__(self, preload: tuple[str, ...], limits: Limits) -> None:
        self._preload = preload
        self._limits = limits
        self._lock = threading.Lock()
        self._process: _Process | None = None
        self._closed = False

    def process(self) -> _Process:
        with self._lock:
            if self._closed:
                raise ComputeDied("the service is being stopped", mend="come again")
            if self._process is None:
                self._process = _Process(self._preload, self._limits)
            return self._process

    @property
    def pid(self) -> int | None:
        with self._lock:
            return None if self._process is None else self._process.pid

    def clear(self, *, close: bool = False) -> None:
        with self._lock:
            self._closed = self._closed or close
            process, self._process = self._process, None
            if process is not None:
                process.stop()


@dataclass(eq=False)
class _Waiting:
    """A call that waits for a seat."""

    caller: str
    seat: _Seat | None = None


class Compute:
    """A fixed number of processes, each at one call at a time; safe to share between threads.

    A call that died or took too much costs its process, which a new one replaces; nobody else's call is touched.
    Calls wait by caller: who has the fewest at work is next, and nobody has all processes while there are several.
    """

    def __init__(
        self,
        processes: int,
        preload: tuple[str, ...] = (),
        limits: Limits | None = None,
        waiting: int = WAITING_PER_PROCESS,
    ) -> None:
        """Room for so many processes, and for so many calls ``waiting`` for each.

        Each process imports the modules ``preload`` before its first call.
        """
        self._limits = limits or Limits()
        self._most_waiting = processes * waiting
        self._share = max(1, processes - 1)
        self._seats = tuple(_Seat(preload, self._limits) for _ in range(processes))
        # Last in, first out: the process that was used last has the warmest caches.
        self._free = list(self._seats)
        self._turn = threading.Condition()
        self._waiting: list[_Waiting] = []
        self._busy: Counter[str] = Counter()
        self._inside: Counter[str] = Counter()
        self._turns: dict[str, int] = {}
        self._turns_given = 0

    @property
    def inside(self) -> int:
        """Calls at work and waiting."""
        return self._inside.total()

    @property
    def pids(self) -> tuple[int, ...]:
        """The ids of the processes that have begun."""
        return tuple(pid for seat in self._seats if (pid := seat.pid) is not None)

    def start(self) -> None:
        """Begin every process now, so that the first calls need not wait for it."""
        for seat in self._seats:
            seat.process()

    def call(  # type: ignore[valid-type]
        self,
        function: Callable[P, T],
        *args: P.args,
        timeout: float,
        caller: str = "",
        unwanted: Callable[[], bool] | None = None,
        **kwargs: P.kwargs,
    ) -> T:
        """``function(*args, **kwargs)`` in one of the processes, within ``timeout`` seconds, waiting included.

        The function is one of a module's own, and arguments and result can be pickled; its error is raised here.
        ``caller`` is for whom it is: each has a fair share of the processes. ``unwanted`` is asked every second.

        Raises:
            TooBusy: too many calls wait.
            TookTooLong: it was not ready in time.
            TookTooMuch: it needed more memory or processor time than the limits give.
            ComputeDied: its process died.
            NotWanted: nobody waits for it any more.
        """
        deadline = time.monotonic() + timeout
        with self._turn:
            full = self._inside.total() >= len(self._seats) + self._most_waiting
            if full or self._inside[caller] >= len(self._seats) + self._most_waiting // 2:
                raise TooBusy(f"{self._inside[caller]} calls of this caller wait already", mend="come again")
            self._inside[caller] += 1
            # Who comes is behind all that wait: else those who come and go would always pass one who stays.
            self._turns.setdefault(caller, self._turns_given)
        try:
            seat = self._seat(caller, deadline, timeout, unwanted)
            try:
                good, result = self._answer(seat, (function, args, kwargs), deadline, unwanted)
            finally:
                self._leave(seat, caller)
            if not good:
                raise result
            answer: T = result
            return answer
        finally:
            with self._turn:
                self._inside[caller] -= 1
                if not self._inside[caller]:
                    del self._inside[caller]
                    self._turns.pop(caller, None)

    def _answer(
        self, seat: _Seat, call: tuple[Any, ...], deadline: float, unwanted: Callable[[], bool] | None
    ) -> tuple[bool, Any]:
        try:
            try:
                good, result, full = _ask(seat.process(), call, deadline, self._limits, unwanted)
            except _NotTaken:  # it died while it had nothing to do, which is not this call's fault
                seat.clear()
                good, result, full = _ask(seat.process(), call, deadline, self._limits, unwanted)
        except BaseException:
            # Whatever it was: the answer may still come, and the next call would take it for its own.
            seat.clear()
            raise
        if full:
            seat.clear()
        return good, result

    def _seat(self, caller: str, deadline: float, timeout: float, unwanted: Callable[[], bool] | None) -> _Seat:
        mine = _Waiting(caller)
        try:
            while True:
                with self._turn:
                    if mine not in self._waiting and mine.seat is None:
                        self._waiting.append(mine)
                    self._hand_out()
                    left = min(deadline - time.monotonic(), _LOOK_SECONDS)
                    if mine.seat is None and left > 0:
                        self._turn.wait(left)
                    if mine.seat is not None:
                        return mine.seat
                if time.monotonic() >= deadline:
                    raise TooBusy(f"no process was free within {timeout:g} s", mend="come again")
                if unwanted is not None and unwanted():
                    raise NotWanted
        except BaseException:
            with self._turn:
                if mine.seat is not None:
                    self._return(mine.seat, caller)
                elif mine in self._waiting:
                    self._waiting.remove(mine)
            raise

    def _hand_out(self) -> None:
        """Give free seats out: to who has the fewest at work, and of these to whose turn was longest ago."""
        while self._free:
            open_to = [w for w in self._waiting if self._busy[w.caller] < self._share]
            if not open_to:
                break
            chosen = min(open_to, key=lambda w: (self._busy[w.caller], self._turns[w.caller]))
            self._waiting.remove(chosen)
            chosen.seat = self._free.pop()
            self._busy[chosen.caller] += 1
            self._turns_given += 1
            self._turns[chosen.caller] = self._turns_given
            self._turn.notify_all()

    def _leave(self, seat: _Seat, caller: str) -> None:
        with self._turn:
            self._return(seat, caller)

    def _return(self, seat: _Seat, caller: str) -> None:
        self._busy[caller] -= 1
        self._busy += Counter()
        self._free.append(seat)
        self._hand_out()

    def close(self) -> None:
        """Stop every process, whatever it is at."""
        with ExitStack() as every:  # the others, too, where one fails
            for seat in self._seats:
                every.callback(seat.clear, close=True)


def _ask(
    process: _Process,
    call: tuple[Any, ...],
    deadline: float,
    limits: Limits,
    unwanted: Callable[[], bool] | None,
) -> tuple[bool, Any, bool]:
    """Whether a call ended without an error, its result or error, and whether it left much in the process."""
    taken = True
    try:
        process.pipe.send(call)
    except OSError:
        taken = False  # it is gone; but where the call was too large for it to read, it said so before
    try:
        while not process.pipe.poll(max(0.0, min(_LOOK_SECONDS, deadline - time.monotonic()))):
            if time.monotonic() >= deadline:
                raise TookTooLong("the computation took too long", mend="ask for less at once")
            if unwanted is not None and unwanted():
                raise NotWanted
        blob = process.pipe.recv_bytes()
    except (OSError, EOFError) as error:
        if not taken:
            raise _NotTaken("the computing process died before its call", mend="come again") from error
        raise _death(process, limits) from error
    answer: tuple[bool, Any, bool] = ForkingPickler.loads(blob)
    return answer


def _death(process: _Process, limits: Limits) -> ServiceError:
    """Why a process died in the middle of a call."""
    ended_by = process.ended_by()
    if ended_by == signal.SIGXCPU:
        return TookTooMuch(
            f"the computation took more than {limits.cpu_seconds:,} s of processor time",
            mend="ask for less at once",
        )
    if ended_by == signal.SIGABRT:  # what no Python error tells: memory that a library could not get
        return _too_large(limits)
    return ComputeDied("the computing process died", mend="come again")


def _too_large(limits: Limits) -> TookTooMuch:
    return TookTooMuch(
        f"the computation needed more than {limits.megabytes:,} MB of memory", mend="ask for less at once"
    )


def _bound_memory(limits: Limits) -> int:
    """Let this process have so much memory beside what it has now; how many bytes that is."""
    idle = _size()
    most = idle + (limits.megabytes << 20)
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
    return idle


def _size() -> int:
    """Bytes of this process's address space."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()


def _is_full(idle: int, limits: Limits) -> bool:
    """Whether calls have left so much in this process that the next one would have too little."""
    most = idle + _MOST_KEPT * (limits.megabytes << 20)
    if _size() <= most:
        return False
    gc.collect()
    return _size() > most


def _bound_processor(limits: Limits) -> None:
    """Let this process have so many seconds of processor time from now on."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    most = int(used.ru_utime + used.ru_stime) + 1 + limits.cpu_seconds
    resource.setrlimit(resource.RLIMIT_CPU, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _serve(pipe: Connection, parent: int, preload: tuple[str, ...], limits: Limits) -> None:
    """A child's life: answer call after call until the pipe is closed."""
    die_with(parent)
    # Signals of a terminal or a supervisor go to the whole group; the parent decides when a child ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for module in preload:
        import_module(module)
    # Nearly all that a call makes lives until its end: to look for garbage often finds none, and takes long.
    gc.freeze()
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    idle = _bound_memory(limits)
    while True:
        try:
            blob = pipe.recv_bytes()
        except (OSError, EOFError):  # the parent is gone
            return
        except MemoryError:  # in the midst of a call, whose rest would be taken for the next one
            pipe.send((False, _too_large(limits), True))
            return
        _bound_processor(limits)
        answer = _done(blob, limits, idle)
        del blob
        try:
            pipe.send_bytes(answer)
        except OSError:
            return
        del answer


def _done(blob: bytes, limits: Limits, idle: int) -> memoryview:
    """What is answered to a call: see `_ask`."""
    try:
        function, args, kwargs = ForkingPickler.loads(blob)
        result = function(*args, **kwargs)
        return ForkingPickler.dumps((True, result, _is_full(idle, limits)))
    except QosforgeError as error:
        told: Exception = error
    except MemoryError:
        return ForkingPickler.dumps((False, _too_large(limits), True))
    except Exception:  # noqa: BLE001  the parent raises it
        told = RuntimeError(traceback.format_exc())
    return ForkingPickler.dumps((False, told, _is_full(idle, limits)))
