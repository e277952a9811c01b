"""The audit log: one row per call that would change something, also those that were refused.

The database itself refuses to change or delete rows (triggers of the migration).
"""

from __future__ import annotations

import csv
import io
import json
import uuid
from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime, timedelta
from typing import Any, Literal

import sqlalchemy as sa

from qosforge.access.call_kinds import Kind, kind_of
from qosforge.access.tables import CALLS, LOGIN_ADDRESSES, OPEN_CALLS
from qosforge.database.connections import Database

UNKNOWN = 0
"""Status of a call whose process ended before it had answered: what it asked for may have been done."""

_FAILED, _BROKEN = 400, 500
ADDRESS_KEPT = timedelta(days=30)
"""How long it is kept from where a login failed."""
_SELECT = sa.select(
    *(column for column in CALLS.c if column.name != "kind"),
    sa.func.coalesce(LOGIN_ADDRESSES.c.address, "").label("address"),
).select_from(CALLS.outerjoin(LOGIN_ADDRESSES, LOGIN_ADDRESSES.c.seq == CALLS.c.seq))
"""What a call in the log is read from: its kind only finds it."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True)
class Call:
    """One call: actor, action, resource and result.

    ``actor`` is a user's name (empty: nobody was known), ``credential`` by what the actor was known, ``action``
    what was asked (``POST /api/v1/runs``), ``network`` empty where none is meant, ``resource`` what it was done to,
    ``status`` the HTTP status (commands: that of the same request; `UNKNOWN`: there was no answer), ``detail``
    further facts, ``reason`` the sentence in which its caller was told why it was refused or failed (empty where it
    was not). ``address`` is from where a login failed, and empty again after `ADDRESS_KEPT`. Never a secret.
    """

    action: str
    status: int
    actor: str = ""
    credential: str = ""
    network: str = ""
    resource: str = ""
    request_id: str = ""
    detail: dict[str, Any] = field(default_factory=dict)
    reason: str = ""
    address: str = ""


@dataclass(frozen=True)
class LoggedCall(Call):
    """A call in the log, with its number and time."""

    seq: int = field(kw_only=True)
    at: datetime = field(kw_only=True)

    def document(self) -> dict[str, Any]:
        """As plain JSON; ``at`` in ISO 8601, UTC."""
        return {**asdict(self), "at": self.at.isoformat()}


def open_call(connection: sa.Connection, call: Call, at: datetime) -> str:
    """Record that a call begins; returns the id for `record_call` at its end."""
    row = {name: value for name, value in _row(call).items() if name in OPEN_CALLS.c}
    opened = str(uuid.uuid4())
    connection.execute(OPEN_CALLS.insert().values(id=opened, at=at, **row))
    return opened


def record_call(connection: sa.Connection, call: Call, at: datetime, opened: str | None = None) -> None:
    """Append one row; what callers send is cut to what a row holds. ``opened`` is what `open_call` gave."""
    if opened is not None:
        connection.execute(OPEN_CALLS.delete().where(OPEN_CALLS.c.id == opened))
    row = _row(call)
    append = CALLS.insert().values(at=at, kind=kind_of(row["action"]), **row).returning(CALLS.c.seq)
    seq = connection.execute(append).scalar_one()
    if call.address:
        drop_old_addresses(connection, at)
        connection.execute(LOGIN_ADDRESSES.insert().values(seq=seq, at=at, address=call.address))


def drop_old_addresses(connection: sa.Connection, at: datetime) -> None:
    """Drop the addresses from which logins failed `ADDRESS_KEPT` ago or earlier."""
    connection.execute(LOGIN_ADDRESSES.delete().where(LOGIN_ADDRESSES.c.at <= at - ADDRESS_KEPT))


def record_abandoned(database: Database, before: datetime) -> None:
    """Append a row of status `UNKNOWN` for each call that was opened before a moment and never ended."""
    old = OPEN_CALLS.c.at < before
    with database.read() as connection:
        if connection.execute(sa.select(OPEN_CALLS.c.id).where(old).limit(1)).one_or_none() is None:
            return

    def append(connection: sa.Connection) -> None:
        # Who deletes a row appends it: of several processes one does.
        for row in connection.execute(OPEN_CALLS.delete().where(old).returning(*OPEN_CALLS.c)).mappings().all():
            told = {name: value for name, value in row.items() if name not in ("id", "at")}
            record_call(connection, Call(**told, status=UNKNOWN), row["at"])

    database.transact(append)


def calls_page(
    database: Database, networks: Collection[str] | None, *, after: int = 0, limit: int = 100
) -> list[LoggedCall]:
    """The calls after number ``after``, oldest first; those of some networks only, unless ``None``."""
    query = _SELECT.where(CALLS.c.seq > after).order_by(CALLS.c.seq).limit(limit)
    if networks is not None:
        query = query.where(CALLS.c.network.in_(networks))
    with database.read() as connection:
        return [LoggedCall(**row) for row in connection.execute(query).mappings()]


_LOGINS = ("POST /login", "POST /api/v1/login", "GET /api/v1/login/oidc/callback")


def logged_in_before(database: Database, name: str, before: datetime) -> datetime | None:
    """When a user logged in last before a moment, however long ago; ``None`` where the log has no such login."""
    of_user = (CALLS.c.actor == name) & (CALLS.c.at < before)
    query = sa.select(CALLS.c.at).where(_of_logins(), of_user)
    with database.read() as connection:
        at: datetime | None = connection.scalar(query.order_by(CALLS.c.seq.desc()).limit(1))
    return at


def last_logins(database: Database) -> dict[str, datetime]:
    """When each user logged in last, by name; without those who never did."""
    query = sa.select(CALLS.c.actor, sa.func.max(CALLS.c.at, type_=CALLS.c.at.type)).group_by(CALLS.c.actor)
    with database.read() as connection:
        rows = connection.execute(query.where(_of_logins(), CALLS.c.actor != "")).all()
    return {row[0]: row[1] for row in rows}


def _of_logins() -> sa.ColumnElement[bool]:
    """The condition of logins that were let in."""
    return sa.and_(CALLS.c.kind == "sessions", CALLS.c.action.in_(_LOGINS), _has_result("done"))


Result = Literal["done", "refused", "failed", "unknown"]
"""What came of a call: it was done, refused (HTTP 4xx), it failed (5xx), or nobody knows (`UNKNOWN`)."""
RESULTS: tuple[Result, ...] = ("done", "refused", "failed", "unknown")


def result_of(status: int) -> Result:
    """What came of a call, by its status."""
    if status == UNKNOWN:
        return "unknown"
    return "failed" if status >= _BROKEN else "refused" if status >= _FAILED else "done"


@dataclass(frozen=True)
class CallFilter:
    """A filter for calls: by actor, by network, by what came of them (``results``), by what they are about
    (``kind``) or are not about (``other_than``), and, unless these are ``None``, only those from ``since`` on,
    those up to ``until``, and those before a number of the log. Empty ones filter nothing.
    """

    actor: str = ""
    network: str = ""
    results: Collection[Result] = ()
    kind: Kind | Literal[""] = ""
    other_than: Kind | Literal[""] = ""
    since: datetime | None = None
    until: datetime | None = None
    before: int | None = None


def latest_calls(
    database: Database, networks: Collection[str] | None, filter_: CallFilter, limit: int = 100
) -> list[LoggedCall]:
    """The last calls that pass a filter, newest first; those of some networks only, unless ``None``."""
    query = _SELECT.where(*_conditions(filter_)).order_by(CALLS.c.seq.desc()).limit(limit)
    if networks is not None:
        query = query.where(CALLS.c.network.in_(networks))
    with database.read() as connection:
        return [LoggedCall(**row) for row in connection.execute(query).mappings()]


def count_calls(database: Database, networks: Collection[str] | None, filter_: CallFilter) -> int:
    """How many calls pass a filter; of those of some networks only, unless ``None``."""
    query = sa.select(sa.func.count()).select_from(CALLS).where(*_conditions(filter_))
    if networks is not None:
        query = query.where(CALLS.c.network.in_(networks))
    with database.read() as connection:
        return int(connection.execute(query).scalar_one())


def _conditions(filter_: CallFilter) -> Iterator[sa.ColumnElement[bool]]:
    if filter_.actor:
        yield CALLS.c.actor == filter_.actor
    if filter_.network:
        yield CALLS.c.network == filter_.network
    if filter_.results:
        yield sa.or_(*(_has_result(result) for result in filter_.results))
    if filter_.kind:
        yield CALLS.c.kind == filter_.kind
    if filter_.other_than:
        yield CALLS.c.kind != filter_.other_than
    if filter_.since is not None:
        yield CALLS.c.at >= filter_.since
    if filter_.until is not None:
        yield CALLS.c.at <= filter_.until
    if filter_.before is not None:
        yield CALLS.c.seq < filter_.before


def _has_result(result: Result) -> sa.ColumnElement[bool]:
    """The condition of `result_of`."""
    status = CALLS.c.status
    match result:
        case "unknown":
            return status == UNKNOWN
        case "failed":
            return status >= _BROKEN
        case "refused":
            return sa.and_(status >= _FAILED, status < _BROKEN)
        case "done":
            return sa.and_(status != UNKNOWN, status < _FAILED)


def as_json_lines(calls: Iterable[LoggedCall]) -> Iterator[str]:
    """One JSON object a line."""
    for call in calls:
        yield json.dumps(call.document(), ensure_ascii=False, sort_keys=True) + "\n"


def as_csv(calls: Iterable[LoggedCall]) -> Iterator[str]:
    """Comma-separated values (RFC 4180) with a header line.

    A cell that a spreadsheet would take for a formula begins with an apostrophe: callers choose what stands in it.
    """
    yield _csv_line(_EXPORTED)
    for call in calls:
        document = call.document() | {"detail": json.dumps(call.detail, ensure_ascii=False, sort_keys=True)}
        yield _csv_line([_harmless(str(document[name])) for name in _EXPORTED])


def _csv_line(cells: Collection[str]) -> str:
    line = io.StringIO()
    csv.writer(line).writerow(cells)
    return line.getvalue()


def _harmless(cell: str) -> str:
    return f"'{cell}" if cell.startswith(_FORMULA) else cell


def _row(call: Call) -> dict[str, Any]:
    return {name: _cut(name, value) for name, value in asdict(call).items() if name in CALLS.c}


def _cut(name: str, value: Any) -> Any:
    length = getattr(CALLS.c[name].type, "length", None)
    # PostgreSQL's text holds no NUL.
    return value.replace("\0", "\N{REPLACEMENT CHARACTER}")[:length] if isinstance(value, str) else value


_COLUMNS = tuple(column.name for column in fields(Call))
_EXPORTED = ("seq", "at", *_COLUMNS)
