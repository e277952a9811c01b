"""Commands that manage users where the database is: whoever may write it is trusted, and every change is logged."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from difflib import get_close_matches
from typing import Annotated, Any

import sqlalchemy as sa
import typer

from qosforge.access.audit_log import Call, record_call
from qosforge.access.authentication import Access
from qosforge.access.roles import EVERY_NETWORK
from qosforge.cli.account import account
from qosforge.cli.terminal import progress
from qosforge.database.connections import Database
from qosforge.errors import InputError, QosforgeError
from qosforge.inventory import catalogue
from qosforge.settings import load_settings

Networks = Annotated[
    list[str] | None,
    typer.Option("--network", "-n", help="Only on this network (may be repeated; default: on every one)."),
]


def grant_networks(chosen: list[str] | None) -> list[str]:
    """The networks of grants: those named, or the sign for every one."""
    return chosen or [EVERY_NETWORK]


def tell_unknown(chosen: list[str] | None) -> None:
    """Say of networks that the service does not have that it has not: rights may come before, or be mistyped.

    What the command did is done, so where the service's networks cannot be listed nothing is said.
    """
    named = [name for name in chosen or () if name != EVERY_NETWORK]
    if not named:
        return
    try:
        known = catalogue.Networks(load_settings().inventories_dir).names()
    except QosforgeError:
        return
    for name in named:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            progress(
                "warning", f"there is no network {name!r} yet" + (f": did you mean {near[0]!r}?" if near else "")
            )


@contextmanager
def reading() -> Iterator[Access]:
    """Users, tokens and testers of this installation."""
    settings = load_settings()
    settings.make_var_dir()
    database = Database(settings.database_url)
    try:
        yield Access(database, settings)
    finally:
        database.close()


@contextmanager
def changing(
    action: str, resource: str, networks: list[str] | None = None, detail: dict[str, Any] | None = None
) -> Iterator[tuple[sa.Connection, datetime]]:
    """One transaction that changes something, and the moment it is.

    The row of the audit log is part of it, with ``detail`` as the block leaves it; a refused command gets a row
    alone.
    """
    network = ",".join(networks or ())
    told = detail if detail is not None else {}
    with reading() as access:
        at = access.now()
        try:
            with access.database.write() as connection:
                yield connection, at
                record_call(connection, _call(action, 200, resource, network, told), at)
        except InputError as error:
            access.record(_call(action, 422, resource, network, told, error.message))
            raise


def _call(action: str, status: int, resource: str, network: str, detail: dict[str, Any], reason: str = "") -> Call:
    return Call(f"qosforge {action}", status, account(), "local", network, resource, detail=detail, reason=reason)
