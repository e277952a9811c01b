from __future__ import annotations

from datetime import timedelta

import pytest
import sqlalchemy as sa

from qosforge.access.authentication import Access
from qosforge.access.clients import Client
from qosforge.access.roles import NotAllowed, NotAuthenticated, Role
from qosforge.access.sessions import (
    SessionUnknown,
    csrf_token,
    end_one_session,
    end_sessions,
    open_session,
    session_id,
    sessions,
)
from qosforge.access.tables import SESSIONS
from qosforge.access.users import disable, find_user, grant
from qosforge.database.connections import Database
from tests.access.conftest import AddUser, HandClock


@pytest.fixture
def cookie(database: Database, clock: HandClock, add: AddUser) -> str:
    user_id = add("ann", campus="operator")
    with database.write() as connection:
        return open_session(connection, user_id, clock())


def test_a_session_may_what_its_user_may_now(access: Access, database: Database, cookie: str) -> None:
    caller = access.session(cookie)
    assert (caller.name, caller.credential, caller.roles) == ("ann", "session", {"campus": Role.OPERATOR})
    with database.write() as connection:
        grant(connection, "ann", "campus", Role.VIEWER)
    assert access.session(cookie).roles == {"campus": Role.VIEWER}


def test_an_idle_session_ends_and_a_used_one_goes_on(access: Access, clock: HandClock, cookie: str) -> None:
    for _ in range(4):
        clock.pass_(minutes=50)
        access.session(cookie)
    clock.pass_(minutes=60)
    with pytest.raises(NotAuthenticated, match="expired"):
        access.session(cookie)


def test_no_session_outlives_its_absolute_end(access: Access, clock: HandClock, cookie: str) -> None:
    for _ in range(23):
        clock.pass_(minutes=30)
        access.session(cookie)
    clock.pass_(minutes=29)
    access.session(cookie)
    clock.pass_(minutes=1)
    with pytest.raises(NotAuthenticated, match="expired"):
        access.session(cookie)


def test_a_session_that_was_ended_is_over(access: Access, cookie: str) -> None:
    access.log_out(cookie)
    access.log_out(cookie)
    with pytest.raises(NotAuthenticated, match="no such session"):
        access.session(cookie)


def test_the_sessions_of_a_disabled_user_are_over(
    access: Access, database: Database, clock: HandClock, add: AddUser, cookie: str
) -> None:
    with database.write() as connection:
        disable(connection, "ann", clock())
    with pytest.raises(NotAuthenticated):
        access.session(cookie)


@pytest.mark.parametrize("wrong", ["", "x", "0" * 64, "\0", "ä" * 9000])
def test_what_is_no_session_is_refused(access: Access, cookie: str, wrong: str) -> None:
    with pytest.raises(NotAuthenticated):
        access.session(wrong)


def test_a_mutating_call_carries_its_own_sessions_token(access: Access, cookie: str) -> None:
    access.check_csrf(cookie, csrf_token(cookie))
    for wrong in (None, "", cookie, csrf_token("0" * 64)):
        with pytest.raises(NotAllowed, match="session's token"):
            access.check_csrf(cookie, wrong)


def test_the_database_does_not_know_the_cookie(database: Database, cookie: str) -> None:
    with database.read() as connection:
        (row,) = connection.execute(sa.select(SESSIONS)).all()
    assert cookie not in str(row)
    assert csrf_token(cookie) not in str(row)


def test_sessions_long_over_leave_no_rows(
    access: Access, database: Database, clock: HandClock, cookie: str
) -> None:
    clock.pass_(hours=25)
    with database.write() as connection:
        open_session(connection, find_user(connection, "ann").id, clock())
        assert len(connection.execute(sa.select(SESSIONS)).all()) == 1


def test_the_sessions_that_last_are_listed_without_their_secrets(
    access: Access, database: Database, clock: HandClock, add: AddUser, cookie: str
) -> None:
    user = access.session(cookie).user_id
    clock.pass_(minutes=30)
    bob = add("bob")
    with database.write() as connection:
        second = open_session(connection, user, clock())
        open_session(connection, bob, clock())
    latest, first = sessions(database, user, clock())
    assert (latest.id, first.id) == (session_id(second), session_id(cookie))
    assert latest.used - first.used == timedelta(minutes=30)
    assert first.ends == first.begun + timedelta(hours=1)
    assert cookie not in str(first)
    clock.pass_(minutes=40)
    assert [one.id for one in sessions(database, user, clock())] == [latest.id]  # the other is over


def test_a_session_tells_from_where_it_is_used_until_it_ends(
    access: Access, database: Database, clock: HandClock, cookie: str
) -> None:
    user = access.session(cookie).user_id
    with database.write() as connection:
        elsewhere = open_session(connection, user, clock(), Client("192.0.2.7", "Firefox", "Linux"))
    clock.pass_(minutes=10)
    access.session(elsewhere, "2001:db8::1")  # taken on the way, or away
    moved, unknown = sessions(database, user, clock())
    assert (moved.address, moved.browser, moved.system) == ("2001:db8::1", "Firefox", "Linux")
    assert (unknown.address, unknown.browser, unknown.system) == (None, None, None)
    with database.write() as connection:
        end_sessions(connection, user, clock(), but=cookie)
    assert [one.id for one in sessions(database, user, clock())] == [session_id(cookie)]
    with database.read() as connection:
        rows = str(connection.execute(sa.select(SESSIONS)).all())
    assert "2001:db8::1" not in rows
    assert "Firefox" not in rows


def test_a_user_ends_own_sessions_only(
    access: Access, database: Database, clock: HandClock, add: AddUser, cookie: str
) -> None:
    bob = add("bob")
    with database.write() as connection, pytest.raises(SessionUnknown):
        end_one_session(connection, bob, session_id(cookie), clock())
    ann = access.session(cookie)
    with database.write() as connection:
        end_one_session(connection, ann.user_id, session_id(cookie), clock())
    with pytest.raises(NotAuthenticated, match="no such session"):
        access.session(cookie)
