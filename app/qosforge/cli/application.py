"""Commands about applications: the names that a policy can match."""

from __future__ import annotations

import typer
from rich.table import Table

from qosforge.cli.options import AsJson
from qosforge.cli.output import print_json
from qosforge.cli.tables import print_table
from qosforge.cli.terminal import out
from qosforge.intent.applications import load_catalogue

app = typer.Typer(no_args_is_help=True)


def register(parent: typer.Typer) -> None:
    """Add the command as a group."""
    parent.add_typer(app, name="application", help="Applications that a policy can match by name.")


@app.callback()
def _group() -> None:
    """Applications that a policy can match by name."""


@app.command("list")
def list_(as_json: AsJson = False) -> None:
    """List the applications of the catalogue, and how each is told. Nothing is contacted."""
    catalogue = load_catalogue()
    if as_json:
        print_json({name: entry.model_dump(mode="json") for name, entry in catalogue.items()})
        return
    table = Table("application", "protocol", "ports", "by ports alone", "source", box=None, padding=(0, 1))
    for name, entry in sorted(catalogue.items()):
        ports = ", ".join(str(low) if low == high else f"{low}-{high}" for low, high in entry.ports)
        table.add_row(name, entry.protocol, ports, "near" if entry.beyond_ports else "exact", entry.source)
    print_table(table)
    out.print("others: `applications` of a policy, with a name, a protocol and ports of its own", style="dim")
