"""Runs carried out by the calling process itself, as the command line does. Others only submit them."""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel

from qosforge.database.connections import is_embedded
from qosforge.errors import Place, QosforgeError, ServiceError
from qosforge.executor.executor import Executor
from qosforge.reports.model import RunReport
from qosforge.reports.run_report import render_run_report
from qosforge.runs.engine.port import RecoveredRun
from qosforge.runs.engine.workflow_ids import WORKFLOW, run_of, settled_by
from qosforge.runs.record.next_try import set_next_try
from qosforge.runs.record.step_error import StepError
from qosforge.runs.record.tables import RunStatus, Verdict
from qosforge.runs.requests.requests import RunRequests
from qosforge.runs.requests.resolve import RunDocuments
from qosforge.runs.requests.run_request import RunRequest
from qosforge.runs.views.report import run_report
from qosforge.runs.workflow.context import Observer
from qosforge.runs.workflow.results import AttemptResult, RestoreResult
from qosforge.settings import Settings

_AT_WORK = frozenset({RunStatus.PENDING, RunStatus.RUNNING, RunStatus.NEEDS_RECOVERY})
_POLL_SECONDS = 0.5
_LAST_WORDS_SECONDS = 5.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class RunResult:
    """How a run ended; ``page`` is where its report was written, or why it was not."""

    run_id: str
    result: AttemptResult
    report: RunReport
    page: Path | ServiceError

    @property
    def good(self) -> bool:
        """Kept or no changes, and nothing broken."""
        kept = self.result.status in (RunStatus.KEPT, RunStatus.NO_CHANGES)
        return kept and self.result.verdict in (None, Verdict.MET)


class RunEnd(BaseModel):
    """How a run ended that was recovered."""

    run: str
    status: RunStatus
    errors: list[StepError]


