"""Users and their grants: a role on one network, or on every one.

Nobody is removed: the audit log names users, and a name is never another person's later.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from qosforge.access.browsers import forget_browsers
from qosforge.access.roles import EVERY_NETWORK, Role, roles_of
from qosforge.access.sessions import end_sessions
from qosforge.access.tables import GRANTS, TOKENS, USERS
from qosforge.database.connections import Database
from qosforge.errors import InputError, Place

_NAME = re.compile(r"[a-z0-9][a-z0-9._@-]{0,63}")
_NETWORK = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


class UserUnknown(InputError):
    """There is no such user."""


class LastAdmin(InputError):
    """Nobody would be left who may manage users everywhere."""


class NameTaken(InputError):
    """Another one has this name."""


@dataclass(frozen=True)
class User:
    """A user, with the roles held by network; ``issuer`` and ``subject`` where they log in by a provider."""

    id: str
    name: str
    disabled: bool
    has_password: bool
    issuer: str | None
    subject: str | None
    created: datetime
    roles: dict[str, Role]


def add_user(
    connection: sa.Connection, name: str, at: datetime, *, issuer: str | None = None, subject: str | None = None
) -> str:
    """Create a user without any grant or password; returns the id.

    Raises:
        NameTaken: the name, or the provider's subject, is another user's.
        InputError: the name cannot be one.
    """
    check_name(name)
    user_id = str(uuid.uuid4())
    values = {"id": user_id, "name": name, "issuer": issuer, "subject": subject, "disabled": False, "created": at}
    try:
        with connection.begin_nested():
            connection.execute(USERS.insert().values(values))
    except sa.exc.IntegrityError as error:
        raise NameTaken(
            f"there is a user {name} already, or one of this subject", Place(path="name"), "choose another name"
        ) from error
    return user_id


def users(database: Database) -> list[User]:
    """Every user, by name."""
    with database.read() as connection:
        return _read(connection, sa.true())


def is_user(database: Database, name: str) -> bool:
    """Whether some user has this name."""
    with database.read() as connection:
        return connection.scalar(sa.select(USERS.c.id).where(USERS.c.name == name)) is not None


def find_user(connection: sa.Connection, name: str) -> User:
    """The user of a name.

    Raises:
        UserUnknown: there is none.
    """
    found = _read(connection, USERS.c.name == name)
    if not found:
        raise UserUnknown("there is no such user", Place(path="name"), "`qosforge user list` shows all")
    return found[0]


def grant(connection: sa.Connection, name: str, network: str, role: Role) -> None:
    """Grant a user a role on a network (`EVERY_NETWORK`: on all) in place of the current one.

    Raises:
        UserUnknown, LastAdmin: see there.
        InputError: ``network`` cannot be a network's name.
    """
    if network != EVERY_NETWORK:
        check_networks([network])
    user = find_user(connection, name)
    if network == EVERY_NETWORK and role is not Role.ADMIN:
        _keep_an_admin(connection, user)
    connection.execute(GRANTS.delete().where(GRANTS.c.user_id == user.id, GRANTS.c.network == network))
    connection.execute(GRANTS.insert().values(user_id=user.id, network=network, role=role))


def revoke(connection: sa.Connection, name: str, network: str) -> None:
    """Revoke a user's role on a network; no error where there is none.

    Raises:
        UserUnknown, LastAdmin: see there.
    """
    user = find_user(connection, name)
    if network == EVERY_NETWORK:
        _keep_an_admin(connection, user)
    connection.execute(GRANTS.delete().where(GRANTS.c.user_id == user.id, GRANTS.c.network == network))


def disable(connection: sa.Connection, name: str, at: datetime) -> None:
    """Disable a user: all tokens are revoked, all sessions end and all browsers are forgotten.

    Raises:
        UserUnknown, LastAdmin: see there.
    """
    user = find_user(connection, name)
    _keep_an_admin(connection, user)
    connection.execute(USERS.update().where(USERS.c.id == user.id).values(disabled=True))
    connection.execute(
        TOKENS.update().where(TOKENS.c.user_id == user.id, TOKENS.c.revoked.is_(None)).values(revoked=at)
    )
    end_sessions(connection, user.id, at)
    forget_browsers(connection, user.id)


def enable(connection: sa.Connection, name: str) -> None:
    """Enable a user, with the earlier grants and without tokens.

    Raises:
        UserUnknown: there is none.
    """
    user = find_user(connection, name)
    connection.execute(USERS.update().where(USERS.c.id == user.id).values(disabled=False))


def check_name(name: str) -> None:
    """Make sure that ``name`` can be one of a user or tester.

    Raises:
        InputError: it cannot.
    """
    if not _NAME.fullmatch(name):
        raise InputError(
            "a name has up to 64 small letters, digits and . _ @ -",
            Place(path="name"),
            "begin with a letter or a digit",
        )


def check_networks(names: Collection[str]) -> None:
    """Make sure that ``names`` can be names of networks, and that there is one; it need not exist yet.

    Raises:
        InputError: it is not so.
    """
    wrong = [name for name in names if not _NETWORK.fullmatch(name)]
    if wrong or not names:
        what = f"{wrong[0]!r} is no network's name" if wrong else "no network is named"
        raise InputError(what, Place(path="networks"), "name networks by letters, digits and . _ -")


def _keep_an_admin(connection: sa.Connection, user: User) -> None:
    """Make sure that somebody else is admin of every network.

    The rows are locked: of two admins who disable each other at once, one stays.
    """
    admins = (
        sa.select(USERS.c.id)
        .join_from(USERS, GRANTS)
        .where(GRANTS.c.network == EVERY_NETWORK, GRANTS.c.role == Role.ADMIN, USERS.c.disabled == sa.false())
        .order_by(USERS.c.id)
        .with_for_update()
    )
    ids = set(connection.execute(admins).scalars())
    if ids == {user.id}:
        raise LastAdmin(
            f"{user.name} is the last admin of every network",
            Place(path="name"),
            "grant that role to somebody else first",
        )


def _read(connection: sa.Connection, which: sa.ColumnElement[bool]) -> list[User]:
    query = (
        sa.select(USERS, GRANTS.c.network, GRANTS.c.role)
        .outerjoin_from(USERS, GRANTS)
        .where(which)
        .order_by(USERS.c.name, GRANTS.c.network)
    )
    by_id: dict[str, list[Any]] = {}
    for row in connection.execute(query):
        by_id.setdefault(row.id, []).append(row)
    return [_user(rows) for rows in by_id.values()]


def _user(rows: list[Any]) -> User:
    first = rows[0]
    return User(
        id=first.id,
        name=first.name,
        disabled=first.disabled,
        has_password=first.password_hash is not None,
        issuer=first.issuer,
        subject=first.subject,
        created=first.created,
        roles=roles_of((row.network, row.role) for row in rows),
    )
