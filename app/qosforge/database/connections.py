"""Opening the database: SQLite in write-ahead mode or PostgreSQL; what is older stays as it is."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from copy import copy
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum, auto
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa
from alembic import command
from alembic.config import Config

from qosforge.database.pool import EMBEDDED_POOL, SERVER_POOL, PoolUse, pool_use
from qosforge.database.poolers import keeps_sessions
from qosforge.database.revisions import current_revision, known_revisions
from qosforge.database.sqlite_file import open_file, prepared, waiting
from qosforge.errors import InputError, Place, StoreError

OUTAGE_SECONDS = 60
"""How long a transaction is tried again while a database server is away: it may be restarted underneath."""

_RETRY_SECONDS = 0.5

_MIGRATION_LOCK = 0x716F73666F726765  # "qosforge": one migration at a time on a server

CHANNEL = "qosforge_changes"
"""Where :meth:`Database.announce` tells of changes on PostgreSQL."""

UPGRADE_HINT = "stop the service, then `qosforge database upgrade`, which backs it up first"
"""What to do with an older schema."""

SESSIONS_HINT = "name the server itself in QOSFORGE_DATABASE_URL, or set pool_mode = session in the pooler"
"""What to do with a pooler that keeps no sessions."""

PRIVILEGES_HINT = "let the user own the database, or grant what docs/operations.md has under Privileges"
"""What to do where the server does not let the user do something."""

_DENIED = "42501"
"""SQLSTATE of PostgreSQL's ``insufficient_privilege`` (appendix A)."""

T = TypeVar("T")


class Schema(Enum):
    """What a database may hold to be opened, and what becomes of it."""

    CURRENT = auto()
    """The newest revision; an empty database is given it, and an older one is refused."""
    AS_IS = auto()
    """Any revision that this release knows, to be read; nothing is made or changed."""
    UPGRADED = auto()
    """Any revision that this release knows, which becomes the newest; an empty database is given it."""


@dataclass(eq=False)
class DatabaseFailed(StoreError):
    """The database, or its driver, says what is wrong: with addresses that are the operator's to know."""


@dataclass(eq=False)
class SchemaOutdated(DatabaseFailed):
    """The database holds a revision of an earlier release."""


