"""The command ``worker``: carries out runs, beside any number of other workers on one PostgreSQL database."""

from __future__ import annotations

import os
from typing import Annotated

import structlog
import typer
from prometheus_client import CollectorRegistry

from qosforge.cli.entry import look_as_usual
from qosforge.cli.serve import Metrics, warn_of_unknown_variables
from qosforge.cli.signals import StopSignal
from qosforge.database.connections import is_embedded
from qosforge.database.pool_gauges import PoolGauges
from qosforge.errors import InputError, Place, ServiceError
from qosforge.executor.executor import Executor
from qosforge.release import release
from qosforge.settings import load_settings
from qosforge.telemetry.exposition import exposed_metrics
from qosforge.telemetry.logs import configure_logs
from qosforge.telemetry.metrics import PROCESS
from qosforge.telemetry.traces import start_traces

_LOG = structlog.get_logger(__name__)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(worker)


def worker(
    drain: Annotated[
        float, typer.Option(min=0, metavar="SECONDS", help="How long steps in flight may take when it is stopped.")
    ] = 60,
    metrics: Metrics = None,
    as_json: Annotated[bool, typer.Option("--json", help="Log as JSON, whatever the setting says.")] = False,
) -> None:
    """Carry out runs until it is stopped. Start as many as are wanted, on any machine that reaches the devices.

    On SIGTERM, SIGHUP (or Ctrl-C) it finishes the steps in flight and leaves the rest to the other workers.
    """
    settings = load_settings()
    if is_embedded(settings.database_url):
        raise InputError(
            "workers share a PostgreSQL database, and this installation has SQLite",
            Place(path="QOSFORGE_DATABASE_URL"),
            "set it to postgresql://…, or use `qosforge serve`, which carries out the runs itself on SQLite",
        )
    configure_logs("json" if as_json else settings.log_format)
    warn_of_unknown_variables()
    with StopSignal() as stop:
        end_traces = start_traces(settings.otlp_endpoint, release())
        executor = Executor(settings, lambda stage, line: _LOG.info(line, stage=stage))
        registry = CollectorRegistry()
        registry.register(PROCESS)
        registry.register(PoolGauges(executor.store.database))
        with exposed_metrics(registry, metrics):
            executor.start()
            look_as_usual()
            try:
                _LOG.info("working", executor=executor.engine.executor, at_once=settings.run_concurrency)
                stop.wait()
                _LOG.info("stopping")
            finally:
                ended = executor.stop(drain)
                end_traces()
    if not ended:
        _LOG.error("steps did not end in time; their runs are taken over when this lease runs out", seconds=drain)
        os._exit(ServiceError.exit_code)
