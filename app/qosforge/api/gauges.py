"""Gauges that are read from the store at every scrape: runs, executors, computations, webhooks, drift."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

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
from qosforge.runs.record.tables import RUNS, RunStatus
from qosforge.webhooks.deliveries import DeliveryState
from qosforge.webhooks.tables import DELIVERIES


class Gauges(Collector):
    """Collects the gauges; while the store does not answer, only one that says so."""

    def __init__(self, database: Database, compute: Compute, previews: Previews) -> None:
        self._database = database
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
            counts = self._runs()
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
        told = GaugeMetricFamily(
            "qosforge_webhook_deliveries", "Deliveries in the logs of webhooks, by their state.", labels=("state",)
        )
        for state in DeliveryState:
            told.add_metric([state.value], kept.get(state.value, 0))
        yield told
        yield from _drift(watches)

    def _runs(self) -> dict[str, int]:
        query = sa.select(RUNS.c.status, sa.func.count().label("runs")).group_by(RUNS.c.status)
        with self._database.read() as connection:
            return {row.status: row.runs for row in connection.execute(query)}

    def _deliveries(self) -> dict[str, int]:
        query = sa.select(DELIVERIES.c.state, sa.func.count().label("kept")).group_by(DELIVERIES.c.state)
        with self._database.read() as connection:
            return {row.state: row.kept for row in connection.execute(query)}


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
