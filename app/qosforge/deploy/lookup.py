"""Look-ups at a remote service that may be slow or away: each made once for all callers, in bounded time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Generic, TypeVar

FAILURE_SECONDS = 60.0
"""How long a failure is remembered: fifty devices do not wait for a service that is away one after the other, and a
run of hours finds it once it is back.
"""

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


@dataclass(frozen=True)
class Failure:
    """Why a look-up gave nothing, and a hint; ``everywhere``: any other would fail for the same reason."""

    message: str
    hint: str
    everywhere: bool = False


class Lookups(Generic[K, V]):
    """Results by key, in memory alone. Safe to share between threads: one looks, the others wait for its result."""

    def __init__(self, look: Callable[[K], V | Failure]) -> None:
        """Nothing is looked up yet."""
        self._look = look
        self._lock = threading.Lock()
        self._found: dict[K, V] = {}
        self._failed: dict[K | None, tuple[float, Failure]] = {}

    def get(self, key: K) -> V | Failure:
        """What is found under a key."""
        with self._lock:
            if key in self._found:
                return self._found[key]
            for failed in (None, key):
                until, failure = self._failed.get(failed, (0.0, None))
                if failure is not None and time.monotonic() < until:
                    return failure
            outcome = self._look(key)
            if isinstance(outcome, Failure):
                until = time.monotonic() + FAILURE_SECONDS
                self._failed[None if outcome.everywhere else key] = (until, outcome)
            else:
                self._found[key] = outcome
            return outcome


def call_within(seconds: float, work: Callable[[], V]) -> V:
    """What ``work`` gives, in a thread of its own that is left alone when the time is over.

    Libraries bound the silence between two bytes at most, or wait for somebody to answer a dialog.

    Raises:
        TimeoutError: it takes longer.
        Exception: what the work raises.
    """
    outcome: Future[V] = Future()

    def run() -> None:
        try:
            outcome.set_result(work())
        except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
            outcome.set_exception(error)

    threading.Thread(target=run, name="lookup", daemon=True).start()
    return outcome.result(seconds)


def one_line(value: object) -> str | Failure:
    """A value as it can be typed at a prompt: text of one line."""
    if not isinstance(value, str):
        return Failure("is not text", "store it as text")
    line = value.removesuffix("\n").removesuffix("\r")
    if not line:
        return Failure("is empty", "store the value there")
    if not line.isprintable():
        return Failure("has several lines or control characters", "store the value as one line of text")
    return line
