"""The command ``qosforge``. Exit codes: 0 good; 1 error findings, or objective broken or inconclusive;
2 usage or wrong input; 3 a device, tester or service failed; 130 interrupted.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

import typer
from typer.main import get_command

from app.cli.output import print_error
from app.errors import InputError, Interrupted, QosforgeError

COMMANDS = {
    "app.cli.policies": ("lint", "compile", "validate", "diff"),
    "app.cli.runs": ("run", "push", "measure", "recover", "runs", "show"),
    "app.cli.audit": ("audit",),
    "app.cli.lab": ("lab",),
    "app.cli.openconfig": ("openconfig",),
}
"""Which module has which commands. Only the one that is called is loaded: the drivers, the engine and the plots
take seconds to import.
"""


def application(words: Sequence[str]) -> typer.Typer:
    """The commands that a command line needs: those of its module, or all where it names none."""
    app = typer.Typer(
        name="qosforge",
        help="From one vendor-neutral QoS intent to a measured verdict.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    named = next((word for word in words if not word.startswith("-")), None)
    chosen = [module for module, names in COMMANDS.items() if named in names]
    for module in chosen or COMMANDS:
        import_module(module).register(app)
    # With a single command typer would drop its name.
    app.callback()(lambda: None)
    return app


def main() -> None:
    """Run the command line; every error of the tree is told with its place and mend, never as a traceback."""
    try:
        code = get_command(application(sys.argv[1:]))(prog_name="qosforge", standalone_mode=False)
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
