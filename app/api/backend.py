"""The parts of the service that routes work with. None of them touches the run engine."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field

from app.access.access import Access
from app.access.oidc import Provider, open_provider
from app.api.background import Background
from app.api.compute import Compute
from app.api.gauges import Gauges
from app.api.previews import Previews
from app.database.connections import Database
from app.inventory.catalogue import Networks
from app.runs.artifacts import Artifacts, open_artifacts
from app.runs.desk import Desk
from app.runs.policies import PolicyLibrary
from app.runs.store import RunStore
from app.settings import Settings
from app.telemetry.metrics import Metrics

PATIENCE_SECONDS = 5.0
"""How long a request waits for a database that is away; then its caller is told to come again."""

SHORT_SECONDS = 120.0
LONG_SECONDS = 600.0
"""How long a computation that pages wait for may take, such as a prediction, and such as a whole experiment."""

_PRELOAD = ("app.api.preview_job",)
"""What computing processes import before their first call."""


@dataclass(frozen=True)
class Backend:
    """One process's own; every part is safe to share between threads."""

    settings: Settings
    database: Database
    access: Access
    provider: Provider | None
    networks: Networks
    artifacts: Artifacts
    policies: PolicyLibrary
    desk: Desk
    compute: Compute
    background: Background
    previews: Previews
    metrics: Metrics
    stopping: threading.Event = field(default_factory=threading.Event)
    """Set when the service is to end: what lasts, such as an event stream, ends then."""


@contextmanager
def open_backend(settings: Settings) -> Iterator[Backend]:
    """The parts that the settings describe, while the block lasts.

    Raises:
        InputError: the settings name something that cannot be.
        StoreError: the store cannot be opened, or a newer release wrote it.
    """
    settings.make_var_dir()
    with ExitStack() as opened:
        store = opened.enter_context(RunStore(settings.database_url, patience=PATIENCE_SECONDS))
        database = store.database
        artifacts = open_artifacts(settings, database)
        compute = opened.enter_context(closing(Compute(settings.compute_processes, _PRELOAD)))
        networks = Networks(settings.inventories_dir)
        background = opened.enter_context(closing(Background(SHORT_SECONDS, LONG_SECONDS)))
        previews = Previews(settings, networks, compute)
        metrics = Metrics()
        metrics.registry.register(Gauges(database, compute, previews))
        yield Backend(
            settings=settings,
            database=database,
            access=Access(database, settings),
            provider=open_provider(settings),
            networks=networks,
            artifacts=artifacts,
            policies=PolicyLibrary(database, artifacts),
            desk=Desk(settings, store, artifacts),
            compute=compute,
            background=background,
            previews=previews,
            metrics=metrics,
        )
