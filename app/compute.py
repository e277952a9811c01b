"""Processes that compute for requests and runs: within bounds of time and memory, and with a fair turn for all.

Compiling holds the interpreter, so it gets interpreters of its own; and whatever a text makes of it, no more than
one of these processes is lost.
"""

from __future__ import annotations

import gc
import multiprocessing
import resource
import signal
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from app.errors import QosforgeError, ServiceError

P = ParamSpec("P")
T = TypeVar("T")

_WAITING_PER_PROCESS = 32
_LOOK_SECONDS = 1.0
"""How often it is asked whether a call is still wanted."""
_OBJECTS_BETWEEN_COLLECTIONS = 50_000
"""More than a preview of ten devices leaves; the interpreter's own 700 mean a search at every other device."""
_CONTEXT = multiprocessing.get_context("spawn")  # a fork of a process with threads may hang


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


class NotWanted(Exception):
    """Nobody waits for a call any more: it was stopped."""


@dataclass(frozen=True)
class Limits:
    """What one call may take: megabytes beside those of an idle process, and seconds of processor time."""

    megabytes: int = 2048
    cpu_seconds: int = 3600


class _Process:
    """One child and the pipe to it; it lives until it is stopped, killed or its parent is gone."""

    def __init__(self, preload: tuple[str, ...], limits: Limits) -> None:
        self.pipe, theirs = _CONTEXT.Pipe()
        self._process = _CONTEXT.Process(
            target=_serve, args=(theirs, preload, limits), name="qosforge-compute", daemon=True
        )
        self._process.start()
        theirs.close()
        self.pid = self._process.pid
        # Who waits for a call and who closes may both ask how it ended: a child can be waited for once.
        self._lock = threading.Lock()
        self._code: int | None = None
        self._gone = False

    def ended_by(self) -> int | None:
        """The signal that ended it, once it is gone."""
        with self._lock:
            if not self._gone:
                self._process.join(_LOOK_SECONDS)
                self._code = self._process.exitcode
            return -self._code if self._code is not None and self._code < 0 else None

    def stop(self) -> None:
        """End it now, whatever it is at."""
        self.pipe.close()
        with self._lock:
            if self._gone:
                return
            self._process.kill()
            self._process.join()
            self._code = self._process.exitcode
            self._process.close()
            self._gone = True


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
            if self._process is not None:
                self._process.stop()
            self._process = None


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

    def __init__(self, processes: int, preload: tuple[str, ...] = (), limits: Limits | None = None) -> None:
        """Room for so many processes; each imports the modules ``preload`` before its first call."""
        self._limits = limits or Limits()
        self._most_waiting = processes * _WAITING_PER_PROCESS
        self._share = max(1, processes - 1)
        self._seats = tuple(_Seat(preload, self._limits) for _ in range(processes))
        # Last in, first out: the process that was used last has the warmest caches.
        self._free = list(self._seats)
        self._turn = threading.Condition()
        self._waiting: list[_Waiting] = []
        self._busy: Counter[str] = Counter()
        self._inside: Counter[str] = Counter()
        self._turns: dict[str, int] = {}

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
        try:
            seat = self._seat(caller, deadline, timeout, unwanted)
            try:
                call = (function, args, kwargs)
                result: T = _ask(seat.process(), call, deadline, self._limits, unwanted)
                return result
            except (TookTooLong, TookTooMuch, ComputeDied, NotWanted):
                seat.clear()
                raise
            finally:
                self._leave(seat, caller)
        finally:
            with self._turn:
                self._inside[caller] -= 1
                if not self._inside[caller]:
                    del self._inside[caller]
                    self._turns.pop(caller, None)

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
                else:
                    self._waiting.remove(mine)
            raise

    def _hand_out(self) -> None:
        """Give free seats out: to who has the fewest at work, and of these to whose turn was longest ago."""
        while self._free:
            open_to = [w for w in self._waiting if self._busy[w.caller] < self._share]
            if not open_to:
                break
            chosen = min(open_to, key=lambda w: (self._busy[w.caller], self._turns.get(w.caller, 0)))
            self._waiting.remove(chosen)
            chosen.seat = self._free.pop()
            self._busy[chosen.caller] += 1
            self._turns[chosen.caller] = 1 + max(self._turns.values(), default=0)
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
        for seat in self._seats:
            seat.clear(close=True)


def _ask(
    process: _Process,
    call: tuple[Any, ...],
    deadline: float,
    limits: Limits,
    unwanted: Callable[[], bool] | None,
) -> Any:
    try:
        process.pipe.send(call)
        while not process.pipe.poll(max(0.0, min(_LOOK_SECONDS, deadline - time.monotonic()))):
            if time.monotonic() >= deadline:
                raise TookTooLong("the computation took too long", mend="ask for less at once")
            if unwanted is not None and unwanted():
                raise NotWanted
        good, result = process.pipe.recv()
    except (OSError, EOFError) as error:
        raise _death(process, limits) from error
    if good:
        return result
    raise result


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


def _bound_memory(limits: Limits) -> None:
    """Let this process have so much memory beside what it has now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    most = pages * resource.getpagesize() + (limits.megabytes << 20)
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _bound_processor(limits: Limits) -> None:
    """Let this process have so many seconds of processor time from now on."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    most = int(used.ru_utime + used.ru_stime) + 1 + limits.cpu_seconds
    resource.setrlimit(resource.RLIMIT_CPU, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _serve(pipe: Connection, preload: tuple[str, ...], limits: Limits) -> None:
    """A child's life: answer call after call until the pipe is closed."""
    # Signals of a terminal or a supervisor go to the whole group; the parent decides when a child ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for module in preload:
        import_module(module)
    # Nearly all that a call makes lives until its end: to look for garbage often finds none, and takes long.
    gc.freeze()
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    _bound_memory(limits)
    while True:
        try:
            function, args, kwargs = pipe.recv()
        except EOFError:
            return
        _bound_processor(limits)
        try:
            answer: tuple[bool, Any] = (True, function(*args, **kwargs))
        except QosforgeError as error:
            answer = (False, error)
        except MemoryError:
            answer = (False, _too_large(limits))
        except Exception:  # noqa: BLE001  the parent raises it
            answer = (False, RuntimeError(traceback.format_exc()))
        try:
            pipe.send(answer)
        except BrokenPipeError:  # the parent is gone
            return
