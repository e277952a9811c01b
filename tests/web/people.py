"""People with passwords, at a site in this process."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache

from sqlalchemy import Connection
from starlette.testclient import TestClient

from app.access.passwords import hashed, set_password
from app.access.roles import EVERY_NETWORK, Role
from app.access.users import add_user, find_user, grant
from app.api.backend import Backend

PASSWORD = "correct horse battery"

_CSRF = re.compile(r'<meta name="csrf" content="([0-9a-f]{64})">')


@cache
def password_hash() -> str:
    """Of the common password: to hash it takes long."""
    return hashed(PASSWORD)


@dataclass(frozen=True)
class Person:
    """Somebody who can log in."""

    name: str

    def log_in(self, client: TestClient) -> dict[str, str]:
        """As a person does it; returns what calls carry that change something."""
        answer = client.post("/login", data={"name": self.name, "password": PASSWORD, "to": "/"})
        assert answer.status_code == 200, answer.text
        found = _CSRF.search(answer.text)
        assert found is not None, answer.text
        return {"X-CSRF-Token": found[1], "HX-Request": "true"}


@dataclass(frozen=True)
class Persons:
    """Makes people with the common password."""

    backend: Backend

    def add(self, name: str, role: Role | None = None, network: str = EVERY_NETWORK) -> Person:
        """A new user with a role on a network, on every one, or (``None``) without any."""

        def write(connection: Connection) -> None:
            add_user(connection, name, datetime.now(UTC))
            if role is not None:
                grant(connection, name, network, role)
            set_password(connection, find_user(connection, name), password_hash(), datetime.now(UTC))

        self.backend.database.transact(write)
        return Person(name)
