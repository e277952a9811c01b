"""A process that has imported the application once, and forks: importing costs more than most tests."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable, Sequence
from multiprocessing import forkserver, get_context, util
from multiprocessing.context import ForkServerProcess
from unittest import mock

PRELOADED = (
    "tests.forkserver_begins",
    "qosforge.compiler.warm",
    "qosforge.cli.main",
    "qosforge.cli.policies",
    "qosforge.cli.local_runs",
    "qosforge.cli.stored_runs",
    "qosforge.cli.runs",
    "qosforge.cli.lab",
    "qosforge.cli.worker",
    "qosforge.cli.service",
    "tests.runs.executor_process",
    "tests.system.crashes",
    "tests.forkserver_warm",
)
FORKSERVER = get_context("forkserver")
FORKSERVER.set_forkserver_preload(list(PRELOADED))


def computing_process(target: Callable[..., None], *arguments: object) -> ForkServerProcess:
    """A process for ``target``, of which the fork server of computing processes imports nothing again."""
    return FORKSERVER.Process(target=_begin, args=(target, arguments))


def _begin(target: Callable[..., None], arguments: Sequence[object]) -> None:
    gc.freeze()  # what the server imported: no search for garbage goes through it, and copies its pages
    # The tests' own server may be one of computing processes, too; what that does of itself it does in each.
    sys.modules.pop("qosforge.compute_server", None)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with mock.patch.object(util, "spawnv_passfds", _fork):
        forkserver.set_forkserver_preload(["qosforge.compute_server"])
        forkserver.ensure_running()
    target(*arguments)


def _fork(_path: bytes, arguments: Sequence[str], descriptors: Sequence[int]) -> int:
    """Run the fork server's program in a fork of this process, which has no threads yet."""
    process = os.fork()
    if process:
        return process
    try:
        kept = sorted(descriptors)
        for before, after in zip([2, *kept], [*kept, os.sysconf("SC_OPEN_MAX")], strict=True):
            os.closerange(before + 1, after)
        exec(arguments[-1], {})
    finally:
        os._exit(0)
