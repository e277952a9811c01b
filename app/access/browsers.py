"""Browsers in which a user logged in before: others who guess the password do not shut their owner out there.

Such a browser has a cookie of its own, which opens nothing; only its hash is stored.
"""

from __future__ import annotations

from datetime import datetime, timedelta

import sqlalchemy as sa

from app.access.credentials import new_secret, stored
from app.access.tables import BROWSERS, USERS
from app.database.connections import Database

KNOWN = timedelta(days=180)
"""How long a browser is known after the login that made it so."""


def remember_browser(connection: sa.Connection, user_id: str, at: datetime) -> str:
    """Know a browser from now on; returns the secret for its cookie. What is known no longer is dropped."""
    connection.execute(BROWSERS.delete().where(BROWSERS.c.created < at - KNOWN))
    secret = new_secret()
    connection.execute(BROWSERS.insert().values(hash=stored(secret), user_id=user_id, created=at))
    return secret


def known_browser(database: Database, secret: str | None, name: str, at: datetime) -> str | None:
    """What names the browser of a cookie, if the user called ``name`` logged in there; else ``None``."""
    if secret is None:
        return None
    query = (
        sa.select(BROWSERS.c.hash)
        .join_from(BROWSERS, USERS)
        .where(BROWSERS.c.hash == stored(secret), USERS.c.name == name, BROWSERS.c.created >= at - KNOWN)
    )
    with database.read() as connection:
        found: str | None = connection.scalar(query)
    return found
