from __future__ import annotations

from datetime import UTC, datetime

import pytest

from qosforge.access.roles import Role
from qosforge.access.users import (
    LastAdmin,
    NameTaken,
    UserUnknown,
    add_user,
    disable,
    enable,
    find_user,
    grant,
    revoke,
    users,
)
from qosforge.database.connections import Database
from qosforge.errors import InputError
from tests.access.conftest import AddUser

NOW = datetime(2026, 3, 2, tzinfo=UTC)


def test_users_have_roles_by_network(database: Database, add: AddUser) -> None:
    add("bob", everywhere="viewer")
    add("ann", campus="operator", lab="viewer")
    with database.write() as connection:
        grant(connection, "ann", "campus", Role.APPROVER)
        revoke(connection, "ann", "lab")
        revoke(connection, "ann", "lab")
    assert [(user.name, user.roles) for user in users(database)] == [
        ("ann", {"campus": Role.APPROVER}),
        ("bob", {"*": Role.VIEWER}),
    ]


def test_a_name_and_a_subject_belong_to_one_user(database: Database, add: AddUser) -> None:
    with database.write() as connection:
        add_user(connection, "ann", NOW, issuer="https://id.example.net", subject="1")
        add_user(connection, "eve", NOW, issuer="https://other.example.net", subject="1")
    for name, subject in (("ann", "2"), ("bob", "1")):
        with database.write() as connection:
            with pytest.raises(NameTaken):
                add_user(connection, name, NOW, issuer="https://id.example.net", subject=subject)
            add_user(connection, f"after-{subject}", NOW)  # the transaction goes on
    assert [user.name for user in users(database)] == ["after-1", "after-2", "ann", "eve"]


@pytest.mark.parametrize("name", ["", "Ann", "ann smith", "-ann", "ann\n", "a/b", "ä", "x" * 65, "*"])
def test_a_name_that_cannot_be_is_refused(database: Database, name: str) -> None:
    with database.write() as connection, pytest.raises(InputError, match="small letters"):
        add_user(connection, name, NOW)


def test_the_last_admin_of_all_cannot_go(database: Database, add: AddUser) -> None:
    add("root", everywhere="admin")
    add("local", campus="admin")
    add("gone", everywhere="admin")
    with database.write() as connection:
        disable(connection, "gone", NOW)
        disable(connection, "local", NOW)
        with pytest.raises(LastAdmin):
            disable(connection, "root", NOW)
        with pytest.raises(LastAdmin):
            revoke(connection, "root", "*")
        with pytest.raises(LastAdmin):
            grant(connection, "root", "*", Role.APPROVER)
        grant(connection, "root", "*", Role.ADMIN)
        enable(connection, "gone")
        disable(connection, "root", NOW)


def test_who_is_not_there_is_reported(database: Database) -> None:
    with database.write() as connection:
        for act in (find_user, enable):
            with pytest.raises(UserUnknown):
                act(connection, "nobody")
        with pytest.raises(UserUnknown):
            grant(connection, "nobody", "campus", Role.VIEWER)
