"""What PostgreSQL does otherwise than SQLite: its triggers, its locks, its errors inside a transaction."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
import sqlalchemy as sa

from qosforge.access.audit_log import Call, calls_page
from qosforge.access.authentication import Access
from qosforge.access.roles import NotAuthenticated, Role
from qosforge.access.tokens import create_token, revoke_token, tokens
from qosforge.access.users import LastAdmin, NameTaken, add_user, disable, find_user, grant, users
from qosforge.database.connections import Database
from qosforge.errors import StoreError
from qosforge.settings import Settings
from tests.access.conftest import HandClock

NOW = datetime(2026, 3, 2, tzinfo=UTC)


@pytest.fixture
def database(postgres_url: str) -> Iterator[Database]:
    opened = Database(postgres_url)
    yield opened
    opened.close()


@pytest.fixture
def access(database: Database, settings: Settings, clock: HandClock) -> Access:
    return Access(database, settings, clock)


@pytest.mark.parametrize("change", ["UPDATE calls SET actor = 'bob'", "DELETE FROM calls", "TRUNCATE calls"])
def test_the_database_refuses_to_change_the_log(access: Access, database: Database, change: str) -> None:
    access.record(Call("POST /api/v1/runs", 201, "ann"))
    with pytest.raises(StoreError, match="append-only"), database.write() as connection:
        connection.execute(sa.text(change))
    assert [call.actor for call in calls_page(database, None)] == ["ann"]


def test_from_where_a_login_failed_is_beside_the_log(access: Access, database: Database, clock: HandClock) -> None:
    access.record(Call("POST /login", 401, address="192.0.2.7"))
    access.record(Call("POST /login", 303, "ann"))
    assert [call.address for call in calls_page(database, None)] == ["192.0.2.7", ""]
    clock.pass_(days=30)
    access.record(Call("POST /login", 401, address="192.0.2.8"))
    assert [call.address for call in calls_page(database, None)] == ["", "", "192.0.2.8"]


def test_a_taken_name_leaves_the_transaction_usable(database: Database) -> None:
    with database.write() as connection:
        add_user(connection, "ann", NOW)
        with pytest.raises(NameTaken):
            add_user(connection, "ann", NOW)
        add_user(connection, "bob", NOW)
    assert [user.name for user in users(database)] == ["ann", "bob"]


def test_tokens_and_those_they_made(access: Access, database: Database, clock: HandClock) -> None:
    with database.write() as connection:
        add_user(connection, "ann", clock())
        grant(connection, "ann", "campus", Role.OPERATOR)
        user = find_user(connection, "ann")
        parent, text = create_token(connection, user, "", Role.OPERATOR, ["campus"], at=clock())
    maker = access.authenticate(text)
    with database.write() as connection:
        _, child = create_token(connection, user, "", Role.VIEWER, None, at=clock(), maker=maker)
    assert access.authenticate(child).roles == {"campus": Role.VIEWER}
    with database.write() as connection:
        revoke_token(connection, parent.id, clock())
    with pytest.raises(NotAuthenticated):
        access.authenticate(child)


def test_a_token_is_let_in_while_others_hold_its_row(access: Access, database: Database, clock: HandClock) -> None:
    with database.write() as connection:
        add_user(connection, "ann", clock())
        grant(connection, "ann", "campus", Role.OPERATOR)
        made, text = create_token(connection, find_user(connection, "ann"), "", Role.OPERATOR, None, at=clock())

    def used() -> list[datetime | None]:
        return [each.last_used for each in tokens(database)]

    with database.write() as connection:
        revoke_token(connection, made.id, clock())
        assert access.authenticate(text).name == "ann"
        connection.rollback()
    assert used() == [None]
    access.authenticate(text)
    assert used() == [clock()]


def test_of_two_admins_who_disable_each_other_at_once_one_stays(database: Database) -> None:
    names = ("ann", "bob")
    with database.write() as connection:
        for name in names:
            add_user(connection, name, NOW)
            grant(connection, name, "*", Role.ADMIN)
    both_began = threading.Barrier(2)
    refused: list[str] = []

    def shut_out(name: str) -> None:
        try:
            with database.write() as connection:
                find_user(connection, name)
                both_began.wait(timeout=60)
                disable(connection, name, NOW)
        except LastAdmin:
            refused.append(name)

    threads = [threading.Thread(target=shut_out, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert len(refused) == 1
    assert [user.name for user in users(database) if not user.disabled] == refused
