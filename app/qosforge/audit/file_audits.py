"""Audits of files that people gave, in the database, where every process of the service sees them, for a day."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
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


def begin_file_audit(database: Database, audit_id: str, person: str, now: datetime) -> bool:
    """Store that an audit begins; false where it is stored already. Old ones, and a failed one of this id, go."""

    def begin(connection: sa.Connection) -> bool:
        lost = _OF.result.is_(None) & (_OF.at < now - LOST_AFTER)
        failed = (_OF.id == audit_id) & _OF.result.is_(None) & (_OF.error.is_not(None) | lost)
        connection.execute(sa.delete(FILE_AUDITS).where((_OF.at < now - KEPT) | failed))
        row = insert_into(connection, FILE_AUDITS).values(id=audit_id, person=person, at=now)
        if not connection.execute(row.on_conflict_do_nothing()).rowcount:
            return False
        newest = (
            sa.select(_OF.id).where(_OF.person == person).order_by(_OF.at.desc(), _OF.id).limit(MOST_PER_PERSON)
        )
        # Read first: no database would have to delete from a table that it reads in the same statement.
        ids = list(connection.scalars(newest))
        connection.execute(sa.delete(FILE_AUDITS).where(_OF.person == person, _OF.id.not_in(ids)))
        return True

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
    row = sa.update(FILE_AUDITS).where(_OF.id == audit_id).values(values)
    database.transact(lambda connection: connection.execute(row))


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
