"""Processes that compute for requests and runs: within bounds of time and memory, and with a fair turn for all.

Compiling holds the interpreter, so it gets interpreters of its own; and whatever a text makes of it, no more than
one of these processes is lost. They are forks of a server that has imported what they need, so one begins within
milliseconds. The pool of ``pebble`` does not replace this module: its workers share one pipe, so that an argument
larger than the memory limit of one breaks the pool for all, and turns by caller would stay ours.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from multiprocessing import connection, forkserver
from multiprocessing.context import ForkServerProcess
from multiprocessing.reduction import ForkingPickler
from typing import Any, ParamSpec, TypeVar

from qosforge.compute_process import Limits, TookTooMuch, serve, too_large
from qosforge.errors import ServiceError

P = ParamSpec("P")
T = TypeVar("T")

WAITING_PER_PROCESS = 32
"""Calls that may wait for each process, unless told otherwise."""
_LOOK_SECONDS = 1.0
"""How often it is asked whether a call is still wanted."""
_STOP_SECONDS = 5.0
"""How long it is waited for a killed process to be gone; one that the kernel holds is left to itself."""
_CONTEXT = multiprocessing.get_context("forkserver")  # a fork of this process, with its threads, may hang
_STARTER = ThreadPoolExecutor(1, "qosforge-compute-starter")
"""Begins the fork server: it dies with the thread that began it, and this one lasts as long as ours."""
_CHILDREN = threading.Lock()
"""Held to begin a process and to ask whether one ended: to begin one, the library asks that of all others, and of
two who ask at once one is told that there is no such process.
"""
_PRELOADED: set[str] = set()
"""What the fork server imports when it begins."""


@dataclass(eq=False)
class TooBusy(ServiceError):
    """So many calls wait already that another one is better told to come again."""


@dataclass(eq=False)
class TookTooLong(ServiceError):
    """A computation was not ready in time, and was stopped."""


@dataclass(eq=False)
class ComputeDied(ServiceError):
    """A computing process died in the middle of a call; it was replaced."""


@dataclass(eq=False)
class _NotTaken(ComputeDied):
    """A computing process was dead before it had the call."""


class NotWanted(Exception):
    """Nobody waits for a call any more: it was stopped."""


class _Process:
    """One child and the pipe to it; it lives until it is stopped, killed or its parent is gone.

    Its descriptors are closed with the last reference: who reads the pipe while another thread stops the process
    must not find a descriptor that has become something else.
    """

    def __init__(self, imports: tuple[str, ...], limits: Limits) -> None:
        self.pipe, theirs = _CONTEXT.Pipe()
        # The server keeps the environment in which it began; a computation has that of the call that begins it.
        self._process = _CONTEXT.Process(
            target=serve,
            args=(theirs, os.getpid(), dict(os.environ), imports, limits),
            name="qosforge-compute",
            daemon=True,
        )
        try:
            _STARTER.submit(_begin, self._process).result()
        except (OSError, EOFError) as error:  # the end of file: the server died meanwhile
            raise ComputeDied(f"no computing process could begin: {error}", hint="come again") from error
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
            if self._process.exitcode is None:  # else the server has given its id back
                self._process.kill()
        self._wait(_STOP_SECONDS)

    def _wait(self, seconds: float) -> None:
        # Not under the lock: a large process takes a while to be gone.
        if connection.wait([self._process.sentinel], seconds):
            with _CHILDREN:
                self._process.join()


def preload(modules: Iterable[str]) -> None:
    """Have the fork server import ``modules``, too, when it begins: what it has is no work of its processes."""
    _PRELOADED.update(modules)


def start_server() -> None:
    """Begin the fork server, and do not wait for it: the calls that come soon need not wait so long."""
    _STARTER.submit(_ensure_server)


def _ensure_server() -> None:
    forkserver.set_forkserver_preload(["__main__", "qosforge.compute_server", *sorted(_PRELOADED)])
    forkserver.ensure_running()


def _begin(process: ForkServerProcess) -> None:
    _ensure_server()
    with _CHILDREN:
        process.start()


class _WorkerSlot:
    """Room for one process: it begins at the first call, and another one takes its place."""

    def __init__(self, imports: tuple[str, ...], limits: Limits) -> None:
        self._imports = imports
        self._limits = limits
        self._lock = threading.Lock()
        self._process: _Process | None = None
        self._closed = False

    def process(self) -> _Process:
        with self._lock:
            if self._closed:
                raise ComputeDied("the service is being stopped", hint="come again")
            if self._process is None:
                self._process = _Process(self._imports, self._limits)
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
class _WaitingCall:
    """A call that waits for a slot."""

    caller: str
    brief: bool
    slot: _WorkerSlot | None = None


class Compute:
    """A fixed number of processes, each at one call at a time; safe to share between threads.

    A call that died or took too much costs its process, which a new one replaces; nobody else's call is touched.
    Calls wait by caller: who has the fewest at work is next, and nobody has all processes while there are several.
    """

    def __init__(
        self,
        processes: int,
        imports: tuple[str, ...] = (),
        limits: Limits | None = None,
        waiting: int = WAITING_PER_PROCESS,
    ) -> None:
        """Room for so many processes, and for so many calls ``waiting`` for each.

        Each process has imported the modules ``imports`` before its first call.
        """
        preload(imports)
        self._limits = limits or Limits()
        self._most_waiting = processes * waiting
        self.fair_share = max(1, processes - 1)
        """How many processes one caller has at most, but for brief calls."""
        self._slots = tuple(_WorkerSlot(imports, self._limits) for _ in range(processes))
        # Last in, first out: the process that was used last has the warmest caches.
        self._free = list(self._slots)
        self._turn = threading.Condition()
        self._waiting: list[_WaitingCall] = []
        self._busy: Counter[str] = Counter()
        self._inside: Counter[str] = Counter()
        self._turns: dict[str, int] = {}
        self._turns_given = 0

    @property
    def idle(self) -> int:
        """Processes that have no call now, where none waits for one."""
        with self._turn:
            return 0 if self._waiting else len(self._free)

    @property
    def inside(self) -> int:
        """Calls at work and waiting."""
        return self._inside.total()

    @property
    def pids(self) -> tuple[int, ...]:
        """The ids of the processes that have begun."""
        return tuple(pid for slot in self._slots if (pid := slot.pid) is not None)

    def call(  # type: ignore[valid-type]
        self,
        function: Callable[P, T],
        *args: P.args,
        timeout: float,
        caller: str = "",
        unwanted: Callable[[], bool] | None = None,
        brief: bool = False,
        **kwargs: P.kwargs,
    ) -> T:
        """``function(*args, **kwargs)`` in one of the processes, within ``timeout`` seconds, waiting included.

        The function is one of a module's own, and arguments and result can be pickled; its error is raised here.
        ``caller`` is for whom it is: each has a fair share of the processes, beyond which a ``brief`` call may go:
        nobody waits long for its end. ``unwanted`` is asked every second.

        Raises:
            TooBusy: too many calls wait.
            TookTooLong: it was not ready in time.
            TookTooMuch: it needed more memory or processor time than the limits give.
            ComputeDied: its process died.
            NotWanted: nobody waits for it any more.
        """
        deadline = time.monotonic() + timeout
        with self._turn:
            full = self._inside.total() >= len(self._slots) + self._most_waiting
            if full or self._inside[caller] >= len(self._slots) + self._most_waiting // 2:
                raise TooBusy(f"{self._inside[caller]} calls of this caller wait already", hint="come again")
            self._inside[caller] += 1
            # Who comes is behind all that wait: else those who come and go would always pass one who stays.
            self._turns.setdefault(caller, self._turns_given)
        try:
            slot = self._acquire_slot(_WaitingCall(caller, brief), deadline, timeout, unwanted)
            try:
                good, result = self._answer(slot, (function, args, kwargs), deadline, unwanted)
            finally:
                self._leave(slot, caller)
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
        self, slot: _WorkerSlot, call: tuple[Any, ...], deadline: float, unwanted: Callable[[], bool] | None
    ) -> tuple[bool, Any]:
        try:
            try:
                good, result, full = _exchange(slot.process(), call, deadline, self._limits, unwanted)
            except _NotTaken:  # it died while it had nothing to do, which is not this call's fault
                slot.clear()
                good, result, full = _exchange(slot.process(), call, deadline, self._limits, unwanted)
        except BaseException:
            # Whatever it was: the answer may still come, and the next call would take it for its own.
            slot.clear()
            raise
        if full:
            slot.clear()
        return good, result

    def _acquire_slot(
        self, mine: _WaitingCall, deadline: float, timeout: float, unwanted: Callable[[], bool] | None
    ) -> _WorkerSlot:
        try:
            while True:
                with self._turn:
                    if mine not in self._waiting and mine.slot is None:
                        self._waiting.append(mine)
                    self._assign_slots()
                    left = min(deadline - time.monotonic(), _LOOK_SECONDS)
                    if mine.slot is None and left > 0:
                        self._turn.wait(left)
                    if mine.slot is not None:
                        return mine.slot
                if time.monotonic() >= deadline:
                    raise TooBusy(f"no process was free within {timeout:g} s", hint="come again")
                if unwanted is not None and unwanted():
                    raise NotWanted
        except BaseException:
            with self._turn:
                if mine.slot is not None:
                    self._return(mine.slot, mine.caller)
                elif mine in self._waiting:
                    self._waiting.remove(mine)
            raise

    def _assign_slots(self) -> None:
        """Give free slots out: to who has the fewest at work, and of these to whose turn was longest ago."""
        while self._free:
            open_to = [w for w in self._waiting if w.brief or self._busy[w.caller] < self.fair_share]
            if not open_to:
                break
            chosen = min(open_to, key=lambda w: (self._busy[w.caller], self._turns[w.caller]))
            self._waiting.remove(chosen)
            chosen.slot = self._free.pop()
            self._busy[chosen.caller] += 1
            self._turns_given += 1
            self._turns[chosen.caller] = self._turns_given
            self._turn.notify_all()

    def _leave(self, slot: _WorkerSlot, caller: str) -> None:
        with self._turn:
            self._return(slot, caller)

    def _return(self, slot: _WorkerSlot, caller: str) -> None:
        self._busy[caller] -= 1
        self._busy += Counter()
        self._free.append(slot)
        self._assign_slots()

    def close(self) -> None:
        """Stop every process, whatever it is at."""
        with ExitStack() as every:  # the others, too, where one fails
            for slot in self._slots:
                every.callback(slot.clear, close=True)


def _exchange(
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
                raise TookTooLong("the computation took too long", hint="ask for less at once")
            if unwanted is not None and unwanted():
                raise NotWanted
        blob = process.pipe.recv_bytes()
    except (OSError, EOFError) as error:
        if not taken:
            raise _NotTaken("the computing process died before its call", hint="come again") from error
        raise _death(process, limits) from error
    answer: tuple[bool, Any, bool] = ForkingPickler.loads(blob)
    return answer


def _death(process: _Process, limits: Limits) -> ServiceError:
    """Why a process died in the middle of a call."""
    ended_by = process.ended_by()
    if ended_by == signal.SIGXCPU:
        return TookTooMuch(
            f"the computation took more than {limits.cpu_seconds:,} s of processor time",
            hint="ask for less at once",
        )
    if ended_by == signal.SIGABRT:  # what no Python error tells: memory that a library could not get
        return too_large(limits)
    return ComputeDied("the computing process died", hint="come again")
