"""Commands about external testers: add, list, revoke."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from pydantic_core import to_jsonable_python
from rich.table import Table

from qosforge.access.testers import add_tester, revoke_tester, testers
from qosforge.cli.local import Networks, changing, reading
from qosforge.cli.options import AsJson
from qosforge.cli.output import print_done, print_json
from qosforge.cli.tables import print_table
from qosforge.errors import InputError, Place

app = typer.Typer(no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="The tester's name.", metavar="NAME")]


def register(parent: typer.Typer) -> None:
    """Add the commands as a group."""
    parent.add_typer(
        app, name="tester", help="External testers that may give measurements; on the host of the database."
    )


@app.command()
def add(
    name: Name,
    key: Annotated[Path, typer.Argument(help="File of its public key: Ed25519, PEM.", metavar="FILE")],
    network: Networks = None,
    as_json: AsJson = False,
) -> None:
    """Register a tester by its public key."""
    with changing("tester add", f"testers/{name}", network) as (connection, now):
        try:
            text = key.read_text(encoding="utf-8")
        except (OSError, UnicodeError) as error:
            raise InputError("the key cannot be read", Place(file=str(key)), "name a file in PEM") from error
        add_tester(connection, name, text, network, now)
    print_done("added", name, as_json=as_json)


@app.command("list")
def list_(as_json: AsJson = False) -> None:
    """List the testers."""
    with reading() as access:
        found = testers(access.database)
    if as_json:
        print_json(to_jsonable_python(found))
        return
    table = Table("tester", "networks", "state", box=None, padding=(0, 1))
    for tester in found:
        networks = "every" if tester.networks is None else ", ".join(tester.networks)
        table.add_row(tester.name, networks, "revoked" if tester.revoked else "")
    print_table(table)


@app.command()
def revoke(name: Name, as_json: AsJson = False) -> None:
    """Take no more measurements of a tester."""
    with changing("tester revoke", f"testers/{name}") as (connection, now):
        revoke_tester(connection, name, now)
    print_done("revoked", name, as_json=as_json)
