"""Checks of the settings, for contradictions and unknown names, and of the users."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import timedelta
from urllib.parse import urlsplit

import sqlalchemy as sa

from qosforge.access.roles import EVERY_NETWORK, Role
from qosforge.access.tables import GRANTS, TOKENS, USERS
from qosforge.operations.checks.model import CheckContext, CheckResult, CheckState
from qosforge.settings import unknown_variables

_PREFIX = "QOSFORGE_"
_SOON = timedelta(days=14)
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def check_settings(context: CheckContext) -> Iterator[CheckResult]:
    """No setting contradicts another one, and none is unknown."""
    problems = [*_contradictions(context), *_unknown(context)]
    for message, hint in problems:
        yield CheckResult("settings", CheckState.WARNING, message, hint)
    if not problems:
        yield CheckResult("settings", CheckState.GOOD, "none contradicts another")


def _contradictions(context: CheckContext) -> Iterator[tuple[str, str]]:
    settings = context.settings
    oidc = {"OIDC_ISSUER": settings.oidc_issuer, "OIDC_CLIENT_ID": settings.oidc_client_id}
    given = [name for name, value in oidc.items() if value]
    if given and (len(given) < len(oidc) or not settings.public_url):
        missing = [name for name, value in {**oidc, "PUBLIC_URL": settings.public_url}.items() if not value]
        names = ", ".join(_PREFIX + name for name in missing)
        yield f"login by a provider is half set up: {names} missing", "set all three, or none"
    for name, value in (("PUBLIC_URL", settings.public_url), ("OIDC_ISSUER", settings.oidc_issuer)):
        if not value:
            continue
        parts = urlsplit(value)
        if parts.scheme == "http" and parts.hostname not in _LOOPBACK:
            yield f"{_PREFIX}{name} is not encrypted", "put a proxy with TLS before the service, and write https"
    cores = os.cpu_count() or 1
    if settings.compute_processes > 2 * cores:
        message = f"{settings.compute_processes} processes shall compile on {cores} cores"
        yield message, f"lower {_PREFIX}COMPUTE_PROCESSES"


def _unknown(context: CheckContext) -> Iterator[tuple[str, str]]:
    for name, near in unknown_variables(context.environment).items():
        yield f"{name} is read by nobody", f"did you mean {near}?" if near else "unset it"


def check_users(context: CheckContext) -> Iterator[CheckResult]:
    """Somebody may manage users, and no token in use runs out unseen."""
    with context.store() as connection:
        if connection is None:
            return
        if not connection.scalar(sa.select(sa.func.count()).select_from(USERS)):
            yield CheckResult(
                "users", CheckState.GOOD, "none: only the command line on this machine may do anything"
            )
            return
        admins = connection.execute(
            sa.select(USERS.c.name)
            .join(GRANTS, GRANTS.c.user_id == USERS.c.id)
            .where(GRANTS.c.role == Role.ADMIN.value, GRANTS.c.network == EVERY_NETWORK, ~USERS.c.disabled)
            .order_by(USERS.c.name)
        ).scalars()
        names = list(admins)
        now = context.now()
        ending = connection.execute(
            sa.select(USERS.c.name.label("user"), TOKENS.c.name, TOKENS.c.expires)
            .join(USERS, USERS.c.id == TOKENS.c.user_id)
            .where(TOKENS.c.revoked.is_(None), TOKENS.c.expires > now, TOKENS.c.expires < now + _SOON)
            .where(~USERS.c.disabled)
            .order_by(TOKENS.c.expires)
        ).all()
    if names:
        yield CheckResult("users", CheckState.GOOD, f"admins: {', '.join(names)}")
    else:
        hint = "qosforge user grant NAME admin, on the machine of the database"
        yield CheckResult("users", CheckState.WARNING, "nobody may manage users", hint)
    for row in ending:
        message = f"{row.name} of {row.user} ends on {row.expires:%Y-%m-%d}"
        yield CheckResult("token", CheckState.WARNING, message, "make a new one before, with qosforge token")
