"""Callers whom no user stands behind."""

from __future__ import annotations

from qosforge.access.roles import EVERY_NETWORK, Principal, Role


def somebody(name: str, role: Role = Role.ADMIN, network: str = EVERY_NETWORK) -> Principal:
    """Who has a role on one network, or on every one."""
    return Principal(name, name, "session", {network: role})
