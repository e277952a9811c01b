"""The command ``qosforge``. Exit codes: 0 good; 1 error findings, or objective broken or inconclusive;
2 usage or wrong input; 3 a device, tester or service failed; 130 interrupted.
"""

from __future__ import annotations

import sys

import typer
from typer.main import get_command

from app.cli import lab, policies, runs
from app.cli.output import print_error
from app.errors import InputError, Interrupted, QosforgeError

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
        code = get_command(app)(prog_name="qosforge", standalone_mode=False)
        if code == Interrupted.exit_code:  # what typer makes of an interrupt
            raise Interrupted(
                "interrupted", mend="if boxes were being changed, `qosforge recover` finishes it or undoes it"
            )
    except QosforgeError as error:
        _fail(error)
    except typer.TyperException as wrong:
        message = wrong.format_message()
        if message:  # none where a bare command printed its help
            _fail(InputError(message, mend="see `qosforge --help`"))
        sys.exit(InputError.exit_code)
    sys.exit(code)


def _fail(error: QosforgeError) -> None:
    print_error(error, as_json="--json" in sys.argv)
    sys.exit(error.exit_code)
