"""The interface in this process over a store of its own, and people who may call it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from app.access.credentials import new_token, stored
from app.access.roles import EVERY_NETWORK, Role
from app.access.tables import TOKENS
from app.access.users import add_user, grant
from app.api.application import create_app
from app.api.backend import Backend, open_backend
from app.settings import Settings

Headers = dict[str, str]


@dataclass(frozen=True)
class People:
    """Makes users with a token each."""

    backend: Backend

    def headers(
        self, name: str, role: Role | None, network: str = EVERY_NETWORK, *, lasts: timedelta = timedelta(days=1)
    ) -> Headers:
        """What a new user of this role on one network (or all) sends; ``None``: a user without any grant."""
        now = datetime.now(UTC)
        token_id, text = new_token()

        def write(connection: object) -> None:
            user_id = add_user(connection, name, now)  # type: ignore[arg-type]
            if role is not None:
                grant(connection, name, network, role)  # type: ignore[arg-type]
            row = {
                "id": token_id,
                "user_id": user_id,
                "name": "test",
                "hash": stored(text),
                "role": Role.ADMIN.value,
                "networks": None,
                "created": now,
                "expires": now + lasts,
            }
            connection.execute(TOKENS.insert().values(row))  # type: ignore[attr-defined]

        self.backend.database.transact(write)
        return {"Authorization": f"Bearer {text}"}

    def admin(self) -> Headers:
        """What a new admin of every network sends."""
        return self.headers("root", Role.ADMIN)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """A module or a test may override it."""
    return Settings(var_dir=tmp_path / "var", compute_processes=1)


@pytest.fixture
def backend(settings: Settings) -> Iterator[Backend]:
    with open_backend(settings) as made:
        yield made


@pytest.fixture
def client(backend: Backend) -> Iterator[TestClient]:
    """Calls the interface in this process; an exception that no handler expected fails the test."""
    with TestClient(create_app(backend)) as made:
        yield made


@pytest.fixture
def people(backend: Backend) -> People:
    return People(backend)
