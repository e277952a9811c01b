"""On which networks a policy version may be run: where its author is operator, or an operator took it over.

What is written for all networks, or was before policies belonged to networks, reaches the devices of a network only
if somebody who may change these devices stands for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from qosforge.access.roles import EVERY_NETWORK, NotAllowed, Role
from qosforge.access.tables import GRANTS, USERS
from qosforge.database.connections import Database
from qosforge.database.upsert import insert_into
from qosforge.errors import InputError, Place
from qosforge.policy_library.tables import POLICIES, POLICY_TAKEOVERS
from qosforge.policy_library.versions import SHIPPED_VERSION, PolicyVersion

_OPERATORS = sorted(role.value for role in Role if role.covers(Role.OPERATOR))


def trusted_on(
    connection: sa.Connection, versions: Sequence[tuple[str, int, str]]
) -> dict[tuple[str, int], tuple[str, ...]]:
    """By name and number, the networks on which versions (name, number, author) may be run, sorted.

    An author, and who took a version over, count by the roles of this moment, and not at all once disabled.
    """
    takeovers = connection.execute(
        sa.select(POLICY_TAKEOVERS).where(POLICY_TAKEOVERS.c.name.in_({name for name, _, _ in versions}))
    ).all()
    people = {author for _, _, author in versions} | {row.by for row in takeovers}
    operated: dict[str, set[str]] = {}
    held = (USERS.c.disabled.is_(False), GRANTS.c.role.in_(_OPERATORS), USERS.c.name.in_(people))
    for name, network in connection.execute(
        sa.select(USERS.c.name, GRANTS.c.network).join_from(USERS, GRANTS).where(*held)
    ):
        operated.setdefault(name, set()).add(network)
    taken: dict[tuple[str, int], set[str]] = {}
    for row in takeovers:
        if not {EVERY_NETWORK, row.network}.isdisjoint(operated.get(row.by, ())):
            taken.setdefault((row.name, row.number), set()).add(row.network)
    return {
        (name, number): tuple(sorted(operated.get(author, set()) | taken.get((name, number), set())))
        for name, number, author in versions
    }


def take_over(connection: sa.Connection, row: Mapping[str, Any]) -> None:
    """Record that an operator of a network stands for a version there. What others did before stays recorded."""
    connection.execute(insert_into(connection, POLICY_TAKEOVERS).values(dict(row)).on_conflict_do_nothing())


def require_runnable(about: PolicyVersion, network: str) -> None:
    """Make sure that a version may be run on a network: it belongs there, and one of its operators stands for it.

    Raises:
        InputError: it belongs to another network.
        NotAllowed: nobody who is operator there wrote it or took it over.
    """
    require_owner(about, network)
    if not about.is_trusted_on(network):
        raise _distrust(about.name, about.number, about.author, network)


def find_distrust(database: Database, name: str, number: int | None, network: str) -> NotAllowed | None:
    """Why a version that a run was asked with may not be run on its network now; ``None`` where it may.

    Nothing is said against what ships, and against a text that no policy has (without a ``number``).
    """
    if number is None or number == SHIPPED_VERSION:
        return None
    written = sa.select(POLICIES.c.author).where(POLICIES.c.name == name, POLICIES.c.number == number)

    def ask(connection: sa.Connection) -> tuple[str, tuple[str, ...]]:
        author: str = connection.execute(written).scalar_one()
        return author, trusted_on(connection, [(name, number, author)])[name, number]

    author, trusted = database.query(ask)
    return _distrust(name, number, author, network) if {EVERY_NETWORK, network}.isdisjoint(trusted) else None


def _distrust(name: str, number: int, author: str, network: str) -> NotAllowed:
    return NotAllowed(
        f"version {number} of policy {name!r} was written by {author}, who is no operator of {network}",
        Place(path="policy"),
        f"look at it; an operator of {network} takes it over on its page, by REST or by "
        f"qosforge take-over {name}@{number} --network {network}",
    )


def require_owner(about: PolicyVersion, network: str) -> None:
    """Make sure that a policy is one of a network's, or of all.

    Raises:
        InputError: it belongs to another network.
    """
    if about.network not in (EVERY_NETWORK, network):
        raise InputError(
            f"policy {about.name!r} belongs to {owner_text(about.network)}, not to network {network}",
            Place(path="policy"),
            f"store its text for {network} under another name",
        )


def writer_role(network: str) -> Role:
    """The role that writes the policies of a network: what is for all networks takes an admin of all."""
    return Role.ADMIN if network == EVERY_NETWORK else Role.OPERATOR


def owner_text(network: str) -> str:
    """Whose policy it is, in words."""
    return "all networks" if network == EVERY_NETWORK else f"network {network}"
