from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta

import pytest
import sqlalchemy as sa

from qosforge.access.authentication import Access
from qosforge.access.roles import NotAllowed, NotAuthenticated, Role
from qosforge.access.tables import TOKENS
from qosforge.access.tokens import TokenUnknown, find_token, revoke_token, tokens
from qosforge.access.users import disable, enable, grant, revoke
from qosforge.database.connections import Database
from qosforge.errors import InputError
from tests.access.conftest import AddToken, AddUser, HandClock


def test_a_token_names_its_user_and_what_the_user_may(access: Access, add: AddUser, token: AddToken) -> None:
    user_id = add("ann", campus="operator", lab="viewer")
    made, text = token("ann")
    caller = access.authenticate(text)
    assert (caller.user_id, caller.name, caller.credential) == (user_id, "ann", f"token:{made.id}")
    assert caller.roles == {"campus": Role.OPERATOR, "lab": Role.VIEWER}


@pytest.mark.parametrize(
    ("bounds", "left"),
    [
        (("admin", None), {"*": "viewer", "campus": "approver"}),
        (("operator", None), {"*": "viewer", "campus": "operator"}),
        (("admin", ["campus"]), {"campus": "approver"}),
        (("operator", ["campus", "lab"]), {"campus": "operator", "lab": "viewer"}),
        (("viewer", ["lab"]), {"lab": "viewer"}),
    ],
)
def test_a_token_is_bound_by_role_and_networks(
    access: Access, add: AddUser, token: AddToken, bounds: tuple[str, list[str] | None], left: dict[str, str]
) -> None:
    add("ann", everywhere="viewer", campus="approver")
    assert access.authenticate(token("ann", *bounds)[1]).roles == left


def test_a_token_follows_its_users_grants(
    access: Access, database: Database, add: AddUser, token: AddToken
) -> None:
    add("ann", campus="operator")
    _, text = token("ann", "approver", ["campus", "lab"])
    with database.write() as connection:
        grant(connection, "ann", "campus", Role.ADMIN)
        grant(connection, "ann", "lab", Role.VIEWER)
    assert access.authenticate(text).roles == {"campus": Role.APPROVER, "lab": Role.VIEWER}
    with database.write() as connection:
        revoke(connection, "ann", "campus")
        revoke(connection, "ann", "lab")
    assert access.authenticate(text).roles == {}


def test_a_revoked_token_is_refused_at_once_and_so_are_those_it_made(
    access: Access, database: Database, clock: HandClock, add: AddUser, token: AddToken
) -> None:
    add("ann", campus="operator")
    parent, text = token("ann", "operator")
    _, child = token("ann", "operator", maker=access.authenticate(text))
    _, grandchild = token("ann", "viewer", maker=access.authenticate(child))
    _, other = token("ann", "viewer")
    with database.write() as connection:
        revoke_token(connection, parent.id, clock())
    for revoked in (text, child, grandchild):
        with pytest.raises(NotAuthenticated, match="revoked"):
            access.authenticate(revoked)
    assert access.authenticate(other).name == "ann"


def test_a_token_expires(access: Access, clock: HandClock, add: AddUser, token: AddToken) -> None:
    add("ann", campus="operator")
    made, text = token("ann")
    assert made.expires - made.created == timedelta(days=90)
    clock.pass_(days=89, hours=23)
    assert access.authenticate(text).name == "ann"
    clock.pass_(hours=1)
    with pytest.raises(NotAuthenticated, match="expired on 2026-05-31 08:00 UTC"):
        access.authenticate(text)


def test_the_tokens_of_a_disabled_user_die_for_good(
    access: Access, database: Database, clock: HandClock, add: AddUser, token: AddToken
) -> None:
    add("ann", campus="operator")
    _, text = token("ann")
    with database.write() as connection:
        disable(connection, "ann", clock())
    with pytest.raises(NotAuthenticated):
        access.authenticate(text)
    with pytest.raises(InputError, match="disabled"):
        token("ann")
    with database.write() as connection:
        enable(connection, "ann")
    with pytest.raises(NotAuthenticated):
        access.authenticate(text)
    assert access.authenticate(token("ann")[1]).name == "ann"


@pytest.mark.parametrize("text", ["", "qf_", "x" * 5000, "qf_0123456789abcdef_" + "0" * 64, "qf_ä_ö", "qf_\0"])
def test_what_is_no_token_is_refused_with_a_hint(access: Access, text: str) -> None:
    with pytest.raises(NotAuthenticated) as caught:
        access.authenticate(text)
    assert "qosforge token create" in caught.value.hint


def test_the_id_of_a_token_alone_opens_nothing(access: Access, add: AddUser, token: AddToken) -> None:
    add("ann", campus="operator")
    _, text = token("ann")
    changed = text[:-1] + ("0" if text[-1] != "0" else "1")
    with pytest.raises(NotAuthenticated, match="not known"):
        access.authenticate(changed)


def test_no_token_stands_in_the_database(database: Database, add: AddUser, token: AddToken) -> None:
    add("ann", campus="operator")
    _, text = token("ann")
    with database.read() as connection:
        (row,) = connection.execute(sa.select(TOKENS)).all()
    assert text not in str(row)
    assert text.rpartition("_")[2] not in str(row)