class Service:
    """Runs carried out by this process: it owns the engine on SQLite, and is one of its executors on PostgreSQL."""

    def __init__(self, settings: Settings, executor: Executor) -> None:
        self.settings = settings
        self.executor = executor
        self.store = executor.store
        self.artifacts = executor.artifacts
        self.engine = executor.engine
        self.run_workflow = executor.run_workflow
        self.run_requests = RunRequests(settings, self.store, self.artifacts)

    def run(self, request: RunRequest, documents: RunDocuments, who: str) -> RunResult:
        """Start a run and carry it out to its end, or until it has to wait.

        Raises:
            InputError: the request is wrong: see `RunRequests.submit`.
        """
        return self.execute(self.run_requests.submit(request, documents, who)[0].id)

    def execute(self, run_id: str) -> RunResult:
        """Carry out the present attempt at a recorded run to its end, or until it has to wait."""
        try:
            result = self.run_workflow.execute(run_id)
        except QosforgeError as error:
            self.write_report(run_id)
            if self.store.journal.open_touches(run_id):
                error.hint = f"run {run_id} left devices between two states: finish it with qosforge recover"
            raise
        report, page = self.write_report(run_id)
        return RunResult(run_id, result, report, page)

    def recover(self) -> list[RunEnd]:
        """Finish every run that may go on, and undo what ended runs left open; how each of them ended.

        On PostgreSQL workers do that all the time. This process helps them if it was opened for it, and else leaves
        the runs of others alone.
        """
        if self.store.database.is_embedded:
            return self._recover_own()
        return self._recover_shared() if self.executor.dispatches else []

    def _recover_shared(self) -> list[RunEnd]:
        """Work with the others until every run that was unfinished has ended, waits, or cannot be settled now."""
        left = {touch.run_id for touch in self.store.journal.open_touches()}
        left |= {run.id for run in self.store.runs_in(_AT_WORK)}
        for run in self.store.runs_in({RunStatus.NEEDS_RECOVERY}):
            set_next_try(self.store.database, run.id, self.store.now())  # whoever recovers wants no pause
        ended: list[RunEnd] = []
        while left:
            time.sleep(_POLL_SECONDS)
            open_now = {touch.run_id for touch in self.store.journal.open_touches()}
            for run_id in sorted(left):
                run = self.store.get_run(run_id)
                stuck = self.executor.dispatcher.settling_failed(run_id) and bool(
                    self.store.journal.open_touches(run_id)
                )
                if stuck or (run_id not in open_now and run.status not in _AT_WORK):
                    left.discard(run_id)
                    status = RunStatus.NEEDS_RECOVERY if stuck else run.status
                    ended.append(RunEnd(run=run_id, status=status, errors=[]))
                    self.write_report(run_id)
        return ended

    def _recover_own(self) -> list[RunEnd]:
        ended: list[RunEnd] = []
        self.executor.dispatcher.recover_lost()
        recovered_runs = self.engine.recover()
        self.executor.dispatcher.recover_lost()  # also those that the engine has given up meanwhile
        for recovered in recovered_runs:
            run_id = settled_by(recovered.run_id)
            if recovered.workflow == WORKFLOW:
                run_id = run_of(recovered.run_id)[0]
            if run_id is None:
                continue  # a point of a sweep
            ended.append(self._end_of(run_id, recovered))
            self.write_report(run_id)
        for run_id in self.run_workflow.unsettled():
            result = self.run_workflow.settle(run_id)
            status = RunStatus.NEEDS_RECOVERY if result.errors else self._status(run_id)
            ended.append(RunEnd(run=run_id, status=status, errors=result.errors))
            self.write_report(run_id)
        for run in self.store.due_runs():
            self.store.next_attempt(run)
        left = set(self.run_workflow.unsettled())
        for run in (run for run in self.store.runs_in({RunStatus.PENDING}) if run.id not in left):
            # Started, approved or tried again, and no process has taken it up.
            try:
                done = self.execute(run.id).result
            except QosforgeError as caught:
                ended.append(RunEnd(run=run.id, status=RunStatus.FAILED, errors=[StepError.of(caught)]))
            else:
                ended.append(RunEnd(run=run.id, status=done.status, errors=done.errors))
        return ended

    def _end_of(self, run_id: str, recovered: RecoveredRun) -> RunEnd:
        if recovered.error is not None:
            return RunEnd(run=run_id, status=self._status(run_id), errors=[StepError.of(recovered.error)])
        if recovered.workflow == WORKFLOW:
            result = AttemptResult.model_validate(recovered.result)
            return RunEnd(run=run_id, status=result.status, errors=result.errors)
        settled = RestoreResult.model_validate(recovered.result)
        return RunEnd(run=run_id, status=self._status(run_id), errors=settled.errors)

    def _status(self, run_id: str) -> RunStatus:
        return self.store.get_run(run_id).status

    def write_report(self, run_id: str) -> tuple[RunReport, Path | ServiceError]:
        """Write the HTML report of a run into ``var/reports``; the report, and where it is or why it is not there.

        A run is not worse for a report that takes too much, or that cannot be written.
        """
        path = self.settings.var_dir / "reports" / f"{run_id}.html"
        report = run_report(self.store, self.artifacts, run_id)
        try:
            page = self.executor.computing.run(run_id, lambda: None, render_run_report, report)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(page, encoding="utf-8")
        except ServiceError as error:
            return report, error
        except OSError as error:
            return report, ServiceError(f"the report cannot be written: {error.strerror}", Place(file=str(path)))
        return report, path


@contextmanager
def open_service(settings: Settings, observe: Observer, *, recovers: bool = False) -> Iterator[Service]:
    """A service, while the block lasts.

    On SQLite the unfinished runs of a process that died are taken up at once, and `Service.recover` waits for them.
    On PostgreSQL that is the workers' work, and this process's too if it ``recovers``; else it carries out what it
    begins itself.

    Raises:
        EngineBusy: on SQLite, another process owns the engine.
        StoreError: the store cannot be opened.
    """
    shared = not is_embedded(settings.database_url)
    executor = Executor(settings, observe, listen=recovers or not shared, dispatch=recovers and shared)
    executor.start()
    try:
        yield Service(settings, executor)
    finally:
        if not executor.stop():
            _end_anyway()


def _end_anyway() -> None:
    """End this process soon, though steps in flight do not: the interpreter would wait for their threads.

    Meanwhile the command says what it has to say.
    """

    def end() -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(ServiceError.exit_code)

    _log.error("steps did not end in time; their runs go on with the next process that carries out runs")
    last = threading.Timer(_LAST_WORDS_SECONDS, end)
    last.daemon = True
    last.start()
