"""The application's own functions over runs: what the command line, REST and the web form call."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.errors import QosforgeError
from app.reports.run_report import render_run_report
from app.runs.artifacts import open_artifacts
from app.runs.context import Observer
from app.runs.dbos_engine import DbosEngine
from app.runs.desk import Desk, Order
from app.runs.loop import WORKFLOW, Loop, run_of
from app.runs.report import run_report
from app.runs.store import RunStore
from app.runs.tables import RunStatus, Verdict
from app.settings import Settings

Json = dict[str, Any]


@dataclass(frozen=True)
class Finished:
    """How a run ended."""

    run_id: str
    result: Json
    report: Path

    @property
    def good(self) -> bool:
        """Kept, or nothing to do and nothing broken."""
        status, verdict = self.result["status"], self.result.get("verdict")
        return status in (RunStatus.KEPT, RunStatus.NOTHING_TO_DO) and verdict in (None, Verdict.MET)


class Service:
    """Runs on this machine's store; it owns the engine while it is open."""

    def __init__(self, settings: Settings, observe: Observer) -> None:
        """Open the store and launch the engine.

        Raises:
            EngineBusy: another process owns the engine.
            StoreError: the store cannot be opened.
        """
        settings.make_var_dir()
        self.settings = settings
        self.store = RunStore(settings.database_url)
        self.artifacts = open_artifacts(settings, self.store.database)
        self.desk = Desk(settings, self.store, self.artifacts)
        self.engine = DbosEngine(settings.var_dir)
        self.loop = Loop(self.store, self.artifacts, self.engine, observe)
        self.loop.register()

    def run(self, order: Order, who: str) -> Finished:
        """Carry out a run to its end, or until it has to wait.

        Raises:
            InputError: the order is wrong: see `Desk.place`.
        """
        return self.carry_out(self.desk.place(order, who)[0].id)

    def carry_out(self, run_id: str) -> Finished:
        """Carry out the present attempt at a recorded run to its end, or until it has to wait."""
        try:
            result = self.loop.carry_out(run_id)
        except QosforgeError as error:
            self.write_report(run_id)
            if self.store.journal.open_touches(run_id):
                error.mend = f"run {run_id} left boxes between two states: finish it with qosforge recover"
            raise
        return Finished(run_id, result, self.write_report(run_id))

    def recover(self) -> list[Json]:
        """Finish every run that may go on, and undo what ended runs left open; how each of them ended."""
        ended: list[Json] = []
        for recovered in self.engine.recover():
            error = recovered.error
            run_id = run_of(recovered.run_id)[0]
            ended.append(
                {
                    "run": run_id,
                    "status": (recovered.result or {}).get("status", "failed"),
                    "errors": [error.document()] if error else (recovered.result or {}).get("errors", []),
                }
            )
            if recovered.workflow == WORKFLOW:
                self.write_report(run_id)
        for run_id in self.loop.unsettled():
            result = self.loop.settle(run_id)
            status = RunStatus.NEEDS_RECOVERY if result["errors"] else RunStatus.ROLLED_BACK
            ended.append({"run": run_id, "status": status.value, "errors": result["errors"]})
            self.write_report(run_id)
        for run in self.store.due_runs():
            self.store.next_attempt(run)
        for run in self.store.runs_in({RunStatus.PENDING}):
            # Asked for, approved or tried again, and no process has taken it up.
            try:
                done = self.carry_out(run.id).result
            except QosforgeError as caught:
                ended.append({"run": run.id, "status": RunStatus.FAILED.value, "errors": [caught.document()]})
            else:
                ended.append({"run": run.id, "status": done["status"], "errors": done["errors"]})
        return ended

    def write_report(self, run_id: str) -> Path:
        """Write the HTML report of a run into ``var/reports``."""
        folder = self.settings.var_dir / "reports"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{run_id}.html"
        path.write_text(render_run_report(run_report(self.store, self.artifacts, run_id)), encoding="utf-8")
        return path

    def close(self) -> None:
        """Let go of the engine and the store."""
        self.engine.close()
        self.store.close()


@contextmanager
def open_service(settings: Settings, observe: Observer) -> Iterator[Service]:
    """A service that owns the engine while the block lasts.

    Unfinished runs of a process that died are taken up at once; `Service.recover` waits for them.
    """
    service = Service(settings, observe)
    try:
        service.engine.launch()
        yield service
    finally:
        service.close()
