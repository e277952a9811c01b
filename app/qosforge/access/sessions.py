"""Web sessions: a cookie's secret, stored as its hash, with an idle and an absolute end.

A login always makes a new one, so nobody can be given a session beforehand (session fixation).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa

from qosforge.access.clients import Client
from qosforge.access.credentials import derive_secret, matches_hash, new_secret, secret_hash
from qosforge.access.roles import NotAllowed, NotAuthenticated, Principal, roles_of
from qosforge.access.tables import GRANTS, SESSIONS, USERS
from qosforge.database.connections import Database
from qosforge.errors import InputError, Place
from qosforge.settings import Settings

IDLE = timedelta(hours=1)
"""A session ends when it is not used for so long."""

LONGEST = timedelta(hours=12)
"""A session ends so long after the login, however much it is used."""

CSRF_HEADER = "X-CSRF-Token"

_PUT_OFF_AFTER = timedelta(minutes=1)  # so that not every call writes
_LOGIN_HINT = "log in again"
_ID_DIGITS = 16
_FORGOTTEN = dict.fromkeys(asdict(Client()))


class SessionUnknown(InputError):
    """There is no such open session."""


@dataclass(frozen=True)
class WebSession:
    """An open session, without its secret: ``begun`` by the login, ``used`` last (to a minute), and when it
    ``ends`` unless it is used before. ``browser`` and ``system`` are those of the login, ``address`` is that of the
    last use; each is ``None`` where it is not known.
    """

    id: str
    begun: datetime
    used: datetime
    ends: datetime
    address: str | None
    browser: str | None
    system: str | None


@dataclass(frozen=True)
class Login:
    """A login: when it was, and from where as far as that is still known, as of a `WebSession`."""

    at: datetime
    address: str | None = None
    browser: str | None = None
    system: str | None = None


def cookie_name(settings: Settings) -> str:
    """The name of the session's cookie.

    Behind TLS browsers see to it that a ``__Host-`` cookie is secure and of this very host (RFC 6265bis, 4.1.3.2).
    Such a one is of the whole host; below a path of it the cookie is of that path, and ``__Secure-`` (4.1.3.1).
    """
    if not is_secure(settings):
        return "qosforge"
    return "__Secure-qosforge" if settings.path_prefix else "__Host-qosforge"


def cookie_path(settings: Settings) -> str:
    """The path that the service's cookies are sent to: nothing else on its host gets them."""
    return settings.path_prefix or "/"


def is_secure(settings: Settings) -> bool:
    """Whether browsers reach the service by TLS."""
    return (settings.public_url or "").startswith("https:")


def open_session(connection: sa.Connection, user_id: str, at: datetime, client: Client | None = None) -> str:
    """Open a session of a user from a client; returns the secret for the cookie. Old sessions are dropped."""
    drop_old_sessions(connection, at)
    secret = new_secret()
    connection.execute(
        SESSIONS.insert().values(
            hash=secret_hash(secret), user_id=user_id, created=at, expires=at + IDLE, **asdict(client or Client())
        )
    )
    return secret


def drop_old_sessions(connection: sa.Connection, at: datetime) -> None:
    """Drop the rows of sessions that were opened a day ago or longer: they have ended since."""
    connection.execute(SESSIONS.delete().where(SESSIONS.c.created < at - 2 * LONGEST))


def read_session(database: Database, cookie: str, at: datetime, address: str | None = None) -> Principal:
    """The principal of a session's cookie, used from ``address``; the idle timeout starts again.

    Raises:
        NotAuthenticated: it is unknown, ended or expired, or its user is disabled.
    """
    query = (
        sa.select(SESSIONS, USERS.c.name, USERS.c.disabled, GRANTS.c.network, GRANTS.c.role)
        .join_from(SESSIONS, USERS)
        .outerjoin(GRANTS, GRANTS.c.user_id == USERS.c.id)
        .where(SESSIONS.c.hash == secret_hash(cookie))
    )
    with database.read() as connection:
        rows = connection.execute(query).mappings().all()
    if not rows or rows[0]["ended"] is not None or rows[0]["disabled"]:
        raise NotAuthenticated("there is no such session", hint=_LOGIN_HINT)
    first = rows[0]
    last = first["created"] + LONGEST
    if at >= min(first["expires"], last):
        raise NotAuthenticated("the session has expired", hint=_LOGIN_HINT)
    if at + IDLE - first["expires"] > _PUT_OFF_AFTER:
        used = {"expires": at + IDLE, "address": address or first["address"]}
        with database.write() as connection:
            connection.execute(
                SESSIONS.update().where(SESSIONS.c.hash == first["hash"], SESSIONS.c.ended.is_(None)).values(used)
            )
    return Principal(
        user_id=first["user_id"],
        name=first["name"],
        credential="session",
        roles=roles_of((row["network"], row["role"]) for row in rows),
    )