class Database:
    """One database, with short transactions; safe to share between threads.

    On SQLite writers follow each other, readers see one snapshot and block nobody. On PostgreSQL both are the
    server's own transactions.
    """

    def __init__(self, url: str, *, patience: float = OUTAGE_SECONDS, schema: Schema = Schema.CURRENT) -> None:
        """Open the database as ``schema`` says; safe with several processes at once.

        ``patience`` is how many seconds a transaction waits for a server that is away.

        Raises:
            InputError: ``url`` is neither a SQLite file nor a PostgreSQL database.
            SchemaOutdated: an earlier release wrote it, and ``schema`` asks for the newest revision.
            StoreError: it cannot be opened, or a newer release wrote it.
        """
        self.url = database_url(url)
        self.path = Path(str(self.url.database)) if self.is_embedded else None
        self._patience = patience
        self._pool = EMBEDDED_POOL if self.is_embedded else SERVER_POOL
        if self.path is not None:
            self._engine, self._reader = open_file(self.url)
        else:
            self._engine = sa.create_engine(
                self.url, pool_pre_ping=True, pool_size=self._pool.kept, max_overflow=self._pool.more
            )
            self._reader = self._engine.execution_options(
                isolation_level="REPEATABLE READ", postgresql_readonly=True
            )
        try:
            self._prepare(schema)
        except OSError as error:
            self.close()
            raise self._trouble("cannot be opened", error.strerror or str(error)) from error
        except BaseException:
            self.close()
            raise

    @property
    def is_embedded(self) -> bool:
        """Whether it is a SQLite file, which one machine has for itself."""
        return self.url.get_backend_name() == "sqlite"

    @contextmanager
    def write(self) -> Iterator[sa.Connection]:
        """A transaction that may write; committed at the end, rolled back on any exception."""
        with self._store_errors(), self._begin(self._engine) as connection:
            yield connection

    @contextmanager
    def read(self) -> Iterator[sa.Connection]:
        """One consistent snapshot to read from."""
        with self._store_errors(), self._begin(self._reader) as connection:
            yield connection

    def transact(self, work: Callable[[sa.Connection], T]) -> T:
        """Do ``work`` in one writing transaction, and again as long as the server is away in between.

        ``work`` may have been committed by an attempt whose answer was lost: it must bear to be repeated.
        """
        return self._retry(self._engine, work)

    def query(self, work: Callable[[sa.Connection], T]) -> T:
        """Read in one transaction, and again as long as the server is away in between."""
        return self._retry(self._reader, work)

    def serialize(self, connection: sa.Connection, what: str) -> None:
        """Let one transaction at a time go on that names ``what``, over all processes, until it ends.

        SQLite has one writing transaction at a time anyway.
        """
        if not self.is_embedded:
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(sa.func.hashtextextended(what, 0))))

    def announce(self, connection: sa.Connection) -> None:
        """Tell who listens, once this transaction is committed, that there is something to look at.

        On SQLite who looks sees every commit: see `qosforge.database.changes`.
        """
        if not self.is_embedded:
            connection.execute(sa.select(sa.func.pg_notify(CHANNEL, "")))

    def own_connection(self) -> Any:
        """A connection of the driver that no pool has any more; who asked closes it."""
        with self._store_errors():
            pooled = self._engine.raw_connection()
            connection = pooled.driver_connection
            pooled.detach()
            return connection

    def now(self, connection: sa.Connection) -> datetime:
        """The moment by the database's clock, which all machines share; on SQLite by this machine's."""
        if self.is_embedded:
            return datetime.now(UTC)
        moment: datetime = connection.execute(sa.select(sa.func.clock_timestamp())).scalar_one()
        return moment.astimezone(UTC)

    def without_waiting(self) -> Database:
        """The same database and its connections, which waits for no server that is away."""
        other = copy(self)
        other._patience = 0
        return other

    def attempt(self, work: Callable[[sa.Connection], object], seconds: float) -> bool:
        """Do ``work`` in one writing transaction, and try once; False where others write for longer than that.

        Raises:
            StoreError: it cannot be written.
        """
        with self._store_errors(), self._engine.connect() as connection:
            patience = waiting(connection, seconds) if self.is_embedded else nullcontext()
            try:
                with patience, connection.begin():
                    if not self.is_embedded:
                        connection.exec_driver_sql(f"SET LOCAL lock_timeout = {int(seconds * 1000)}")
                    work(connection)
            except sa.exc.OperationalError as error:
                if not _is_locked(error):
                    raise
                return False
        return True

    def pool_use(self) -> PoolUse:
        """The connections of this process to the database, now."""
        return pool_use(self._engine, self._pool)

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()

    @contextmanager
    def _begin(self, engine: sa.Engine) -> Iterator[sa.Connection]:
        deadline = time.monotonic() + self._patience
        while True:
            try:
                connection = engine.connect()
                break
            except sa.exc.DBAPIError as error:
                if not self._worth_waiting(error, deadline):
                    raise
            time.sleep(_RETRY_SECONDS)
        with connection, connection.begin():
            yield connection

    def _retry(self, engine: sa.Engine, work: Callable[[sa.Connection], T]) -> T:
        deadline = time.monotonic() + self._patience
        while True:
            try:
                with engine.begin() as connection:
                    return work(connection)
            except sa.exc.DBAPIError as error:
                if not self._worth_waiting(error, deadline):
                    with self._store_errors():
                        raise
            time.sleep(_RETRY_SECONDS)

    def _worth_waiting(self, error: sa.exc.DBAPIError, deadline: float) -> bool:
        away = not self.is_embedded and (error.connection_invalidated or _is_away(error))
        return away and time.monotonic() < deadline

    def _prepare(self, schema: Schema) -> None:
        if schema is Schema.AS_IS:
            if self.path is not None and not self.path.is_file():
                raise self._nothing()
            with self.read() as connection:
                self._settle(connection, schema)
        elif self.path is None:
            self._require_sessions()
            with self._store_errors(), self._engine.begin() as connection:
                connection.execute(sa.text("SELECT pg_advisory_xact_lock(:key)"), {"key": _MIGRATION_LOCK})
                self._settle(connection, schema)
        else:
            with self._store_errors(), prepared(self.path), self._engine.begin() as connection:
                self._settle(connection, schema)

    def _require_sessions(self) -> None:
        """Refuse a pooler that keeps no sessions: statements that a client prepared would be gone, or another's."""
        try:
            kept = keeps_sessions(self.url)
        except sa.exc.DBAPIError as error:
            why = str(error.orig)
            if "pooling mode" in why:  # PgBouncer's own words, where it pools single statements
                raise self._trouble("keeps no sessions", why, SESSIONS_HINT) from error
            raise self._trouble("failed", why) from error
        if not kept:
            why = "a pooler gives each transaction to any connection of its own"
            raise self._trouble("keeps no sessions", why, SESSIONS_HINT)

    def _settle(self, connection: sa.Connection, schema: Schema) -> None:
        revision = current_revision(connection)
        if revision is None and schema is Schema.AS_IS:
            raise self._nothing()
        if revision not in (None, *known_revisions()):
            why = f"revision {revision}, and {known_revisions()[0]} is the newest here"
            raise self._trouble("is of a later release", why, "use the release that wrote it, or a newer one")
        if revision is None or schema is Schema.UPGRADED:
            migrate(connection)
        elif revision != known_revisions()[0] and schema is Schema.CURRENT:
            why = f"revision {revision}, and this release works with {known_revisions()[0]} alone"
            trouble = self._trouble("is of an earlier release", why, UPGRADE_HINT)
            raise SchemaOutdated(trouble.message, trouble.where, trouble.hint)

    def _nothing(self) -> StoreError:
        hint = "check QOSFORGE_VAR_DIR and QOSFORGE_DATABASE_URL; a new store is made when the service first starts"
        return StoreError("there is no run store", self._place(), hint)

    @contextmanager
    def _store_errors(self) -> Iterator[None]:
        try:
            yield
        except sa.exc.IntegrityError:
            raise  # a broken rule of ours, not a sick database
        except sa.exc.DatabaseError as error:
            denied = getattr(error.orig, "sqlstate", None) == _DENIED
            raise self._trouble("failed", str(error.orig), PRIVILEGES_HINT if denied else "") from error
        except sqlite3.Error as error:
            raise self._trouble("failed", str(error)) from error

    def _trouble(self, what: str, why: str, hint: str = "") -> DatabaseFailed:
        if self.path is None:
            otherwise = "check that the server runs, and that user, password and database are those of it"
        else:
            otherwise = "check that the file is a run store, can be written and that its disk has space"
        return DatabaseFailed(f"the run store {what}: {why}", self._place(), hint or otherwise)

    def _place(self) -> Place:
        if self.path is None:
            return Place(path=self.url.render_as_string(hide_password=True))
        return Place(file=str(self.path))


