"""Whose a policy is, and on which networks it may be run: where its author is operator, or one took it over.

What is written for all networks, or was before policies belonged to networks, reaches the devices of a network only
if somebody who may change these devices stands for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from app.access.roles import EVERY_NETWORK, NotAllowed, Role
from app.access.tables import GRANTS, USERS
from app.errors import InputError, Place
from app.runs.policy_versions import PolicyVersion
from app.runs.tables import POLICY_TAKEOVERS

_OPERATORS = sorted(role.value for role in Role if role.covers(Role.OPERATOR))


def trusted_on(
    connection: sa.Connection, versions: Sequence[tuple[str, int, str]]
) -> dict[tuple[str, int], tuple[str, ...]]:
    """By name and number, the networks on which versions (name, number, author) may be run, sorted.

    An author counts by the roles of this moment, and not at all once disabled.
    """
    operated: dict[str, set[str]] = {}
    grants = (
        sa.select(USERS.c.name, GRANTS.c.network)
        .join_from(USERS, GRANTS)
        .where(
            USERS.c.name.in_({author for _, _, author in versions}),
            USERS.c.disabled.is_(False),
            GRANTS.c.role.in_(_OPERATORS),
        )
    )
    for author, network in connection.execute(grants):
        operated.setdefault(author, set()).add(network)
    taken: dict[tuple[str, int], set[str]] = {}
    takeovers = sa.select(POLICY_TAKEOVERS).where(POLICY_TAKEOVERS.c.name.in_({name for name, _, _ in versions}))
    for row in connection.execute(takeovers):
        taken.setdefault((row.name, row.number), set()).add(row.network)
    return {
        (name, number): tuple(sorted(operated.get(author, set()) | taken.get((name, number), set())))
        for name, number, author in versions
    }


def take_over(connection: sa.Connection, row: Mapping[str, Any]) -> None:
    """Record that an operator of a network stands for a version there; who did it first stays."""
    same = [POLICY_TAKEOVERS.c[column] == row[column] for column in ("name", "number", "network")]
    if connection.execute(sa.select(POLICY_TAKEOVERS.c.by).where(*same)).one_or_none() is None:
        connection.execute(sa.insert(POLICY_TAKEOVERS).values(dict(row)))


def require_runnable(about: PolicyVersion, network: str) -> None:
    """Make sure that a version may be run on a network: it belongs there, and one of its operators stands for it.

    Raises:
        InputError: it belongs to another network.
        NotAllowed: nobody who is operator there wrote it or took it over.
    """
    require_of(about, network)
    if not about.is_trusted_on(network):
        raise NotAllowed(
            f"version {about.number} of policy {about.name!r} was written by {about.author}, "
            f"who is no operator of {network}",
            Place(path="policy"),
            f"look at it; an operator of {network} takes it over on its page, by REST or by "
            f"qosforge take-over {about.name}@{about.number} --network {network}",
        )


def require_of(about: PolicyVersion, network: str) -> None:
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
