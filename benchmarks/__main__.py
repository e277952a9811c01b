"""Run every benchmark and print what it finds; ends with 1 where a figure misses its bound."""

from __future__ import annotations

import sys

from benchmarks import (
    access_lists,
    compiler,
    editing,
    idle,
    pushing,
    scale,
    service,
    simulating,
    stored_runs,
    workers,
)

if __name__ == "__main__":  # the processes of the compiler's benchmark import this module
    missed = 0
    for benchmark in (
        compiler,
        access_lists,
        scale,
        pushing,
        simulating,
        service,
        editing,
        stored_runs,
        workers,
        idle,
    ):
        for found in benchmark.measure():
            print(found, flush=True)  # noqa: T201
            missed += "MISSED" in str(found)
    if missed:
        sys.exit(f"figures that miss their bounds: {missed}")
