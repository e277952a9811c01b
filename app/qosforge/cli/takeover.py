"""The command by which an operator stands for a policy that somebody else stored on a service."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from qosforge.cli.options import AsJson
from qosforge.cli.output import print_json
from qosforge.cli.server import connect, remote
from qosforge.cli.terminal import out
from qosforge.client.documents import require
from qosforge.client.request_documents import network_name, stored_version
from qosforge.errors import InputError

Version = Annotated[str, typer.Argument(metavar="NAME@VERSION", help="A version of a policy of the service.")]
OnNetwork = Annotated[Path, typer.Option("--network", "-n", help="Network on which it is to be run.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(name="take-over")(take_over)


def take_over(version: Version, network: OnNetwork, as_json: AsJson = False) -> None:
    """Stand for a version that somebody else wrote. Then it may be run on a network of yours."""
    if not remote():
        raise InputError("policies are kept by a service", hint="name it: --server URL, or QOSFORGE_SERVER")
    name, number = stored_version(version)
    path = f"/policies/{name}/versions/{number}/take-over"
    where = network_name(network)
    with connect() as connection:
        taken = require(connection.post(path, {"network": where}), "name", "number", "author", "trusted_on")
    if as_json:
        print_json(taken)
    else:
        told = f"version {taken['number']} of {taken['name']}, by {taken['author']}, may be run on {where}"
        out.print(Text(told), soft_wrap=True)
