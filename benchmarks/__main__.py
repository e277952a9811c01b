"""Run every benchmark and print its ratio."""

from __future__ import annotations

from benchmarks import compiling, simulating

for benchmark in (compiling, simulating):
    print(benchmark.measure())  # noqa: T201