def test_authentication_is_one_query(access: Access, database: Database, add: AddUser, token: AddToken) -> None:
    add("ann", campus="operator", lab="viewer")
    _, text = token("ann")
    statements: Counter[str] = Counter()

    def count(*call: object) -> None:
        statements[str(call[2]).split()[0]] += 1

    with database.read() as connection:
        engine = connection.engine
    sa.event.listen(engine, "before_cursor_execute", count)
    access.authenticate(text)
    sa.event.remove(engine, "before_cursor_execute", count)
    assert {verb: number for verb, number in statements.items() if verb != "BEGIN"} == {"SELECT": 1}


@pytest.mark.parametrize("days", [0, -1, 366])
def test_a_life_out_of_bounds_is_refused(add: AddUser, token: AddToken, days: int) -> None:
    add("ann", campus="operator")
    with pytest.raises(InputError, match="365 days"):
        token("ann", life=timedelta(days=days))


@pytest.mark.parametrize("networks", [[], ["*"], ["a/b"], [""]])
def test_networks_that_cannot_be_are_refused(add: AddUser, token: AddToken, networks: list[str]) -> None:
    add("ann", campus="operator")
    with pytest.raises(InputError, match="network"):
        token("ann", networks=networks)


def test_nobody_makes_a_token_that_may_more(access: Access, add: AddUser, token: AddToken) -> None:
    add("ann", campus="admin", lab="viewer")
    add("bob", everywhere="admin")
    small = access.authenticate(token("ann", "operator", ["campus"])[1])
    for name, role, networks in (
        ("ann", "approver", ["campus"]),
        ("ann", "approver", None),
        ("ann", "viewer", ["lab"]),
        ("ann", "viewer", ["campus", "lab"]),
        ("bob", "viewer", ["campus"]),
    ):
        with pytest.raises(NotAllowed):
            token(name, role, networks, maker=small)
    # One for "all networks" gets those of its maker only.
    made, text = token("ann", "operator", maker=small)
    assert made.networks == ("campus",)
    assert access.authenticate(text).roles == {"campus": Role.OPERATOR}


def test_a_token_made_by_a_token_does_not_outlive_it(
    access: Access, clock: HandClock, add: AddUser, token: AddToken
) -> None:
    add("ann", campus="operator")
    first, text = token("ann", life=timedelta(days=10))
    clock.pass_(days=4)
    made, _ = token("ann", "viewer", maker=access.authenticate(text))
    assert made.expires == first.expires


def test_an_admin_of_every_network_makes_tokens_of_others(access: Access, add: AddUser, token: AddToken) -> None:
    add("root", everywhere="admin")
    add("local", campus="admin")
    add("ann", campus="operator")
    boss = access.authenticate(token("root")[1])
    assert access.authenticate(token("ann", "viewer", maker=boss)[1]).name == "ann"
    with pytest.raises(NotAllowed):
        token("ann", "viewer", ["campus"], maker=access.authenticate(token("local")[1]))


def test_tokens_are_listed_without_their_secrets(
    database: Database, clock: HandClock, add: AddUser, token: AddToken
) -> None:
    add("ann", campus="operator")
    add("bob", campus="operator")
    first, text = token("ann")
    clock.pass_(hours=1)
    second, _ = token("bob", networks=["lab", "campus"])
    assert tokens(database) == [second, first]
    assert tokens(database, "ann") == [first]
    assert second.networks == ("campus", "lab")
    assert text not in str(tokens(database))


def test_when_a_token_was_last_used_is_kept_to_a_minute(
    access: Access, database: Database, clock: HandClock, add: AddUser, token: AddToken
) -> None:
    add("ann", campus="operator")
    (made, text), (other, _) = token("ann"), token("ann")

    def used() -> dict[str, datetime | None]:
        return {each.id: each.last_used for each in tokens(database, "ann")}

    assert (made.last_used, used()) == (None, {made.id: None, other.id: None})
    first = clock()
    access.authenticate(text)
    clock.pass_(seconds=59)
    access.authenticate(text)
    assert used() == {made.id: first, other.id: None}
    clock.pass_(seconds=1)
    access.authenticate(text)
    assert used() == {made.id: clock(), other.id: None}
    with database.write() as connection:
        revoke_token(connection, made.id, clock())
    last = clock()
    clock.pass_(days=1)
    with pytest.raises(NotAuthenticated):
        access.authenticate(text)
    assert used()[made.id] == last


def test_a_token_is_let_in_where_its_use_cannot_be_written(
    access: Access, database: Database, clock: HandClock, add: AddUser, token: AddToken
) -> None:
    """Whether others write at that moment for long, or nobody can."""
    add("ann", campus="operator")
    made, text = token("ann")
    with database.write() as connection:
        connection.execute(TOKENS.update().values(name="others write"))
        assert access.authenticate(text).name == "ann"
    with database.write() as connection:
        connection.execute(
            sa.text("CREATE TRIGGER full BEFORE UPDATE ON tokens BEGIN SELECT RAISE(ABORT, 'disk full'); END")
        )
    assert access.authenticate(text).name == "ann"
    with database.write() as connection:
        connection.execute(sa.text("DROP TRIGGER full"))
    assert find_token_use(database, made.id) is None
    access.authenticate(text)
    assert find_token_use(database, made.id) == clock()


def find_token_use(database: Database, token_id: str) -> datetime | None:
    with database.read() as connection:
        return find_token(connection, token_id).last_used


def test_an_unknown_token_cannot_be_revoked(database: Database, clock: HandClock) -> None:
    with database.write() as connection, pytest.raises(TokenUnknown):
        revoke_token(connection, "0123456789abcdef", clock())
    with database.read() as connection, pytest.raises(TokenUnknown):
        find_token(connection, "x")
