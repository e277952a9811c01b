"""The parts of the service that routes work with. None of them touches the run engine."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field

from app.access.access import Access
from app.api.compute import Compute
from app.database.connections import Database
from app.inventory.catalogue import Networks
from app.runs.artifacts import Artifacts, open_artifacts
from app.runs.desk import Desk
from app.runs.policies import Policies
from app.runs.store import RunStore
from app.settings import Settings

_PRELOAD = ("app.compiler.compile", "app.validation")
"""What computing processes import before their first call."""


@dataclass(frozen=True)
class Backend:
    """One process's own; every part is safe to share between threads."""

    settings: Settings
    database: Database
    access: Access
    networks: Networks
    artifacts: Artifacts
    policies: Policies
    desk: Desk
    compute: Compute
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
        database = opened.enter_context(closing(Database(settings.database_url)))
        artifacts = open_artifacts(settings, database)
        store = opened.enter_context(RunStore(settings.database_url))
        compute = opened.enter_context(closing(Compute(settings.compute_processes, _PRELOAD)))
        yield Backend(
            settings=settings,
            database=database,
            access=Access(database, settings),
            networks=Networks(settings.inventories_dir),
            artifacts=artifacts,
            policies=Policies(database, artifacts),
            desk=Desk(settings, store, artifacts),
            compute=compute,
        )
