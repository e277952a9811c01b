from __future__ import annotations

from collections.abc import Callable

import pytest
import sqlalchemy as sa

from qosforge.access.browsers import KNOWN, MOST, known_browser, remember_browser
from qosforge.access.passwords import set_password
from qosforge.access.tables import BROWSERS
from qosforge.access.users import disable, find_user
from qosforge.database.connections import Database
from tests.access.conftest import AddUser, HandClock


def test_the_newest_browsers_of_a_user_are_known(database: Database, clock: HandClock, add: AddUser) -> None:
    secrets = {}
    for name in ("ann", "bob"):
        user = add(name)
        secrets[name] = []
        for _ in range(MOST + 3 if name == "ann" else 1):
            clock.pass_(minutes=1)
            with database.write() as connection:
                secrets[name].append(remember_browser(connection, user, clock()))
    known = [known_browser(database, secret, "ann", clock()) is not None for secret in secrets["ann"]]
    assert known == [False] * 3 + [True] * MOST
    clock.pass_(days=KNOWN.days)
    with database.write() as connection:
        remember_browser(connection, find_user(connection, "ann").id, clock())
        assert connection.scalar(sa.select(sa.func.count()).select_from(BROWSERS)) == 2, "bob's, and the new one"


@pytest.mark.parametrize(
    "end",
    [
        lambda connection, at: set_password(connection, find_user(connection, "ann"), "hash", at),
        lambda connection, at: disable(connection, "ann", at),
    ],
    ids=["password", "disabled"],
)
def test_no_browser_is_known_after_another_password_or_once_disabled(
    database: Database, clock: HandClock, add: AddUser, end: Callable[..., None]
) -> None:
    add("root", everywhere="admin")
    ids = {name: add(name) for name in ("ann", "bob")}
    with database.write() as connection:
        secrets = {name: remember_browser(connection, user, clock()) for name, user in ids.items()}
        end(connection, clock())
    known = {name: known_browser(database, secret, name, clock()) for name, secret in secrets.items()}
    assert known["ann"] is None
    assert known["bob"] is not None
