"""An executor as a process of its own, with workflows that only write lines into a file and wait for files."""

from __future__ import annotations

import signal
import sys
import threading
import time
from multiprocessing.connection import Connection
from pathlib import Path

from qosforge.executor.executor import Executor
from qosforge.runs.engine.executor_leases import LeaseTimes
from qosforge.runs.engine.port import JsonObject
from qosforge.runs.engine.workflow_ids import SETTLE, WORKFLOW, run_of
from qosforge.runs.record.leases import DeviceLocked
from qosforge.runs.record.tables import JournalAction, RunStatus
from qosforge.settings import Settings

HASTY = LeaseTimes(lasts=4, fence=2.5, renewed=0.3)


class SmallExecutor(Executor):
    """Carries out runs that touch one device: ``folder/log`` tells what happened, ``folder/go`` lets a step end."""

    def __init__(self, folder: Path, url: str, **options: object) -> None:
        self.folder = folder
        settings = Settings(var_dir=folder / "var", database_url=url, run_concurrency=4)
        super().__init__(settings, lambda _stage, _line: None, **options)  # type: ignore[arg-type]

    def register(self) -> None:
        self.engine.register(WORKFLOW, self.workflow)
        self.engine.register(SETTLE, self.settle)

    def note(self, line: str) -> None:
        with (self.folder / "log").open("a") as file:
            file.write(line + "\n")

    def workflow(self, workflow_id: str, params: JsonObject) -> JsonObject:
        run_id, attempt = run_of(workflow_id)

        def begin() -> bool:
            self.note(f"begin {workflow_id}")
            return self.store.begin_attempt(run_id, attempt) is not None

        def lock() -> None:
            while True:
                try:
                    self.store.leases.acquire(run_id, [params["box"]], 1800)
                except DeviceLocked:
                    self.note(f"waits {workflow_id}")
                    time.sleep(0.2)
                else:
                    return

        def touch() -> None:
            self.store.journal.append(run_id, "r1", JournalAction.TOUCHING)
            self.note(f"touch {workflow_id} by {self.engine.executor}")
            while params.get("wait") and not (self.folder / "go").exists():
                time.sleep(0.02)
            self.store.journal.append(run_id, "r1", JournalAction.CONFIRMED)
            self.note(f"touched {workflow_id}")

        def end() -> None:
            self.note(f"end {workflow_id}")  # first: who sees the status reads the log
            self.store.set_status(run_id, RunStatus.KEPT, attempt=attempt)

        if not params.get("silent") and self.engine.run_step("begin", begin):
            if "box" in params:
                self.engine.run_step("lock", lock)
            self.engine.run_step("touch", touch)
            self.engine.run_step("release", lambda: self.store.leases.release(run_id))
            self.engine.run_step("end", end)
        return {}

    def settle(self, workflow_id: str, params: JsonObject) -> JsonObject:
        def undo() -> None:
            for touch in self.store.journal.open_touches(params["run"]):
                self.store.journal.append(touch.run_id, touch.device, JournalAction.UNDONE)
            self.note(f"settled {params['run']}")

        self.engine.run_step("undo", undo)
        return {}


def work(folder: Path, url: str, version: str, times: LeaseTimes, ready: Connection) -> None:
    """Work until SIGTERM; tells through ``ready`` when it does."""
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    executor = SmallExecutor(folder, url, workflow_version=version, times=times)
    executor.start()
    ready.send(executor.engine.executor)
    stop.wait()
    if not executor.stop():
        sys.exit("steps in flight did not end")
