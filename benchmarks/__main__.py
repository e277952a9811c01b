"""Run every benchmark and print what it finds."""

from __future__ import annotations

from benchmarks import access_lists, compiler, editing, idle, scale, service, simulating, stored_runs, workers

if __name__ == "__main__":  # the processes of the compiler's benchmark import this module
    for benchmark in (compiler, access_lists, scale, simulating, service, editing, stored_runs, workers, idle):
        for found in benchmark.measure():
            print(found, flush=True)  # noqa: T201
