"""A process that has imported the application once, and forks: importing costs more than most tests."""

from __future__ import annotations

from multiprocessing import get_context

PRELOADED = (
    "qosforge.cli.main",
    "qosforge.cli.policies",
    "qosforge.cli.local_runs",
    "qosforge.cli.runs",
    "qosforge.cli.lab",
    "qosforge.cli.worker",
    "qosforge.cli.service",
    "tests.runs.executor_process",
    "tests.system.crashes",
)
FORKSERVER = get_context("forkserver")
FORKSERVER.set_forkserver_preload(list(PRELOADED))