def migrate(connection: sa.Connection) -> None:
    """Bring the tables to the newest revision, from whichever they have."""
    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", "qosforge.database:migrations")
    command.upgrade(config, "head")


def database_url(url: str) -> sa.URL:
    """The URL as it is opened: an absolute SQLite file, or PostgreSQL by psycopg.

    Raises:
        InputError: it is neither.
    """
    hint = "write sqlite:///path/to/file or postgresql://user@host/database"
    try:
        parsed = sa.make_url(url)
    except sa.exc.ArgumentError as error:
        raise InputError("the database URL cannot be read", hint=hint) from error
    backend = parsed.get_backend_name()
    if backend == "postgresql" and parsed.database:
        return parsed.set(drivername="postgresql+psycopg")
    if backend != "sqlite" or parsed.database in (None, "", ":memory:"):
        raise InputError(f"the run store cannot live in {parsed.render_as_string(hide_password=True)}", hint=hint)
    return sa.URL.create("sqlite", database=str(Path(str(parsed.database)).absolute()))


def is_embedded(url: str) -> bool:
    """Whether the database at ``url`` is a SQLite file; errors as :func:`database_url`."""
    return database_url(url).get_backend_name() == "sqlite"


def _is_away(error: sa.exc.DBAPIError) -> bool:
    """Whether the server refused or dropped the connection, rather than the statement.

    SQLSTATE class 08 is a connection's; 57P01 to 57P03: a server goes down or comes up (PostgreSQL, appendix A).
    """
    state = getattr(error.orig, "sqlstate", None)
    if state is None:
        return isinstance(error, sa.exc.OperationalError)
    return str(state).startswith("08") or state in ("57P01", "57P02", "57P03")


def _is_locked(error: sa.exc.DBAPIError) -> bool:
    """Whether somebody else holds what was to be written; 55P03 is PostgreSQL's ``lock_not_available``."""
    if isinstance(error.orig, sqlite3.Error):
        return error.orig.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
    return getattr(error.orig, "sqlstate", None) == "55P03"
