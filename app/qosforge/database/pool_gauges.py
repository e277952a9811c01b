"""Gauges of the connections that a process has to the database."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from qosforge.database.connections import Database


class PoolGauges(Collector):
    """Collects how many connections are in use, and how many there may be."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def collect(self) -> Iterator[Metric]:
        """The current gauges."""
        use = self._database.pool_use()
        connections = GaugeMetricFamily(
            "qosforge_database_connections", "Connections of this process to the database.", labels=("state",)
        )
        connections.add_metric(["used"], use.used)
        connections.add_metric(["idle"], use.idle)
        yield connections
        yield GaugeMetricFamily(
            "qosforge_database_connections_most", "Connections that this process opens at most.", use.most
        )
