"""An executor: a process that carries out runs, with its lease, the engine and the dispatcher."""

from __future__ import annotations

import time
from functools import partial

from qosforge.artifacts.store import open_artifacts
from qosforge.audit.file_audits import FileAuditPruning
from qosforge.batfish.service import BatfishService
from qosforge.compute import Compute
from qosforge.compute_process import Limits
from qosforge.database.connections import is_embedded
from qosforge.deploy.route import route_of_run
from qosforge.deploy.sessions import Sessions
from qosforge.device_state.drift_check import DriftChecks
from qosforge.executor.polling import Poller
from qosforge.runs.engine.computing import Computing
from qosforge.runs.engine.dbos_engine import DbosEngine
from qosforge.runs.engine.dispatch import HOLDERS_QUEUE, RUNS_QUEUE, Dispatcher
from qosforge.runs.engine.executor_leases import (
    EMBEDDED_LEASE_TIMES,
    LEASE_TIMES,
    ExecutorLease,
    LeaseTimes,
    new_executor_id,
)
from qosforge.runs.engine.port import WORKFLOW_VERSION, WorkflowQueue
from qosforge.runs.record.store import RunStore
from qosforge.runs.workflow.context import Observer
from qosforge.runs.workflow.rules import NetworkRules
from qosforge.runs.workflow.run_workflow import RunWorkflow
from qosforge.settings import Settings
from qosforge.sweeps.sweeps import Sweeps
from qosforge.sweeps.work import SWEEPS_QUEUE, SweepWork
from qosforge.webhooks.sender import Sender

DEVICES_SECONDS = 3.0
"""How long steps may go on with devices and computations once the process is to end; then both are stopped.

Of the ten seconds in which it is to be gone: the rest is for what is cut to come to its end on a busy machine."""
_UNWIND_SECONDS = 2.0

COMPUTED = (
    "qosforge.compiler.warm",
    "qosforge.reports.figures",
    "qosforge.reports.run_report",
    "qosforge.runs.workflow.candidates",
    "qosforge.device_state.drift_check",
    "qosforge.tester.twin_measurement",
    "qosforge.runs.workflow.steps.prepare",
    "qosforge.runs.workflow.steps.predict",
    "qosforge.sweeps.work",
)
"""Where the functions are that runs compute. What these modules take is no part of what a computation may take."""
FINISHING = ("qosforge.compiler.warm", "qosforge.tester.twin_measurement", "qosforge.runs.workflow.steps.prepare")
"""The same of what runs compute that have touched devices."""
_MORE = 1024
"""Calls beside those of the queue of runs: of runs that were put back into the other queues."""


class Executor:
    """Carries out runs in this process, between :meth:`start` and :meth:`stop`.

    On PostgreSQL any number of processes may; on SQLite the one that owns the engine. ``listen``: whether it takes
    runs from the queues, or only those begun in it; ``dispatch``: whether it looks after everybody's runs.
    ``observe`` is told what the stages do.
    """

    def __init__(
        self,
        settings: Settings,
        observe: Observer,
        *,
        listen: bool = True,
        dispatch: bool = True,
        workflow_version: str = WORKFLOW_VERSION,
        times: LeaseTimes | None = None,
    ) -> None:
        """Open the store.

        Raises:
            StoreError: it cannot be opened.
        """
        settings.make_var_dir()
        self._listen = listen
        self.dispatches = dispatch
        embedded = is_embedded(settings.database_url)
        executor = new_executor_id(embedded)
        self.store = RunStore(settings.database_url, executor=executor)
        self.lease = ExecutorLease(
            self.store.database,
            executor,
            workflow_version,
            times or (EMBEDDED_LEASE_TIMES if embedded else LEASE_TIMES),
        )
        self.artifacts = open_artifacts(settings, self.store.database)
        self.store.journal.guard = self.lease.guard
        self.engine = DbosEngine(
            settings.var_dir,
            url=None if embedded else self.store.database.url,
            store=self.store.database.path,
            executor=self.lease.id,
            queues=[
                WorkflowQueue(RUNS_QUEUE, settings.run_concurrency, settings.runs_per_minute),
                WorkflowQueue(HOLDERS_QUEUE),
                WorkflowQueue(SWEEPS_QUEUE, settings.run_concurrency, settings.runs_per_minute),
            ],
            workflow_version=workflow_version,
        )
        limits = Limits(settings.compute_megabytes, settings.compute_seconds)
        compute = Compute(settings.compute_processes, COMPUTED, limits)
        # None of them is refused: a run that has touched devices has nowhere else to go.
        finishing = Compute(settings.compute_processes, FINISHING, limits, waiting=settings.run_concurrency + _MORE)
        self.computing = Computing(compute, settings.compute_seconds, finishing, BatfishService.of(settings))
        self.sessions = Sessions(settings.device_limits, settings.device_sessions)
        self.run_workflow = RunWorkflow(
            self.store,
            self.artifacts,
            self.engine,
            observe,
            NetworkRules(settings),
            self.computing,
            self.sessions,
            partial(route_of_run, settings),
        )
        self.dispatcher = Dispatcher(self.store, self.engine)
        sweeps = Sweeps(self.store.database, self.artifacts)
        self.sweeps = SweepWork(sweeps, self.artifacts, self.engine, self.computing)
        self._sender = Sender(self.store.database, settings)
        self._drift = DriftChecks(self.store, self.artifacts, settings, self.computing, self.sessions)
        pruning = FileAuditPruning(self.store.database)
        self._looks = Poller(
            self.store.database,
            [self.dispatcher.tick, self.sweeps.tick, self._sender.tick, self._drift.tick, pruning.tick],
            news=self._any_due,
            busy=lambda: bool(self.engine.unfinished()),
        )
        self.register()

    def _any_due(self) -> bool:
        return (
            self.store.any_to_begin()
            or self.sweeps.sweeps.any_open()
            or self._sender.any_due()
            or self._drift.any_due()
        )

    def register(self) -> None:
        """Make the workflows known that this process can carry out."""
        self.run_workflow.register()
        self.sweeps.register()

    def start(self) -> None:
        """Acquire the lease, launch the engine, and begin to poll for work.

        Raises:
            EngineBusy: on SQLite, another process carries out the runs.
            StoreError: the database is away, or its record cannot be trusted.
        """
        try:
            # The owner of an engine on SQLite has the only lease; elsewhere no workflow begins without one.
            if self.store.database.is_embedded:
                self.engine.launch(self._listen)
                self.lease.acquire()
            else:
                self.lease.acquire()
                self.engine.launch(self._listen)
        except BaseException:
            self.stop()
            raise
        if self.dispatches:
            self._looks.start()

    def stop(self, drain_seconds: float = 60) -> bool:
        """Begin no step any more, wait for those in flight, and give the lease back: others go on at once.

        A step that is at devices or computes for longer than `DEVICES_SECONDS` is cut: either may take for ever. It
        is done again by who takes over.

        Returns whether the steps in flight ended within ``drain_seconds``. If not, it keeps the lease.
        """
        begun = time.monotonic()
        self._looks.stop()
        self._drift.stop()
        self._sender.stop()
        to_devices = min(drain_seconds, DEVICES_SECONDS)
        if not self.engine.close(max(0.0, begun + to_devices - time.monotonic())):
            self.sessions.close("the process ends")
            self.computing.close()
            if not self.engine.close(max(drain_seconds - to_devices, _UNWIND_SECONDS)):
                return False
        self.computing.close()
        self.lease.release()
        self.store.close()
        return True
