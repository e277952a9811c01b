"""The command ``qosforge``. Exit codes: 0 good; 1 error findings, or objective broken or inconclusive;
2 usage or wrong input; 3 a device, tester or service failed.
"""

from __future__ import annotations

import sys

import typer
from typer.main import get_command

from app.cli import lab, policies, runs
from app.cli.output import print_error
from app.errors import QosforgeError

app = typer.Typer(
    name="qosforge",
    help="From one vendor-neutral QoS intent to a measured verdict.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
policies.register(app)
runs.register(app)
app.add_typer(lab.app, name="lab", help="Emulated boxes that speak real SSH on loopback.")


def main() -> None:
    """Run the command line; every error of the tree is told with its place and mend, never as a traceback."""
    try:
        get_command(app)(prog_name="qosforge")
    except QosforgeError as error:
        print_error(error)
        sys.exit(error.exit_code)
