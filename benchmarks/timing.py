"""Timing two pieces of work in one run."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

REPEATS = 5


@dataclass(frozen=True)
class Ratio:
    """Seconds of our work and of its baseline."""

    name: str
    ours: float
    baseline: float

    def __str__(self) -> str:
        figures = f"{self.ours * 1e3:.2f} ms / {self.baseline * 1e3:.2f} ms"
        return f"{self.name}: {self.ours / self.baseline:.2f} ({figures})"


def best(work: Callable[[], object]) -> float:
    """Seconds of the fastest of a few repeats: what the machine can do when nothing disturbs it."""
    times = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)
