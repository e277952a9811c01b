"""A computing process: it answers call after call, within bounds of memory and processor time."""

from __future__ import annotations

import gc
import os
import resource
import signal
import traceback
from dataclasses import dataclass
from importlib import import_module
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from pathlib import Path

from qosforge.errors import QosforgeError, ServiceError
from qosforge.lifeline import die_with_server

OBJECTS_BETWEEN_COLLECTIONS = 50_000
"""More than a preview of ten devices leaves; the interpreter's own 700 mean a search at every other device."""
_MOST_KEPT = 0.25
"""The part of its memory that a process may keep from one call to the next; one that keeps more is replaced."""


@dataclass(eq=False)
class TookTooMuch(ServiceError):
    """A computation needed more memory or processor time than it may, and was stopped."""


@dataclass(frozen=True)
class Limits:
    """What one call may take: megabytes beside those of an idle process, and seconds of processor time."""

    megabytes: int = 2048
    cpu_seconds: int = 3600


def too_large(limits: Limits) -> TookTooMuch:
    """The error of a computation that needed more memory than it may."""
    return TookTooMuch(
        f"the computation needed more than {limits.megabytes:,} MB of memory", hint="ask for less at once"
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


def serve(
    pipe: Connection, service: int, environment: dict[str, str], imports: tuple[str, ...], limits: Limits
) -> None:
    """A computing process's life: answer call after call of ``service`` until the pipe is closed."""
    die_with_server(service)
    # Signals of a terminal or a supervisor go to the whole group; the service decides when this process ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.environ.clear()
    os.environ.update(environment)
    # Nearly all that a call, or an import, makes lives until its end: to look for garbage often finds none, and
    # takes long.
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    for module in imports:
        import_module(module)
    gc.freeze()
    idle = _bound_memory(limits)
    while True:
        try:
            blob = pipe.recv_bytes()
        except (OSError, EOFError):  # the parent is gone
            return
        except MemoryError:  # in the midst of a call, whose rest would be taken for the next one
            pipe.send((False, too_large(limits), True))
            return
        _bound_processor(limits)
        answer = _answer(blob, limits, idle)
        del blob
        try:
            pipe.send_bytes(answer)
        except OSError:
            return
        del answer
        _collect_garbage()


def _collect_garbage() -> None:
    """Look for garbage where much was made: in the midst of the next call the interpreter would, and hold it up."""
    young, middle, old = gc.get_count()
    _, most_middle, most_old = gc.get_threshold()
    if young > OBJECTS_BETWEEN_COLLECTIONS // 2:
        gc.collect(2 if old > most_old else 1 if middle > most_middle else 0)


def _answer(blob: bytes, limits: Limits, idle: int) -> memoryview:
    """What is answered to a call: see `_ask`."""
    try:
        function, args, kwargs = ForkingPickler.loads(blob)
        result = function(*args, **kwargs)
        return ForkingPickler.dumps((True, result, _is_full(idle, limits)))
    except QosforgeError as error:
        told: Exception = error
    except MemoryError:
        return ForkingPickler.dumps((False, too_large(limits), True))
    except Exception:  # noqa: BLE001  the parent raises it
        told = RuntimeError(traceback.format_exc())
    return ForkingPickler.dumps((False, told, _is_full(idle, limits)))
