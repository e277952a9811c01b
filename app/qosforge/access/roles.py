"""Roles, and what a caller may do on a network."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from qosforge.errors import QosforgeError

EVERY_NETWORK = "*"
"""Stands for all networks in a grant."""


class Role(StrEnum):
    """A role; each includes the rights of those before it."""

    VIEWER = "viewer"
    """Sees policies, devices, runs and measurements."""
    OPERATOR = "operator"
    """Stores policies of the network, asks for runs and measurements, cancels and rolls back."""
    APPROVER = "approver"
    """Approves and rejects runs."""
    ADMIN = "admin"
    """Manages users, grants, testers and everybody's tokens; reads the audit log."""

    @property
    def rank(self) -> int:
        """Its place among the roles: a higher one may do more."""
        return list(Role).index(self)

    @property
    def person(self) -> str:
        """Who has it, in a sentence: ``an operator``."""
        return _PERSONS[self]

    def covers(self, needed: Role) -> bool:
        """Whether who has this role may do what ``needed`` may."""
        return self.rank >= needed.rank


_PERSONS = {
    Role.VIEWER: "a viewer",
    Role.OPERATOR: "an operator",
    Role.APPROVER: "an approver",
    Role.ADMIN: "an administrator",
}
ASK_FOR_ROLE = "ask an administrator for the role"


@dataclass(eq=False)
class NotAuthenticated(QosforgeError):
    """The call carries no valid credential."""


@dataclass(eq=False)
class NotAllowed(QosforgeError):
    """The caller is authenticated, but may not do this."""


@dataclass(frozen=True)
class Principal:
    """A caller: a user, authenticated by one credential.

    ``roles`` has what the credential may do by network (`EVERY_NETWORK` for all): a token never more than its user.
    ``credential`` names it in the audit log: ``token:<id>``, ``session``, or ``local`` on the command line.
    """

    user_id: str
    name: str
    credential: str
    roles: Mapping[str, Role]

    def role_on(self, network: str) -> Role | None:
        """The highest role on a network; ``None`` where there is none."""
        return max_role(self.roles.get(network), self.roles.get(EVERY_NETWORK))

    def may(self, needed: Role, network: str) -> bool:
        """Whether ``needed`` is covered on ``network``."""
        role = self.role_on(network)
        return role is not None and role.covers(needed)

    def require(self, needed: Role, network: str = EVERY_NETWORK) -> None:
        """Make sure that ``needed`` is covered on ``network``; without one, on every network.

        Raises:
            NotAllowed: it is not.
        """
        if not self.may(needed, network):
            where = "every network" if network == EVERY_NETWORK else f"network {network}"
            raise NotAllowed(f"only {needed.person} of {where} may do this", hint=ASK_FOR_ROLE)

    def networks(self, known: Iterable[str], needed: Role = Role.VIEWER) -> tuple[str, ...]:
        """Those of the ``known`` networks on which ``needed`` is covered."""
        return tuple(name for name in known if self.may(needed, name))


def roles_of(grants: Iterable[tuple[str | None, str | None]]) -> dict[str, Role]:
    """Roles by network, from rows of grants; a row of a user without any is empty."""
    return {network: Role(role) for network, role in grants if network is not None and role is not None}


def limit_roles(granted: Mapping[str, Role], highest: Role, networks: Collection[str] | None) -> dict[str, Role]:
    """The ``granted`` roles, limited to at most ``highest`` and to ``networks`` (``None``: all)."""
    if networks is not None:
        everywhere = granted.get(EVERY_NETWORK)
        found = {name: max_role(granted.get(name), everywhere) for name in networks}
        granted = {name: role for name, role in found.items() if role is not None}
    return {name: role if highest.covers(role) else highest for name, role in granted.items()}


def max_role(*roles: Role | None) -> Role | None:
    """The highest of some roles; ``None`` where there is none."""
    return max((role for role in roles if role is not None), key=lambda role: role.rank, default=None)
