"""Gauges that are read from the store at every scrape: runs and leases, executors, webhooks, drift."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

import sqlalchemy as sa
from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from qosforge.api.previews import Previews
from qosforge.compute import Compute
from qosforge.database.connections import Database
from qosforge.device_state.drift_watch import DriftState, DriftWatch, drift_watches
from qosforge.errors import StoreError
from qosforge.runs.engine.executor_leases import live_executors
from qosforge.runs.record.tables import LEASES, RUNS, STAGES, UNFINISHED, RunStatus
from qosforge.webhooks.deliveries import DeliveryState
from qosforge.webhooks.tables import DELIVERIES


class Gauges(Collector):
    """Collects the gauges; while the store does not answer, only one that says so."""

    def __init__(self, database: Database, compute: Compute, previews: Previews) -> None:
        self._database = database.without_waiting()  # a scrape tells at once that the store is away
        self._compute = compute
        self._previews = previews

    def describe(self) -> Iterator[Metric]:
        """No metrics: registering must not read the store."""
        return iter(())

    def collect(self) -> Iterator[Metric]:
        """The current gauges."""
        yield GaugeMetricFamily("qosforge_compute_calls", "Computations at work and waiting.", self._compute.inside)
        previews = CounterMetricFamily("qosforge_previews", "Previews by whether they were kept.", labels=("kept",))
        previews.add_metric(["yes"], self._previews.hits)
        previews.add_metric(["no"], self._previews.misses)
        yield previews
        try:
            counts, since, stages = self._runs()
            held, left = self._leases()
            living = len(live_executors(self._database))
            kept = self._deliveries()
            watches = drift_watches(self._database)
        except StoreError:
            yield GaugeMetricFamily("qosforge_store_up", "Whether the store answers.", 0)
            return
        yield GaugeMetricFamily("qosforge_store_up", "Whether the store answers.", 1)
        yield GaugeMetricFamily("qosforge_executors", "Processes that carry out runs.", living)
        runs = GaugeMetricFamily("qosforge_runs", "Runs by status; pending ones are the queue.", labels=("status",))
        for status in RunStatus:
            runs.add_metric([status.value], counts.get(status.value, 0))
        yield runs
        yield from _oldest(since, stages)
        leases = GaugeMetricFamily(
            "qosforge_device_leases",
            "Devices that runs hold; expired ones are of processes that died.",
            labels=("state",),
        )
        leases.add_metric(["held"], held)
        leases.add_metric(["expired"], left)
        yield leases
        told = GaugeMetricFamily(
            "qosforge_webhook_deliveries", "Deliveries in the logs of webhooks, by their state.", labels=("state",)
        )
        for state in DeliveryState:
            told.add_metric([state.value], kept.get(state.value, 0))
        yield told
        yield from _drift(watches)

    def _runs(self) -> tuple[dict[str, int], dict[str, datetime], dict[str, datetime]]:
        """Runs by status; since when the longest is in each status that ends; the oldest open stage by its name."""
        query = sa.select(RUNS.c.status, sa.func.count().label("runs")).group_by(RUNS.c.status)
        unfinished = RUNS.c.status.in_([status.value for status in UNFINISHED])
        oldest = sa.select(RUNS.c.status, sa.func.min(RUNS.c.updated).label("since")).where(unfinished)
        stages = (
            sa.select(STAGES.c.name, sa.func.min(STAGES.c.started).label("since"))
            .join(RUNS, RUNS.c.id == STAGES.c.run_id)
            .where(RUNS.c.status == RunStatus.RUNNING.value, STAGES.c.ended.is_(None))
            .group_by(STAGES.c.name)
        )
        with self._database.read() as connection:
            return (
                {row.status: row.runs for row in connection.execute(query)},
                {row.status: row.since for row in connection.execute(oldest.group_by(RUNS.c.status))},
                {row.name: row.since for row in connection.execute(stages)},
            )

    def _leases(self) -> tuple[int, int]:
        with self._database.read() as connection:
            expires = list(connection.execute(sa.select(LEASES.c.expires)).scalars())
        held = sum(moment > datetime.now(UTC) for moment in expires)
        return held, len(expires) - held

    def _deliveries(self) -> dict[str, int]:
        query = sa.select(DELIVERIES.c.state, sa.func.count().label("kept")).group_by(DELIVERIES.c.state)
        with self._database.read() as connection:
            return {row.state: row.kept for row in connection.execute(query)}


def _oldest(since: Mapping[str, datetime], stages: Mapping[str, datetime]) -> Iterator[Metric]:
    runs = GaugeMetricFamily(
        "qosforge_runs_oldest_timestamp_seconds",
        "Since when the run is that has been in a status for the longest time; pending: the age of the queue.",
        labels=("status",),
    )
    for status, moment in since.items():
        runs.add_metric([status], moment.timestamp())
    yield runs
    open_stages = GaugeMetricFamily(
        "qosforge_stages_oldest_timestamp_seconds",
        "When the stage began that is open for the longest time, of runs under way.",
        labels=("stage",),
    )
    for stage, moment in stages.items():
        open_stages.add_metric([stage], moment.timestamp())
    yield open_stages


def _drift(watches: Sequence[DriftWatch]) -> Iterator[Metric]:
    """Of networks that are looked at: no names, so that the metrics may be seen by viewers of any network."""
    watched = [watch for watch in watches if watch.minutes is not None]
    counts = Counter(watch.state for watch in watched)
    networks = GaugeMetricFamily(
        "qosforge_drift_networks", "Networks that are looked at for drift, by what was found.", labels=("state",)
    )
    for state in DriftState:
        networks.add_metric([state.value], counts[state])
    yield networks
    drifted = sum(len(watch.drifted) for watch in watched)
    yield GaugeMetricFamily("qosforge_drift_devices", "Devices of these networks that are drifted.", drifted)
    looks = [watch.looked.timestamp() for watch in watched if watch.looked is not None]
    if looks:
        yield GaugeMetricFamily(
            "qosforge_drift_oldest_look_timestamp_seconds", "The look that is longest ago.", min(looks)
        )
