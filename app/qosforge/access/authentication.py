"""Authentication: from a token or a web session to a principal, in one query each; and the audit log."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection
from datetime import UTC, datetime, timedelta

import sqlalchemy as sa

from qosforge.access.audit_log import (
    Call,
    CallFilter,
    LoggedCall,
    calls_page,
    latest_calls,
    logged_in_before,
    open_call,
    record_abandoned,
    record_call,
)
from qosforge.access.browsers import known_browser, remember_browser
from qosforge.access.clients import Client
from qosforge.access.credentials import matches_hash, token_id
from qosforge.access.passwords import check_password
from qosforge.access.roles import NotAllowed, NotAuthenticated, Principal, Role, limit_roles, roles_of
from qosforge.access.sessions import Login, begun, check_csrf, end_session, login_before, open_session, read_session
from qosforge.access.tables import GRANTS, TOKENS, USERS
from qosforge.access.throttle import Throttle
from qosforge.access.tokens import note_use
from qosforge.database.connections import Database
from qosforge.errors import Place
from qosforge.settings import Settings

_ABANDONED = timedelta(minutes=1)
"""Beyond twice the longest time of a request: so long an open call may be at work somewhere."""
_HINT = "make one with `qosforge token create`, and send it as `Authorization: Bearer qf_…`"


class Access:
    """Authenticates callers by their credentials; thread-safe.

    Nothing is cached: what is revoked, expired or disabled no longer counts at the next call.
    """

    def __init__(
        self, database: Database, settings: Settings, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self.database = database
        self.settings = settings
        self.now = now
        self._throttle = Throttle()

    def authenticate(self, token: str) -> Principal:
        """The principal of a bearer token.

        Raises:
            NotAuthenticated: it is no token, or an unknown, revoked or expired one, or its user is disabled.
        """
        known = token_id(token)
        if known is None:
            raise NotAuthenticated("this is no token of qosforge", hint=_HINT)
        query = (
            sa.select(
                TOKENS, USERS.c.name.label("user"), USERS.c.disabled, GRANTS.c.network, GRANTS.c.role.label("held")
            )
            .join_from(TOKENS, USERS)
            .outerjoin(GRANTS, GRANTS.c.user_id == USERS.c.id)
            .where(TOKENS.c.id == known)
        )
        with self.database.read() as connection:
            rows = connection.execute(query).mappings().all()
        if not rows or not matches_hash(token, rows[0]["hash"]):
            raise NotAuthenticated("the token is not known", hint=_HINT)
        first = rows[0]
        if first["revoked"] is not None or first["disabled"]:
            raise NotAuthenticated("the token was revoked", hint=_HINT)
        if first["expires"] <= self.now():
            raise NotAuthenticated(f"the token expired on {first['expires']:%Y-%m-%d %H:%M} UTC", hint=_HINT)
        note_use(self.database, known, first["last_used"], self.now())
        held = roles_of((row["network"], row["held"]) for row in rows)
        return Principal(
            user_id=first["user_id"],
            name=first["user"],
            credential=f"token:{known}",
            roles=limit_roles(held, Role(first["role"]), first["networks"]),
        )

    def session(self, cookie: str, address: str | None = None) -> Principal:
        """The principal of a web session; using it, from ``address``, puts off its idle end.

        Raises:
            NotAuthenticated: it is unknown, has ended or expired, or its user is disabled.
        """
        return read_session(self.database, cookie, self.now(), address)

    def previous_login(self, caller: Principal, cookie: str) -> Login | None:
        """The caller's login before that of the session of ``cookie``; ``None`` where none is known."""
        this = begun(self.database, cookie)
        if this is None:
            return None
        known = login_before(self.database, caller.user_id, this)
        if known is None and (at := logged_in_before(self.database, caller.name, this)):
            return Login(at)
        return known

    def check_csrf(self, cookie: str, token: str | None) -> None:
        """Make sure that a mutating call by a web session carries the session's own token (`CSRF_HEADER`).

        Raises:
            NotAllowed: it does not.
        """
        check_csrf(cookie, token)

    def log_in(
        self, name: str, password: str, client: Client, browser: str | None = None
    ) -> tuple[str, str | None]:
        """Begin a web session by name and password; returns its cookie, and one by which the browser is known.

        ``browser`` is the cookie by which it may be known; a known one gets no other.

        Raises:
            NotAuthenticated: there is no such user, or the password is wrong: which of both is not told.
            TooManyAttempts: too many logins of this name or address failed.
        """
        known = known_browser(self.database, browser, name, self.now())
        with self._throttle.attempt(name, client.address or "", self.now(), known):
            user_id = check_password(self.database, name, password)
            if user_id is None:
                raise NotAuthenticated("name or password is wrong", hint="ask an admin for another password")

        def begin(connection: sa.Connection) -> tuple[str, str | None]:
            cookie = open_session(connection, user_id, self.now(), client)
            return cookie, None if known else remember_browser(connection, user_id, self.now())

        return self.database.transact(begin)

    def confirm(self, caller: Principal, password: str, address: str) -> None:
        """Make sure that it is still the caller, by the password.

        Raises:
            NotAllowed: the password is wrong.
            TooManyAttempts: it was wrong too often.
        """
        with self._throttle.attempt(caller.name, address, self.now(), caller.credential):
            if check_password(self.database, caller.name, password) != caller.user_id:
                place = Place(path="current")
                raise NotAllowed("the current password is wrong", place, "give the one that you log in with")

    def log_in_by_provider(self, issuer: str, subject: str, client: Client) -> tuple[str, str]:
        """Begin a web session of the user whom a provider knows; returns the user's name and the cookie.

        Raises:
            NotAuthenticated: no user has this subject, or the user is disabled.
        """
        query = sa.select(USERS).where(USERS.c.issuer == issuer, USERS.c.subject == subject)
        with self.database.read() as connection:
            row = connection.execute(query).one_or_none()
        if row is None or row.disabled:
            raise NotAuthenticated(
                f"subject {subject!r} of the provider is no user here",
                hint=f"an admin can make one: qosforge user add NAME --subject {shlex.quote(subject)}",
            )
        cookie = self.database.transact(lambda connection: open_session(connection, row.id, self.now(), client))
        return row.name, cookie

    def log_out(self, cookie: str) -> None:
        """End a web session; nothing happens where there is none."""
        self.database.transact(lambda connection: end_session(connection, cookie, self.now()))

    def open(self, call: Call) -> str:
        """Note a call that is about to be carried out; `record` ends it. A crash in between does not lose it."""
        at = self.now()
        return self.database.transact(lambda connection: open_call(connection, call, at))

    def record(self, call: Call, opened: str | None = None) -> None:
        """Append a call to the log; ``opened`` is what `open` gave."""
        at = self.now()
        self.database.transact(lambda connection: record_call(connection, call, at, opened))

    def calls(self, networks: Collection[str] | None, *, after: int, limit: int) -> list[LoggedCall]:
        """A page of the log, as `calls_page`; also with the calls that processes which died had begun."""
        self._record_abandoned()
        return calls_page(self.database, networks, after=after, limit=limit)

    def latest_calls(self, networks: Collection[str] | None, sought: CallFilter, limit: int) -> list[LoggedCall]:
        """The last calls of a kind, as `latest_calls` of the log; also with those of processes which died."""
        self._record_abandoned()
        return latest_calls(self.database, networks, sought, limit)

    def _record_abandoned(self) -> None:
        longest = timedelta(seconds=2 * self.settings.request_seconds) + _ABANDONED
        record_abandoned(self.database, self.now() - longest)
