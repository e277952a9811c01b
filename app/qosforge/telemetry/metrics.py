"""Prometheus metrics of this process: of its requests, and a registry for what else it counts."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator
from copy import copy

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Metric,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.registry import Collector

from qosforge.release import release

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4

NETWORK = "network"
"""The label that names a network; who may not see that network is not shown the series."""

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


# A series for the birth of each counter tells nobody anything.
disable_created_metrics()  # type: ignore[no-untyped-call]

PROCESS = CollectorRegistry()
"""What a process counts, whatever it does: its own memory and time, its release, ends of runs and stages."""

ProcessCollector(registry=PROCESS)
Gauge(
    "qosforge_build_info", "The release, and the Python it runs on.", ("release", "python"), registry=PROCESS
).labels(release(), platform.python_version()).set(1)


class Metrics:
    """Counts of the requests of one process, beside `PROCESS`; who has more to tell registers with ``registry``."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.registry.register(PROCESS)
        self.requests = Counter(
            "qosforge_http_requests", "Answered requests.", ("method", "route", "status"), registry=self.registry
        )
        self.seconds = Histogram(
            "qosforge_http_request_duration_seconds",
            "From a request's arrival to the end of its answer.",
            ("method", "route"),
            buckets=_SECONDS,
            registry=self.registry,
        )
        self.open = Gauge(
            "qosforge_http_requests_open", "Requests that are being answered.", registry=self.registry
        )

    def text(self, sees: Callable[[str], bool]) -> bytes:
        """Metrics in Prometheus' text format; series of a network only where ``sees`` says yes to its name."""
        return generate_latest(_Seen(self.registry, sees))


class _Seen(Collector):
    """What a registry tells to who sees some networks."""

    def __init__(self, registry: CollectorRegistry, sees: Callable[[str], bool]) -> None:
        self._registry = registry
        self._sees = sees

    def collect(self) -> Iterator[Metric]:
        for metric in self._registry.collect():
            seen = copy(metric)
            seen.samples = [
                sample
                for sample in metric.samples
                if NETWORK not in sample.labels or self._sees(sample.labels[NETWORK])
            ]
            yield seen
