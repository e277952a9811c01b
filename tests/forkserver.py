"""A process that has imported the application once, and forks: importing costs more than most tests."""

from __future__ import annotations

from multiprocessing import get_context

FORKSERVER = get_context("forkserver")
FORKSERVER.set_forkserver_preload(
    [
        "app.cli.main",
        "app.cli.policies",
        "app.cli.local_runs",
        "app.cli.runs",
        "app.cli.lab",
        "app.cli.worker",
        "app.cli.service",
        "tests.runs.executor_process",
        "tests.system.crashes",
    ]
)
