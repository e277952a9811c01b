"""Bearer tokens of users: made, listed, revoked. Their text is shown once; its hash is stored."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa

from qosforge.access.credentials import new_token, secret_hash
from qosforge.access.roles import EVERY_NETWORK, NotAllowed, Principal, Role
from qosforge.access.tables import TOKENS, USERS
from qosforge.access.users import User, check_networks
from qosforge.database.connections import Database
from qosforge.errors import InputError, Place, StoreError

USUAL_LIFE = timedelta(days=90)
LONGEST_LIFE = timedelta(days=365)
MOST_TOKENS = 100
"""Tokens of one user that count at the same time."""

_USE_APART = timedelta(minutes=1)  # so that not every call writes
_USE_SECONDS = 0.05
"""How long a call waits for others who write, to keep that its token was used."""


class TokenUnknown(InputError):
    """There is no such token."""


@dataclass(frozen=True)
class Token:
    """A token without its secret.

    ``networks``: where it counts; ``None``: wherever its user may do something. ``last_used``: when it was last let
    in, to a minute; ``None``: never.
    """

    id: str
    user: str
    name: str
    role: Role
    networks: tuple[str, ...] | None
    created: datetime
    expires: datetime
    revoked: datetime | None
    last_used: datetime | None


def create_token(
    connection: sa.Connection,
    user: User,
    name: str,
    role: Role,
    networks: Collection[str] | None,
    *,
    at: datetime,
    life: timedelta = USUAL_LIFE,
    maker: Principal | None = None,
) -> tuple[Token, str]:
    """Create a token of ``user`` that may do at most ``role`` on ``networks``; returns it and its text.

    ``maker`` is who asks through the service. What a token makes ends with that token: it expires no later, and
    is revoked with it.

    Raises:
        NotAllowed: ``maker`` may not do so much.
        InputError: the user is disabled or has `MOST_TOKENS` already, or ``life`` is no time up to `LONGEST_LIFE`.
    """
    if user.disabled:
        raise InputError(f"user {user.name} is disabled", Place(path="user"), "enable the user first")
    if not timedelta() < life <= LONGEST_LIFE:
        raise InputError(
            f"a token lives at most {LONGEST_LIFE.days} days", Place(path="days"), "choose a shorter life"
        )
    if networks is not None:
        check_networks(networks)
    expires, parent = at + life, None
    if maker is not None:
        _require(maker, user, role, networks)
        kind, _, maker_id = maker.credential.partition(":")
        if kind == "token":
            parent = maker_id
            end = connection.execute(sa.select(TOKENS.c.expires).where(TOKENS.c.id == parent)).scalar_one()
            expires = min(expires, end)
            if networks is None and EVERY_NETWORK not in maker.roles:
                networks = maker.roles  # the maker may be bound to some of its user's networks
    _require_room(connection, user, at)
    token_id, text = new_token()
    chosen = None if networks is None else tuple(sorted(set(networks)))
    connection.execute(
        TOKENS.insert().values(
            id=token_id,
            user_id=user.id,
            name=name,
            hash=secret_hash(text),
            role=role,
            networks=None if chosen is None else list(chosen),
            parent=parent,
            created=at,
            expires=expires,
        )
    )
    return Token(token_id, user.name, name, role, chosen, at, expires, None, None), text


def tokens(database: Database, user_name: str | None = None) -> list[Token]:
    """The tokens of a user, or of all, newest first; revoked and expired ones too."""
    query = _SELECT.order_by(TOKENS.c.created.desc(), TOKENS.c.id)
    if user_name is not None:
        query = query.where(USERS.c.name == user_name)
    with database.read() as connection:
        return [_token(row) for row in connection.execute(query)]


def token_names(database: Database, ids: Collection[str]) -> dict[str, str]:
    """What tokens are called, by their ids; without those that have no name or are not known."""
    query = sa.select(TOKENS.c.id, TOKENS.c.name).where(TOKENS.c.id.in_(ids), TOKENS.c.name != "")
    with database.read() as connection:
        return {row[0]: row[1] for row in connection.execute(query)}


def find_token(connection: sa.Connection, token_id: str) -> Token:
    """The token of an id.

    Raises:
        TokenUnknown: there is none.
    """
    row = connection.execute(_SELECT.where(TOKENS.c.id == token_id)).one_or_none()
    if row is None:
        raise TokenUnknown("there is no such token", Place(path="id"), "`qosforge token list` shows all")
    return _token(row)


def revoke_token(connection: sa.Connection, token_id: str, at: datetime) -> None:
    """Revoke a token and all those it created.

    Raises:
        TokenUnknown: there is none.
    """
    find_token(connection, token_id)
    made = sa.select(TOKENS.c.id).where(TOKENS.c.id == token_id).cte("made", recursive=True)
    made = made.union_all(sa.select(TOKENS.c.id).where(TOKENS.c.parent == made.c.id))
    connection.execute(
        TOKENS.update().where(TOKENS.c.id.in_(sa.select(made.c.id)), TOKENS.c.revoked.is_(None)).values(revoked=at)
    )


def note_use(database: Database, token_id: str, last: datetime | None, at: datetime) -> None:
    """Keep that a token is used at a moment, at most once a minute; ``last`` is the use that is kept already.

    Nobody is kept waiting or refused for it: where it cannot be written now, the next use is kept.
    """
    if last is not None and at - last < _USE_APART:
        return
    older = TOKENS.c.last_used.is_(None) | (TOKENS.c.last_used < at)
    used = TOKENS.update().where(TOKENS.c.id == token_id, older).values(last_used=at)
    with suppress(StoreError, sa.exc.SQLAlchemyError):
        database.attempt(lambda connection: connection.execute(used), _USE_SECONDS)


def require_revocable(connection: sa.Connection, caller: Principal, token_id: str) -> None:
    """Make sure that a caller may revoke a token: one's own by a session, by a token itself and what it made.

    Who found a token, however little it may do, shall not shut out its user.

    Raises:
        TokenUnknown: there is none, or it is another user's.
        NotAllowed: the caller is known by a token that did not make it.
    """
    if caller.may(Role.ADMIN, EVERY_NETWORK):
        find_token(connection, token_id)
        return
    if find_token(connection, token_id).user != caller.name:
        raise TokenUnknown("there is no such token", hint="list your own")
    kind, _, own = caller.credential.partition(":")
    above: str | None = token_id
    while kind == "token" and above != own:
        if above is None:
            raise NotAllowed("a token revokes itself and those that it made", hint="log in to revoke another one")
        above = connection.scalar(sa.select(TOKENS.c.parent).where(TOKENS.c.id == above))


def _require_room(connection: sa.Connection, user: User, at: datetime) -> None:
    """Make sure that a user has not too many tokens; two that are made at once are counted one after the other."""
    connection.execute(sa.select(USERS.c.id).where(USERS.c.id == user.id).with_for_update())
    lasting = (TOKENS.c.user_id == user.id) & TOKENS.c.revoked.is_(None) & (TOKENS.c.expires > at)
    if (connection.scalar(sa.select(sa.func.count()).where(lasting)) or 0) >= MOST_TOKENS:
        raise InputError(
            f"user {user.name} has {MOST_TOKENS} tokens", Place(path="user"), "revoke those that nobody needs"
        )


def _require(maker: Principal, user: User, role: Role, networks: Collection[str] | None) -> None:
    """Make sure that ``maker`` may make this token: one's own within one's roles, another's as admin of all."""
    if user.id != maker.user_id:
        maker.require(Role.ADMIN)
    elif networks is not None:
        for network in networks:
            maker.require(role, network)
    elif not any(held.covers(role) for held in maker.roles.values()):
        raise NotAllowed(f"only {role.person} of a network may make such a token", hint="ask for a lower role")


_SELECT = sa.select(TOKENS, USERS.c.name.label("user")).join_from(TOKENS, USERS)


def _token(row: sa.Row[tuple[object, ...]]) -> Token:
    found = row._mapping
    networks = found["networks"]
    return Token(
        id=found["id"],
        user=found["user"],
        name=found["name"],
        role=Role(found["role"]),
        networks=None if networks is None else tuple(networks),
        created=found["created"],
        expires=found["expires"],
        revoked=found["revoked"],
        last_used=found["last_used"],
    )
