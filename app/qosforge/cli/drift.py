"""Commands about drift: which networks the service looks at by itself, how often, and what the last look found."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from pydantic_core import to_jsonable_python
from rich.table import Table

from qosforge.cli.local import changing, reading
from qosforge.cli.options import AsJson
from qosforge.cli.output import print_done, print_json
from qosforge.cli.tables import print_table
from qosforge.device_state.drift_watch import (
    LEAST_MINUTES,
    MOST_MINUTES,
    DriftState,
    DriftWatch,
    drift_watches,
    set_drift_interval,
)
from qosforge.errors import InputError
from qosforge.inventory.catalogue import Networks
from qosforge.settings import load_settings

app = typer.Typer(no_args_is_help=True)


def register(parent: typer.Typer) -> None:
    """Add the commands as a group."""
    parent.add_typer(app, name="drift", help="Looks for drift on a schedule; on the host of the database.")


@app.callback()
def _group() -> None:
    """Looks for drift on a schedule; on the host of the database."""


@app.command()
def watch(
    network: Annotated[str, typer.Argument(metavar="NETWORK", help="A network of the service, by its name.")],
    every: Annotated[
        int | None, typer.Option(metavar="MINUTES", help=f"How often: {LEAST_MINUTES} to {MOST_MINUTES}.")
    ] = None,
    never: Annotated[bool, typer.Option("--never", help="Look no more.")] = False,
    as_json: AsJson = False,
) -> None:
    """Let the service look at a network for drift every so often, at once for the first time. It only reads."""
    if (every is None) != never:
        raise InputError("how often is not said", hint="give --every MINUTES, or --never")
    known = Networks(load_settings().inventories_dir).names()
    if network not in known:
        raise InputError(f"there is no network {network!r}", hint=f"there are {', '.join(known) or 'none'}")
    with changing("drift watch", f"networks/{network}/drift", [network], {"minutes": every}) as (connection, now):
        set_drift_interval(connection, network, every, now)
    print_done("looked for drift no more" if never else f"every {every} minutes", network, as_json=as_json)


@app.command("list")
def list_(as_json: AsJson = False) -> None:
    """List the networks that are looked at, and what the last look found; exit code 1 where one drifted."""
    with reading() as access:
        found = [one for one in drift_watches(access.database) if one.minutes is not None]
    if as_json:
        print_json([{**to_jsonable_python(one), "state": one.state.value} for one in found])
    else:
        table = Table(
            "network", "every", "state", "drifted", "not read", "looked", "next", box=None, padding=(0, 1)
        )
        for one in found:
            table.add_row(*_row(one))
        print_table(table)
    sys.exit(1 if any(one.state is DriftState.DRIFTED for one in found) else 0)


def _row(one: DriftWatch) -> tuple[str, ...]:
    looked = f"{one.looked:%Y-%m-%d %H:%M}" if one.looked else "–"
    due = f"{one.due:%Y-%m-%d %H:%M}" if one.due else "–"
    state = one.state.value.replace("_", " ")
    return one.network, f"{one.minutes} min", state, ", ".join(one.drifted), ", ".join(one.unread), looked, due
