"""The parts of the service that routes use. None of them touches the run engine."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import ParamSpec, TypeVar

from qosforge.access.authentication import Access
from qosforge.access.oidc import Provider, open_provider
from qosforge.access.roles import Principal
from qosforge.api.gauges import Gauges
from qosforge.api.jobs.queue import JobQueues
from qosforge.api.previews import Previews
from qosforge.api.readiness import ReadinessProbe
from qosforge.artifacts.store import Artifacts, open_artifacts
from qosforge.compute import Compute
from qosforge.compute_process import Limits
from qosforge.database.connections import Database
from qosforge.database.pool_gauges import PoolGauges
from qosforge.device_state.summaries import DeviceSummaries
from qosforge.inventory.catalogue import Networks
from qosforge.policy_library.library import PolicyLibrary
from qosforge.runs.record.readings import last_text
from qosforge.runs.record.store import RunStore
from qosforge.runs.requests.requests import RunRequests
from qosforge.settings import Settings
from qosforge.telemetry.metrics import Metrics

P = ParamSpec("P")
T = TypeVar("T")

PATIENCE_SECONDS = 5.0
"""How long a request waits for a database that is away; then its caller is told to come again."""

SHORT_SECONDS = 120.0
LONG_SECONDS = 600.0
"""Time limits of background jobs: a prediction is a short one, a whole experiment a long one."""

_PRELOAD = ("qosforge.compiler.warm", "qosforge.api.jobs.preview")
"""What computing processes import before their first call."""


@dataclass(frozen=True)
class Backend:
    """The parts of one process; all of them are thread-safe."""

    settings: Settings
    database: Database
    access: Access
    provider: Provider | None
    networks: Networks
    artifacts: Artifacts
    policies: PolicyLibrary
    run_requests: RunRequests
    compute: Compute
    sources: Compute
    """Reads sources of inventories: a process of its own, as one that does not answer must hold up nothing else."""
    jobs: JobQueues
    previews: Previews
    summaries: DeviceSummaries
    metrics: Metrics
    readiness: ReadinessProbe
    stopping: threading.Event = field(default_factory=threading.Event)
    """Set when the service is to end: what lasts, such as an event stream, ends then."""

    def compute_for(self, caller: Principal, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """``function(*args, **kwargs)`` in a computing process, for a caller and within the request limit.

        Raises:
            TooBusy, TookTooLong, TookTooMuch, ComputeDied: as `Compute.call`.
        """
        seconds = self.settings.request_seconds
        return self.compute.call(partial(function, *args, **kwargs), timeout=seconds, caller=caller.name)


@contextmanager
def open_backend(settings: Settings) -> Iterator[Backend]:
    """Open the parts that the settings describe, while the block lasts.

    Raises:
        InputError: the settings name something that cannot be.
        StoreError: the store cannot be opened, or a newer or an earlier release wrote it.
    """
    settings.make_var_dir()
    with ExitStack() as opened:
        store = opened.enter_context(RunStore(settings.database_url, patience=PATIENCE_SECONDS))
        database = store.database
        artifacts = open_artifacts(settings, database)
        limits = Limits(settings.compute_megabytes, settings.compute_seconds)
        compute = opened.enter_context(closing(Compute(settings.compute_processes, _PRELOAD, limits)))
        sources = opened.enter_context(closing(Compute(1, limits=limits)))
        networks = Networks(settings.inventories_dir)
        jobs = opened.enter_context(closing(JobQueues(SHORT_SECONDS, LONG_SECONDS, limits)))
        known = partial(last_text, database, artifacts)
        previews = opened.enter_context(closing(Previews(settings, networks, compute, known)))
        metrics = Metrics()
        metrics.registry.register(Gauges(database, compute, previews))
        metrics.registry.register(PoolGauges(database))
        yield Backend(
            settings=settings,
            database=database,
            access=Access(database, settings),
            provider=open_provider(settings),
            networks=networks,
            artifacts=artifacts,
            policies=PolicyLibrary(database, artifacts),
            run_requests=RunRequests(settings, store, artifacts),
            compute=compute,
            sources=sources,
            jobs=jobs,
            previews=previews,
            summaries=opened.enter_context(closing(DeviceSummaries(store, artifacts, compute))),
            metrics=metrics,
            readiness=opened.enter_context(closing(ReadinessProbe(database, settings.var_dir))),
        )
