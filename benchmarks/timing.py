"""Timing two pieces of work in one run."""

from __future__ import annotations

import multiprocessing
import resource
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

_T = TypeVar("_T")

REPEATS = 5
ALONE = 40
"""Repeats behind a median."""


@dataclass(frozen=True)
class Ratio:
    """Seconds of two pieces of work, named ``above / below``, with the bound that their ratio has to keep."""

    name: str
    above: float
    below: float
    at_most: float | None = None
    at_least: float | None = None

    @property
    def value(self) -> float:
        """How many times longer the first takes."""
        return self.above / self.below

    @property
    def met(self) -> bool:
        """Whether the ratio keeps its bound."""
        return (self.at_most is None or self.value <= self.at_most) and (
            self.at_least is None or self.value >= self.at_least
        )

    def __str__(self) -> str:
        bounds = [("at most", self.at_most), ("at least", self.at_least)]
        told = "".join(f", {word} {bound:g}: {'met' if self.met else 'MISSED'}" for word, bound in bounds if bound)
        return f"{self.name}: {self.value:.2f} ({self.above * 1e3:.2f} ms / {self.below * 1e3:.2f} ms{told})"


@dataclass(frozen=True)
class Median:
    """Milliseconds of a request, in the median."""

    name: str
    ms: float
    at_most: float | None = None

    def __str__(self) -> str:
        return f"{self.name}: median {self.ms:.1f} ms" + _bound_note(self.at_most, "at most", self.ms, below=True)


@dataclass(frozen=True)
class Percentiles:
    """Milliseconds of a request, in the median and of all but one in twenty, each with its bound."""

    name: str
    ms: float
    p95: float
    at_most: float | None = None
    p95_at_most: float | None = None

    def __str__(self) -> str:
        told = _bound_note(self.at_most, "at most", self.ms, below=True)
        late = _bound_note(self.p95_at_most, "at most", self.p95, below=True)
        return f"{self.name}: median {self.ms:.1f} ms{told}, p95 {self.p95:.1f} ms{late}"


@dataclass(frozen=True)
class Size:
    """Kilobytes (of 1000 bytes) that are sent."""

    name: str
    kilobytes: float
    at_most: float | None = None

    def __str__(self) -> str:
        return f"{self.name}: {self.kilobytes:.0f} kB" + _bound_note(
            self.at_most, "at most", self.kilobytes, below=True
        )


@dataclass(frozen=True)
class Throughput:
    """Requests a second."""

    name: str
    per_second: float
    at_least: float | None = None

    def __str__(self) -> str:
        told = _bound_note(self.at_least, "at least", self.per_second, below=False)
        return f"{self.name}: {self.per_second:.0f} a second{told}"


def _bound_note(bound: float | None, word: str, value: float, *, below: bool) -> str:
    if bound is None:
        return ""
    met = value <= bound if below else value >= bound
    return f" ({word} {bound:g}: {'met' if met else 'MISSED'})"


def seconds(work: Callable[[], object]) -> float:
    """Seconds of this process's processor time that the work takes once, whatever else the machine does."""
    started = time.process_time()
    work()
    return time.process_time() - started


def best(work: Callable[[], object], repeats: int = REPEATS) -> float:
    """Seconds of the fastest of a few repeats: what the machine can do when nothing disturbs it."""
    return min(seconds(work) for _ in range(repeats))


def best_elapsed(work: Callable[[], object], repeats: int = REPEATS) -> float:
    """Seconds on the clock of the fastest of a few repeats: for work on several cores."""

    def once() -> float:
        started = time.perf_counter()
        work()
        return time.perf_counter() - started

    return min(once() for _ in range(repeats))


def alone_in_its_process(work: Callable[..., _T], *arguments: object) -> _T:
    """What the work gives in a process that has done nothing else, and has no other peak of memory."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(work, arguments)


def peak() -> float:
    """Most memory that this process has had, in kB; Linux tells it in kB, macOS in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform == "darwin" else 1)


def median(work: Callable[[], object], repeats: int = ALONE) -> float:
    """Milliseconds on the clock that the work takes in the median."""
    return statistics.median(_time_runs(work, repeats)) * 1e3


def percentiles(work: Callable[[], object], repeats: int = 3 * ALONE) -> tuple[float, float]:
    """Milliseconds on the clock that the work takes in the median, and in 95 of 100 cases at most."""
    times = _time_runs(work, repeats)
    return statistics.median(times) * 1e3, statistics.quantiles(times, n=20)[-1] * 1e3


def _time_runs(work: Callable[[], object], repeats: int) -> list[float]:
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return times
