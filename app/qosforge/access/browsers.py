"""Browsers in which a user logged in before: others who guess the password do not shut their owner out there.

Such a browser has a cookie of its own, which opens nothing; only its hash is stored.
"""

from __future__ import annotations

from datetime import datetime, timedelta

import sqlalchemy as sa

from qosforge.access.credentials import new_secret, secret_hash
from qosforge.access.tables import BROWSERS, USERS
from qosforge.database.connections import Database

KNOWN = timedelta(days=180)
"""How long a browser is known after the login that made it so."""
MOST = 10
"""Browsers that are known of one user at once: those of the latest logins."""


def remember_browser(connection: sa.Connection, user_id: str, at: datetime) -> str:
    """Remember a browser of a user; returns the secret for its cookie. Only the newest ones are kept."""
    own = sa.select(BROWSERS.c.hash, BROWSERS.c.created).where(BROWSERS.c.user_id == user_id)
    others = connection.execute(own.order_by(BROWSERS.c.created.desc(), BROWSERS.c.hash)).all()
    dropped = [row.hash for number, row in enumerate(others) if number >= MOST - 1 or row.created < at - KNOWN]
    connection.execute(BROWSERS.delete().where(BROWSERS.c.hash.in_(dropped)))
    secret = new_secret()
    connection.execute(BROWSERS.insert().values(hash=secret_hash(secret), user_id=user_id, created=at))
    return secret


def forget_browsers(connection: sa.Connection, user_id: str) -> None:
    """Forget all browsers of a user."""
    connection.execute(BROWSERS.delete().where(BROWSERS.c.user_id == user_id))


def known_browser(database: Database, secret: str | None, name: str, at: datetime) -> str | None:
    """What names the browser of a cookie, if the user called ``name`` logged in there; else ``None``."""
    if secret is None:
        return None
    query = (
        sa.select(BROWSERS.c.hash)
        .join_from(BROWSERS, USERS)
        .where(BROWSERS.c.hash == secret_hash(secret), USERS.c.name == name, BROWSERS.c.created >= at - KNOWN)
    )
    with database.read() as connection:
        found: str | None = connection.scalar(query)
    return found
