"""The interface in this process over a store of its own, and people who may call it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Thread

import httpx2
import pytest
import uvicorn
from fastapi import FastAPI
from starlette.testclient import TestClient

from qosforge.access.credentials import new_token, secret_hash
from qosforge.access.roles import EVERY_NETWORK, Role
from qosforge.access.tables import TOKENS
from qosforge.access.users import add_user, grant
from qosforge.api.application import create_app
from qosforge.api.backend import Backend, open_backend
from qosforge.api.middleware.header_timeout import HeaderTimeoutProtocol
from qosforge.settings import Settings
from tests.patience import PATIENCE

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
                "hash": secret_hash(text),
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


@contextmanager
def served(app: FastAPI) -> Iterator[httpx2.Client]:
    """A client of the application behind a real server on the loopback: it has its answer as soon as it is sent."""
    server = uvicorn.Server(
        uvicorn.Config(app, port=0, http=HeaderTimeoutProtocol, log_config=None, timeout_graceful_shutdown=5)
    )
    thread = Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        with httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            yield client
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """A module or a test may override it."""
    return Settings(var_dir=tmp_path / "var", compute_processes=1, request_seconds=PATIENCE)


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
