"""Audits of files that people gave, in the database, where every process of the service sees them, for a day."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa

from qosforge.audit.tables import FILE_AUDITS
from qosforge.database.connections import Database
from qosforge.database.upsert import insert_into
from qosforge.errors import InputError, Place, QosforgeError

KEPT = timedelta(days=1)
"""How long an audit is kept after the files were given."""
MOST_PER_PERSON = 20
"""Audits of a person that are kept, the newest ones."""
MOST_BYTES_PER_PERSON = 32 << 20
"""Bytes of a person's stored results and files together; the newest audit is kept, however large."""
PRUNE_SECONDS = 600.0
"""How often audits are deleted that are kept no longer."""
LOST_AFTER = timedelta(minutes=15)
"""An audit without a result for so long has none to come: the process that made it ended."""

_OF = FILE_AUDITS.c


@dataclass(frozen=True)
class FileAudit:
    """A stored audit: under way while it has neither ``result`` nor ``problems``. ``files`` are an archive."""

    at: datetime
    result: bytes | None
    files: bytes | None
    problems: tuple[QosforgeError, ...]


def begin_file_audit(database: Database, audit_id: str, person: str, now: datetime) -> datetime | None:
    """Store that an audit begins; old ones, and a failed one of this id, go.

    Returns when it began: ``now``, or earlier where it is under way; ``None`` where its result is stored.
    """

    def begin(connection: sa.Connection) -> datetime | None:
        lost = _OF.result.is_(None) & (_OF.at < now - LOST_AFTER)
        failed = (_OF.id == audit_id) & _OF.result.is_(None) & (_OF.error.is_not(None) | lost)
        drop_old_file_audits(connection, now)
        connection.execute(sa.delete(FILE_AUDITS).where(failed))
        row = insert_into(connection, FILE_AUDITS).values(id=audit_id, person=person, at=now)
        if not connection.execute(row.on_conflict_do_nothing()).rowcount:
            began: datetime | None = connection.scalar(
                sa.select(_OF.at).where(_OF.id == audit_id, _OF.result.is_(None))
            )
            return began
        _keep_newest(connection, person)
        return now

    return database.transact(begin)


def drop_file_audit(database: Database, audit_id: str) -> None:
    """Forget an audit that could not begin."""
    database.transact(lambda connection: connection.execute(sa.delete(FILE_AUDITS).where(_OF.id == audit_id)))


def end_file_audit(
    database: Database,
    audit_id: str,
    *,
    result: bytes | None = None,
    files: bytes | None = None,
    error: QosforgeError | None = None,
) -> None:
    """Store what came of an audit: the result, with the files where one has to be looked at again, or an error."""
    told = None if error is None else [one.document() for one in error.problems()]
    values = {"result": result, "files": files, "error": told}

    def end(connection: sa.Connection) -> None:
        connection.execute(sa.update(FILE_AUDITS).where(_OF.id == audit_id).values(values))
        person = connection.scalar(sa.select(_OF.person).where(_OF.id == audit_id))
        if person is not None:
            _keep_newest(connection, person)

    database.transact(end)


def drop_old_file_audits(connection: sa.Connection, now: datetime) -> None:
    """Delete audits that are kept no longer, with what people gave."""
    connection.execute(sa.delete(FILE_AUDITS).where(_OF.at < now - KEPT))


class FileAuditPruning:
    """Deletes audits that are kept no longer, from time to time, whether or not anybody begins another one."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._next = float("-inf")

    def tick(self) -> None:
        """Delete them, at most once in `PRUNE_SECONDS`.

        Raises:
            StoreError: the database is away.
        """
        if time.monotonic() < self._next:
            return
        self._database.transact(lambda connection: drop_old_file_audits(connection, datetime.now(UTC)))
        self._next = time.monotonic() + PRUNE_SECONDS


def _keep_newest(connection: sa.Connection, person: str) -> None:
    """Delete a person's audits beyond what is kept of one."""
    size = sa.func.coalesce(sa.func.length(_OF.result), 0) + sa.func.coalesce(sa.func.length(_OF.files), 0)
    newest = sa.select(_OF.id, size).where(_OF.person == person).order_by(_OF.at.desc(), _OF.id)
    total, gone = 0, []
    for number, (audit_id, length) in enumerate(connection.execute(newest)):
        total += length
        if number and (number >= MOST_PER_PERSON or total > MOST_BYTES_PER_PERSON):
            gone.append(audit_id)
    if gone:
        connection.execute(sa.delete(FILE_AUDITS).where(_OF.id.in_(gone)))


def find_file_audit(database: Database, audit_id: str, person: str, now: datetime) -> FileAudit | None:
    """Somebody's audit; ``None`` where it is not, or no longer, kept, or lost."""
    query = sa.select(_OF.at, _OF.result, _OF.files, _OF.error).where(
        _OF.id == audit_id, _OF.person == person, _OF.at >= now - KEPT
    )
    row = database.query(lambda connection: connection.execute(query).one_or_none())
    if row is None:
        return None
    problems = tuple(_problem(one) for one in row.error or ())
    if row.result is None and not problems and row.at < now - LOST_AFTER:
        return None
    return FileAudit(row.at, row.result, row.files, problems)


def _problem(document: dict[str, Any]) -> QosforgeError:
    return InputError(document["message"], Place(file=document.get("file")), document["hint"])