def end_session(connection: sa.Connection, cookie: str, at: datetime) -> None:
    """End a session; nothing happens where there is none."""
    _end(connection, SESSIONS.c.hash == secret_hash(cookie), at)


def end_sessions(connection: sa.Connection, user_id: str, at: datetime, but: str | None = None) -> None:
    """End every session of a user, but the one of the cookie ``but``."""
    others = SESSIONS.c.hash != secret_hash(but) if but is not None else sa.true()
    _end(connection, (SESSIONS.c.user_id == user_id) & others, at)


def session_id(cookie: str) -> str:
    """What names a session to its user: the beginning of what is stored of its secret, which opens nothing."""
    return secret_hash(cookie)[:_ID_DIGITS]


def sessions(database: Database, user_id: str, at: datetime) -> list[WebSession]:
    """The open sessions of a user, the most recently used first."""
    query = sa.select(SESSIONS).where(*_lasting(user_id, at)).order_by(SESSIONS.c.expires.desc(), SESSIONS.c.hash)
    with database.read() as connection:
        return [
            WebSession(
                id=row.hash[:_ID_DIGITS],
                begun=row.created,
                used=row.expires - IDLE,
                ends=min(row.expires, row.created + LONGEST),
                address=row.address,
                browser=row.browser,
                system=row.system,
            )
            for row in connection.execute(query)
        ]


def begun(database: Database, cookie: str) -> datetime | None:
    """When a session was opened by its login; ``None`` where there is none."""
    with database.read() as connection:
        at: datetime | None = connection.scalar(
            sa.select(SESSIONS.c.created).where(SESSIONS.c.hash == secret_hash(cookie))
        )
    return at


def login_before(database: Database, user_id: str, before: datetime) -> Login | None:
    """A user's last login before a moment, of those of the last day."""
    of_user = (SESSIONS.c.user_id == user_id) & (SESSIONS.c.created < before)
    columns = (SESSIONS.c.created, SESSIONS.c.address, SESSIONS.c.browser, SESSIONS.c.system)
    with database.read() as connection:
        row = connection.execute(
            sa.select(*columns).where(of_user).order_by(SESSIONS.c.created.desc()).limit(1)
        ).one_or_none()
    return None if row is None else Login(*row)


def end_one_session(connection: sa.Connection, user_id: str, which: str, at: datetime) -> None:
    """End one session of a user, by its id.

    Raises:
        SessionUnknown: the user has no such session that lasts.
    """
    named = sa.func.substr(SESSIONS.c.hash, 1, _ID_DIGITS) == which
    ended = connection.execute(
        SESSIONS.update().where(named, *_lasting(user_id, at)).values(ended=at, **_FORGOTTEN)
    )
    if not ended.rowcount:
        raise SessionUnknown("there is no such session", Place(path="session"), "list those that last")


def csrf_token(cookie: str) -> str:
    """The token that mutating calls of a session carry; a page of the session can show it, another site cannot
    know it (OWASP: HMAC-based token pattern).
    """
    return derive_secret(cookie, "csrf")


def check_csrf(cookie: str, token: str | None) -> None:
    """Make sure that a call carries the CSRF token of its session.

    Raises:
        NotAllowed: it does not.
    """
    if token is None or not matches_hash(token, secret_hash(csrf_token(cookie))):
        raise NotAllowed(
            "the call does not carry its session's token",
            hint=f"send the token that the login and `/me` give in the header {CSRF_HEADER}",
        )


def _lasting(user_id: str, at: datetime) -> tuple[sa.ColumnElement[bool], ...]:
    return (
        SESSIONS.c.user_id == user_id,
        SESSIONS.c.ended.is_(None),
        SESSIONS.c.expires > at,
        SESSIONS.c.created > at - LONGEST,
    )


def _end(connection: sa.Connection, which: sa.ColumnElement[bool], at: datetime) -> None:
    connection.execute(SESSIONS.update().where(which, SESSIONS.c.ended.is_(None)).values(ended=at, **_FORGOTTEN))
