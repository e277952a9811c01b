"""A database of its own, a clock that is set by hand, and users with tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from qosforge.access.authentication import Access
from qosforge.access.roles import Role
from qosforge.access.tokens import Token, create_token
from qosforge.access.users import add_user, find_user, grant
from qosforge.database.connections import Database
from qosforge.settings import Settings


@dataclass
class HandClock:
    """Says what it was set to."""

    moment: datetime = field(default_factory=lambda: datetime(2026, 3, 2, 8, tzinfo=UTC))

    def __call__(self) -> datetime:
        return self.moment

    def pass_(self, **time: float) -> None:
        """Go on by so many hours, days, …"""
        self.moment += timedelta(**time)


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(f"sqlite:///{tmp_path / 'runs.sqlite'}")
    yield opened
    opened.close()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(var_dir=tmp_path)


@pytest.fixture
def access(database: Database, settings: Settings, clock: HandClock) -> Access:
    return Access(database, settings, clock)


AddUser = Callable[..., str]
AddToken = Callable[..., tuple[Token, str]]


@pytest.fixture
def add(database: Database, clock: HandClock) -> AddUser:
    """``add("ann", campus="operator", everywhere="viewer")``: a user with grants; returns the id."""

    def make(name: str, everywhere: str | None = None, **grants: str) -> str:
        with database.write() as connection:
            user_id = add_user(connection, name, clock())
            for network, role in {**grants, **({"*": everywhere} if everywhere else {})}.items():
                grant(connection, name, network, Role(role))
        return user_id

    return make


@pytest.fixture
def token(database: Database, clock: HandClock) -> AddToken:
    """``token("ann", "operator", ["campus"])``: a token and its text."""

    def make(
        name: str, role: str = "admin", networks: list[str] | None = None, **more: object
    ) -> tuple[Token, str]:
        with database.write() as connection:
            user = find_user(connection, name)
            return create_token(connection, user, "a test", Role(role), networks, at=clock(), **more)  # type: ignore[arg-type]

    return make
