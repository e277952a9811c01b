"""Runs every check, one after the other; a failing one does not stop the others."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Collection
from pathlib import Path

import sqlalchemy as sa

from qosforge.errors import InputError, QosforgeError
from qosforge.operations.checks import (
    backups,
    connections,
    credentials,
    executors,
    networks,
    program,
    settings,
    storage,
    webhooks,
)
from qosforge.operations.checks.model import Check, CheckContext, CheckResult, CheckState
from qosforge.settings import Settings
from qosforge.system_packages import parts

CHECKS: dict[str, Check] = {
    "python": program.check_python,
    "packages": program.check_packages,
    "twin": program.check_twin,
    "data files": program.check_data,
    "optional parts": program.check_parts,
    "settings": settings.check_settings,
    "run directory": storage.check_directory,
    "database": storage.check_database,
    "artifacts": storage.check_artifacts,
    "backup": backups.check_backup,
    "executors": executors.check_executors,
    "devices": executors.check_unsettled,
    "users": settings.check_users,
    "networks": networks.check_networks,
    "reach": connections.check_reach,
    "credentials": credentials.check_sources,
    "webhooks": webhooks.check_webhooks,
    "batfish": networks.check_batfish,
    "traces": connections.check_collector,
}
ON_REQUEST: dict[str, Check] = {"worker": executors.check_worker}
"""Checks that only some machines pass: run where they are named."""

_ROWS = {
    "disk": "run directory",
    "clock": "database",
    "tables": "database",
    "engine": "database",
    "pooler": "database",
    "token": "users",
    "vault": "credentials",
    "keyring": "credentials",
    "parquet": "optional parts",
    "pg_dump": "optional parts",
    "pg_restore": "optional parts",
}
"""Results with names of their own, and the checks that they are of; networks and optional parts have them, too."""


def examine(
    settings: Settings, checks: Collection[str] = tuple(CHECKS), networks: Collection[Path] = ()
) -> list[CheckResult]:
    """Run the named checks and return their results; nothing is changed.

    ``networks`` are the folders of those to judge, instead of all that the service knows.

    Raises:
        InputError: there is no check of one of the names.
    """
    every = CHECKS | ON_REQUEST
    for name in checks:
        if name not in every:
            of = check_of_row(name)
            row = f"its row is of the check {of!r}: name that; " if of else ""
            raise InputError(f"there is no check {name!r}", hint=f"{row}known: {', '.join(every)}")
    context = CheckContext(settings, os.environ, tuple(networks))
    results: list[CheckResult] = []
    for name in checks:
        try:
            results.extend(every[name](context))
        except QosforgeError as error:
            results.extend(
                CheckResult(name, CheckState.FAILED, f"{one.where}: {one.message}".removeprefix(": "), one.hint)
                for one in error.problems()
            )
        except (OSError, sqlite3.Error, sa.exc.SQLAlchemyError) as error:
            cause = getattr(error, "orig", None) or error
            told = (str(cause).strip().splitlines() or [type(cause).__name__])[0]
            results.append(
                CheckResult(name, CheckState.FAILED, f"cannot be checked: {told}", "see the other lines")
            )
    return results


def check_of_row(name: str) -> str | None:
    """The check that a result of this name is of; ``None`` where there is none."""
    if name in CHECKS | ON_REQUEST:
        return name
    if name in parts():
        return "optional parts"
    return "networks" if name.startswith("network ") else _ROWS.get(name)
