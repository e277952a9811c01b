"""People with passwords, at a site in this process."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache

from sqlalchemy import Connection
from starlette.testclient import TestClient

from qosforge.access.passwords import hash_password, set_password
from qosforge.access.roles import EVERY_NETWORK, Role
from qosforge.access.sessions import cookie_name, csrf_token, open_session
from qosforge.access.users import add_user, find_user, grant
from qosforge.api.backend import Backend

PASSWORD = "correct horse battery"


@cache
def password_hash() -> str:
    """Of the common password: to hash it takes long."""
    return hash_password(PASSWORD)


@dataclass(frozen=True)
class Person:
    """Somebody who can log in."""

    name: str
    id: str
    backend: Backend

    def log_in(self, client: TestClient) -> dict[str, str]:
        """Give the client a new session; returns what calls carry that change something.

        Not through the page: to check a password takes long.
        """
        at = datetime.now(UTC)
        cookie = self.backend.database.transact(lambda connection: open_session(connection, self.id, at))
        client.cookies.set(cookie_name(self.backend.settings), cookie, domain="testserver.local", path="/")
        return {"X-CSRF-Token": csrf_token(cookie), "HX-Request": "true"}


@dataclass(frozen=True)
class Persons:
    """Makes people with the common password."""

    backend: Backend

    def find(self, name: str) -> Person:
        """Who was made before."""
        with self.backend.database.read() as connection:
            return Person(name, find_user(connection, name).id, self.backend)

    def add(self, name: str, role: Role | None = None, network: str = EVERY_NETWORK) -> Person:
        """A new user with a role on a network, on every one, or (``None``) without any."""

        def write(connection: Connection) -> str:
            user_id = add_user(connection, name, datetime.now(UTC))
            if role is not None:
                grant(connection, name, network, role)
            set_password(connection, find_user(connection, name), password_hash(), datetime.now(UTC))
            return user_id

        return Person(name, self.backend.database.transact(write), self.backend)
