"""Passwords: optional, hashed by Argon2id with the parameters of RFC 9106 (section 4, second recommendation)."""

from __future__ import annotations

import threading
import unicodedata
from datetime import datetime
from functools import cache

import argon2
import sqlalchemy as sa
from argon2.exceptions import InvalidHashError, VerificationError

from qosforge.access.browsers import forget_browsers
from qosforge.access.credentials import new_secret
from qosforge.access.sessions import end_sessions
from qosforge.access.tables import USERS
from qosforge.access.users import User
from qosforge.database.connections import Database
from qosforge.errors import InputError, Place

SHORTEST = 15
"""Characters of a password that is asked for alone (NIST SP 800-63B-4, section 3.1.1.2)."""

LONGEST = 256

_HASHER = argon2.PasswordHasher.from_parameters(argon2.profiles.RFC_9106_LOW_MEMORY)
_AT_ONCE = threading.Semaphore(2)  # each takes 64 MiB and all cores it gets


def hash_password(password: str) -> str:
    """What is stored of a password.

    Raises:
        InputError: it is too short or too long.
    """
    if not SHORTEST <= len(password) <= LONGEST:
        raise InputError(
            f"a password has {SHORTEST} to {LONGEST} characters",
            Place(path="password"),
            "several words make a good one",
        )
    with _AT_ONCE:
        return _HASHER.hash(_normal(password))


def set_password(connection: sa.Connection, user: User, password_hash: str | None, at: datetime) -> None:
    """Set a user's password by its hash (see `hash_password`), or remove it.

    Every session of the user ends, and no browser is known any more: who had the old one may have such a cookie.
    """
    connection.execute(USERS.update().where(USERS.c.id == user.id).values(password_hash=password_hash))
    end_sessions(connection, user.id, at)
    forget_browsers(connection, user.id)


def check_password(database: Database, name: str, password: str) -> str | None:
    """The id of the user whose name and password these are; ``None`` if there is none that may log in so.

    An unknown name takes as long as a wrong password.
    """
    query = sa.select(USERS.c.id, USERS.c.password_hash, USERS.c.disabled).where(USERS.c.name == name)
    with database.read() as connection:
        row = connection.execute(query).one_or_none()
    known = row is not None and row.password_hash is not None
    right = _verify(row.password_hash if row is not None and known else _nobodys(), password)
    return str(row.id) if row is not None and known and right and not row.disabled else None


@cache
def _nobodys() -> str:
    """The hash of a password that nobody has."""
    return hash_password(new_secret())


def _verify(password_hash: str, password: str) -> bool:
    try:
        with _AT_ONCE:
            return _HASHER.verify(password_hash, _normal(password[:LONGEST]))
    except (VerificationError, InvalidHashError):
        return False


def _normal(password: str) -> bytes:
    # One password, however a keyboard composes it. A lone surrogate is no character, but must not crash either.
    return unicodedata.normalize("NFC", password).encode(errors="surrogatepass")
