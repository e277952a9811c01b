"""Dump and restore of a PostgreSQL installation by PostgreSQL's own programs: one snapshot of every schema."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import sqlalchemy as sa

from qosforge.errors import InputError, Place, ServiceError, StoreError
from qosforge.operations.archive import PASSING

_VERSION = re.compile(r"\(PostgreSQL\) (\d+)")
_SECONDS = 3600

_OBJECTS = """
SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE left(n.nspname, 3) <> 'pg_' AND n.nspname <> 'information_schema' AND c.relkind <> 'i' AND NOT EXISTS (
  SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
"""
"""What a database has beside the server's own and what its extensions brought; indexes go with their tables."""
_OF_EXTENSION = re.compile(r"\d+; \d+ \d+ (?:COMMENT - )?EXTENSION ")
"""A line of a dump's table of contents."""


def major_version(connection: sa.Connection) -> int:
    """Major version of the server."""
    return int(connection.exec_driver_sql("SHOW server_version_num").scalar_one()) // 10000


def export_snapshot(connection: sa.Connection) -> str:
    """Name of what this transaction sees, for a dump of the same moment while the transaction lasts."""
    return str(connection.scalar(sa.select(sa.func.pg_export_snapshot())))


def dump(url: sa.URL, server: int, into: Path, snapshot: str) -> None:
    """Dump a database into a file, as an open transaction sees it: ``snapshot`` is from :func:`export_snapshot`.

    Raises:
        ServiceError: ``pg_dump`` is missing, or older than the server.
        StoreError: it failed.
    """
    tool = program("pg_dump", server)
    _run(
        [
            *(tool, "--format=custom", "--no-owner", "--no-privileges"),
            *(f"--exclude-table-data=*.{table}" for table in PASSING),
            *(f"--snapshot={snapshot}", f"--file={into}", _address(url)),
        ],
        url,
        "dumped",
    )
    into.chmod(0o600)


def check(archive: Path, dumped_from: int) -> None:
    """Read a dump to its end, as a restore would.

    Raises:
        ServiceError: ``pg_restore`` is missing, or too old.
        StoreError: the dump cannot be read.
    """
    tool = program("pg_restore", dumped_from)
    _require_read(_call([tool, f"--file={os.devnull}", str(archive)], dict(os.environ)))


def _require_read(done: subprocess.CompletedProcess[str]) -> None:
    if done.returncode != 0:
        told = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise StoreError(f"the dump cannot be read: {told[0]}", hint="take another backup")


def restore(url: sa.URL, archive: Path, dumped_from: int) -> None:
    """Restore a dump into an empty database, whole or not at all.

    Extensions are left to the server's administrator, who made them and who alone may: no table here needs one.

    Raises:
        InputError: the database is not empty, or its server is older than the one that was dumped.
        ServiceError: ``pg_restore`` is missing, or too old.
        StoreError: it failed.
    """
    place = Place(path=url.render_as_string(hide_password=True))
    engine = sa.create_engine(url)
    try:
        with engine.connect() as connection:
            objects, server = connection.exec_driver_sql(_OBJECTS).scalar_one(), major_version(connection)
    except sa.exc.DBAPIError as error:
        raise StoreError(
            f"the database cannot be reached: {error.orig}", place, "make it with createdb, and check the URL"
        ) from error
    finally:
        engine.dispose()
    if objects:
        raise InputError("the database is not empty", place, "make a new one with createdb")
    if server < dumped_from:
        raise InputError(
            f"the server is PostgreSQL {server}, and the backup is of {dumped_from}", place, "use as new a server"
        )
    tool = program("pg_restore", max(server, dumped_from))
    options = ["--no-owner", "--no-privileges", "--exit-on-error", "--single-transaction"]
    with tempfile.NamedTemporaryFile("w", prefix="qosforge-") as contents:
        contents.writelines(_contents(tool, archive))
        contents.flush()
        command = [tool, *options, f"--use-list={contents.name}", f"--dbname={_address(url)}", str(archive)]
        _run(command, url, "restored")


def _contents(tool: str, archive: Path) -> list[str]:
    """The lines of a dump's table of contents, but for those of extensions."""
    done = _call([tool, "--list", str(archive)], dict(os.environ))
    _require_read(done)
    return [line for line in done.stdout.splitlines(keepends=True) if not _OF_EXTENSION.match(line)]


def program(name: str, server: int) -> str:
    """Path of a client program as new as the server.

    Raises:
        ServiceError: it is missing or older.
    """
    hint = f"install PostgreSQL's client programs, version {server} or newer (a package such as postgresql-client)"
    path = shutil.which(name)
    if path is None:
        raise ServiceError(f"{name} is missing", hint=hint)
    told = subprocess.run(  # noqa: S603 (PostgreSQL's own program)
        [path, "--version"], capture_output=True, text=True, check=False, timeout=30
    ).stdout
    found = _VERSION.search(told)
    if found is None or int(found[1]) < server:
        raise ServiceError(f"{name} is too old: {told.strip() or 'it tells no version'}", Place(file=path), hint)
    return path


def _address(url: sa.URL) -> str:
    """The URL as libpq reads it, without the password: arguments can be seen by everybody on the machine."""
    open_ = sa.URL.create("postgresql", url.username, None, url.host, url.port, url.database, url.query)
    return open_.render_as_string()


def _run(command: list[str], url: sa.URL, what: str) -> None:
    environment = dict(os.environ) | ({"PGPASSWORD": str(url.password)} if url.password else {})
    place = Place(path=url.render_as_string(hide_password=True))
    try:
        done = _call(command, environment)
    except subprocess.TimeoutExpired as error:
        raise StoreError(f"the database was not {what} within an hour", place) from error
    if done.returncode != 0:
        told = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise StoreError(f"the database cannot be {what}: {told[0]}", place, "see PostgreSQL's log")


def _call(command: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 (PostgreSQL's own program; no shell reads the URL)
        command,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=_SECONDS,
        stdin=subprocess.DEVNULL,
    )
