"""Processes that compute for requests: compiling holds the interpreter, so it gets interpreters of its own."""

from __future__ import annotations

import gc
import multiprocessing
import queue
import signal
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from multiprocessing.connection import Connection
from typing import Any, ParamSpec, TypeVar

from app.errors import QosforgeError, ServiceError

P = ParamSpec("P")
T = TypeVar("T")

_WAITING_PER_PROCESS = 32
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
class ComputeDied(ServiceError):
    """A computing process died in the middle of a call; it was replaced."""


class _Process:
    """One child and the pipe to it; it lives until it is stopped, killed or its parent is gone."""

    def __init__(self, preload: tuple[str, ...]) -> None:
        self.pipe, theirs = _CONTEXT.Pipe()
        self._process = _CONTEXT.Process(
            target=_serve, args=(theirs, preload), name="qosforge-compute", daemon=True
        )
        self._process.start()
        theirs.close()
        self.pid = self._process.pid

    def stop(self) -> None:
        """End it now, whatever it is at."""
        self.pipe.close()
        self._process.kill()
        self._process.join()
        self._process.close()


class _Seat:
    """Room for one process: it begins at the first call, or before, and another one takes its place."""

    def __init__(self, preload: tuple[str, ...]) -> None:
        self._preload = preload
        self._lock = threading.Lock()
        self._process: _Process | None = None
        self._closed = False

    def process(self) -> _Process:
        with self._lock:
            if self._closed:
                raise ComputeDied("the service is being stopped", mend="come again")
            if self._process is None:
                self._process = _Process(self._preload)
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


class Compute:
    """A fixed number of processes, each at one call at a time; safe to share between threads.

    A call that died or took too long costs its process, which a new one replaces; nobody else's call is touched.
    """

    def __init__(self, processes: int, preload: tuple[str, ...] = ()) -> None:
        """Room for so many processes; each imports the modules ``preload`` before its first call."""
        self._most_waiting = processes * _WAITING_PER_PROCESS
        self._seats = tuple(_Seat(preload) for _ in range(processes))
        # Last in, first out: the process that was used last has the warmest caches.
        self._free: queue.LifoQueue[_Seat] = queue.LifoQueue()
        for seat in self._seats:
            self._free.put(seat)
        self._lock = threading.Lock()
        self._inside = 0

    @property
    def inside(self) -> int:
        """Calls at work and waiting."""
        return self._inside

    @property
    def pids(self) -> tuple[int, ...]:
        """The ids of the processes that have begun."""
        return tuple(pid for seat in self._seats if (pid := seat.pid) is not None)

    def start(self) -> None:
        """Begin every process now, so that the first calls need not wait for it."""
        for seat in self._seats:
            seat.process()

    def call(self, function: Callable[P, T], *args: P.args, timeout: float, **kwargs: P.kwargs) -> T:  # type: ignore[valid-type]
        """``function(*args, **kwargs)`` in one of the processes, within ``timeout`` seconds, waiting included.

        The function is one of a module's own, and arguments and result can be pickled; its error is raised here.

        Raises:
            TooBusy: too many calls wait.
            TookTooLong: it was not ready in time.
            ComputeDied: its process died.
        """
        deadline = time.monotonic() + timeout
        with self._lock:
            if self._inside >= len(self._seats) + self._most_waiting:
                raise TooBusy(f"{self._most_waiting} calls wait for a computation already", mend="come again")
            self._inside += 1
        try:
            try:
                seat = self._free.get(timeout=timeout)
            except queue.Empty:
                raise TooBusy(f"no process was free within {timeout:g} s", mend="come again") from None
            try:
                result: T = _ask(seat.process(), (function, args, kwargs), deadline)
                return result
            except (TookTooLong, ComputeDied):
                seat.clear()
                raise
            finally:
                self._free.put(seat)
        finally:
            with self._lock:
                self._inside -= 1

    def close(self) -> None:
        """Stop every process, whatever it is at."""
        for seat in self._seats:
            seat.clear(close=True)


def _ask(process: _Process, call: tuple[Any, ...], deadline: float) -> Any:
    try:
        process.pipe.send(call)
        if not process.pipe.poll(max(0.0, deadline - time.monotonic())):
            raise TookTooLong("the computation took too long", mend="ask for less at once")
        good, result = process.pipe.recv()
    except (OSError, EOFError) as error:
        raise ComputeDied("the computing process died", mend="come again") from error
    if good:
        return result
    raise result


def _serve(pipe: Connection, preload: tuple[str, ...]) -> None:
    """A child's life: answer call after call until the pipe is closed."""
    # Signals of a terminal or a supervisor go to the whole group; the parent decides when a child ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for module in preload:
        import_module(module)
    # Nearly all that a call makes lives until its end: to look for garbage often finds none, and takes long.
    gc.freeze()
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    while True:
        try:
            function, args, kwargs = pipe.recv()
        except EOFError:
            return
        try:
            answer: tuple[bool, Any] = (True, function(*args, **kwargs))
        except QosforgeError as error:
            answer = (False, error)
        except Exception:  # noqa: BLE001  the parent raises it
            answer = (False, RuntimeError(traceback.format_exc()))
        try:
            pipe.send(answer)
        except BrokenPipeError:  # the parent is gone
            return
