"""Every check, one after the other; one that fails does not keep the others from being made."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Collection

import sqlalchemy as sa

from qosforge.errors import InputError, QosforgeError
from qosforge.operations.checks import choices, outside, program, running, sources, storage, telling
from qosforge.operations.checks.model import Check, Result, State, Surroundings
from qosforge.settings import Settings

CHECKS: dict[str, Check] = {
    "python": program.check_python,
    "packages": program.check_packages,
    "twin": program.check_twin,
    "data files": program.check_data,
    "optional parts": program.check_parts,
    "settings": choices.check_settings,
    "run directory": storage.check_directory,
    "database": storage.check_database,
    "artifacts": storage.check_artifacts,
    "executors": running.check_executors,
    "devices": running.check_unsettled,
    "users": choices.check_users,
    "networks": outside.check_networks,
    "credentials": sources.check_sources,
    "webhooks": telling.check_webhooks,
    "batfish": outside.check_batfish,
}
ON_REQUEST: dict[str, Check] = {"worker": running.check_worker}
"""Checks that only some machines pass: made where they are named."""


def examine(settings: Settings, checks: Collection[str] = tuple(CHECKS)) -> list[Result]:
    """What the checks find; nothing is changed.

    Raises:
        InputError: there is no check of one of the names.
    """
    every = CHECKS | ON_REQUEST
    for name in checks:
        if name not in every:
            raise InputError(f"there is no check {name!r}", hint=f"known: {', '.join(every)}")
    around = Surroundings(settings, os.environ)
    results: list[Result] = []
    for name in checks:
        try:
            results.extend(every[name](around))
        except QosforgeError as error:
            results.extend(
                Result(name, State.FAILED, f"{one.where}: {one.message}".removeprefix(": "), one.hint)
                for one in error.problems()
            )
        except (OSError, sqlite3.Error, sa.exc.SQLAlchemyError) as error:
            cause = getattr(error, "orig", None) or error
            told = (str(cause).strip().splitlines() or [type(cause).__name__])[0]
            results.append(Result(name, State.FAILED, f"cannot be checked: {told}", "see the other lines"))
    return results
