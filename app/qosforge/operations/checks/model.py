"""The result of a check, and the context that checks get."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

import sqlalchemy as sa

from qosforge.database.connections import UPGRADE_HINT, database_url
from qosforge.database.revisions import current_revision, known_revisions
from qosforge.errors import ServiceError
from qosforge.settings import Settings


class CheckState(StrEnum):
    """The state of what was checked."""

    GOOD = "good"
    WARNING = "warning"
    """It works, and will not do so for long or not for everything."""
    FAILED = "failed"
    """Something that is needed does not work."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one check, with a hint where it is not good."""

    name: str
    state: CheckState
    message: str
    hint: str = ""


@dataclass(frozen=True)
class CheckContext:
    """What checks read: the settings, the environment and the database. Checks change nothing."""

    settings: Settings
    environment: Mapping[str, str]
    networks: tuple[Path, ...] = ()
    """Folders of the networks to judge; all that the service knows where none is given."""
    now: Callable[[], datetime] = field(default=lambda: datetime.now(UTC))

    @property
    def is_embedded(self) -> bool:
        """Whether the store is a SQLite file."""
        return database_url(self.settings.database_url).get_backend_name() == "sqlite"

    def network_folders(self) -> list[Path]:
        """The folders of the networks to judge."""
        folder = self.settings.inventories_dir
        known = (entry for entry in folder.iterdir() if (entry / "hosts.yaml").is_file()) if folder.is_dir() else ()
        return list(self.networks) or sorted(known)

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A connection to the database as it is: nothing is made or migrated. A SQLite file is opened to read.

        Raises:
            sqlalchemy.exc.SQLAlchemyError: it cannot be reached.
        """
        url = database_url(self.settings.database_url)
        if self.is_embedded:
            url = url.set(database=Path(str(url.database)).as_uri(), query={"mode": "ro", "uri": "true"})
            engine = sa.create_engine(url)
        else:
            engine = sa.create_engine(url, connect_args={"connect_timeout": 5})
        try:
            with engine.connect() as connection:
                yield connection
        finally:
            engine.dispose()

    @contextmanager
    def store(self) -> Iterator[sa.Connection | None]:
        """A connection to a store of this release's own revision; ``None`` where it is not made yet.

        Raises:
            ServiceError: it holds other tables, which the check of the database tells.
        """
        if self.is_embedded and not self._database_exists():
            yield None
            return
        with self.reading() as connection:
            revision = current_revision(connection)
            if revision is None:
                yield None
                return
            if revision != known_revisions()[0]:
                raise ServiceError(
                    f"cannot be checked: the database holds revision {revision}, not {known_revisions()[0]}",
                    hint=UPGRADE_HINT
                    if revision in known_revisions()
                    else "use the release that wrote it, or a newer one",
                )
            yield connection

    def _database_exists(self) -> bool:
        return Path(str(database_url(self.settings.database_url).database)).is_file()


Check = Callable[[CheckContext], Iterator[CheckResult]]
"""Looks at one thing. What it raises of our own errors, of the operating system or of the database becomes a
failure under its name.
"""
