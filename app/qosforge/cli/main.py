"""The command ``qosforge``. Exit codes: 0 good; 1 error findings, or objective broken or inconclusive;
2 usage or wrong input; 3 a device, tester or service failed; 130 interrupted.
"""

from __future__ import annotations

import os
import sys
import tempfile
import traceback
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer
from typer.main import get_command

from qosforge.cli.explain import print_explanation
from qosforge.cli.output import print_error
from qosforge.cli.server import choose
from qosforge.errors import InputError, Interrupted, QosforgeError, ServiceError

COMMANDS = {
    "qosforge.cli.policies": ("lint", "compile", "validate", "diff"),
    "qosforge.cli.runs": ("run", "push", "measure", "recover", "runs", "show"),
    "qosforge.cli.predict": ("predict",),
    "qosforge.cli.decisions": ("wait", "approve", "reject", "cancel", "pause", "resume", "retry", "rollback"),
    "qosforge.cli.takeover": ("take-over",),
    "qosforge.cli.audit": ("audit",),
    "qosforge.cli.import_": ("import",),
    "qosforge.cli.lab": ("lab",),
    "qosforge.cli.device": ("device",),
    "qosforge.cli.network": ("network",),
    "qosforge.cli.drift": ("drift",),
    "qosforge.cli.experiments": ("experiment",),
    "qosforge.cli.openconfig": ("openconfig",),
    "qosforge.cli.user": ("user",),
    "qosforge.cli.serve": ("serve",),
    "qosforge.cli.token": ("token",),
    "qosforge.cli.tester": ("tester",),
    "qosforge.cli.webhook": ("webhook",),
    "qosforge.cli.worker": ("worker",),
    "qosforge.cli.backup": ("backup",),
    "qosforge.cli.database": ("database",),
    "qosforge.cli.doctor": ("doctor",),
    "qosforge.cli.retention": ("retention",),
}
"""Which module has which commands. Only the one that is called is loaded: the drivers, the engine and the plots
take seconds to import.
"""


def application(words: Sequence[str]) -> typer.Typer:
    """The commands that a command line needs: those of its module, none to explain a code, else all."""
    app = typer.Typer(
        name="qosforge",
        help="From one vendor-neutral QoS intent to a measured verdict.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    named = _command_name(words)
    chosen = [module for module, names in COMMANDS.items() if named in names]
    explains = named is None and any(word.partition("=")[0] == "--explain" for word in words)
    for module in () if explains else chosen or COMMANDS:
        import_module(module).register(app)
    # With a single command typer would drop its name, were there no callback.
    app.callback(invoke_without_command=True)(_top)
    return app


def _command_name(words: Sequence[str]) -> str | None:
    """The command that a command line names."""
    rest = iter(words)
    for word in rest:
        if word in ("--explain", "--server", "--token-file"):
            next(rest, None)
        elif not word.startswith("-"):
            return word
    return None


def _top(
    context: typer.Context,
    code: Annotated[
        str | None, typer.Option("--explain", metavar="CODE", help="Say what the code of a finding means.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Explain as one JSON document.")] = False,
    server: Annotated[
        str | None,
        typer.Option("--server", metavar="URL", help="Let this service do it (default: QOSFORGE_SERVER)."),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option("--token-file", metavar="FILE", help="File that has the service's token (or QOSFORGE_TOKEN)."),
    ] = None,
) -> None:
    choose(server, token_file, context.invoked_subcommand)
    if code is not None:
        if context.invoked_subcommand is not None:
            raise InputError("--explain stands alone", hint="see `qosforge --help`")
        print_explanation(code, as_json=as_json)
    elif as_json or context.invoked_subcommand is None:
        raise InputError("--json belongs behind a command, or to --explain", hint="see `qosforge --help`")


def main() -> None:
    """Run the command line; every error of the tree is told with its place and hint, never as a traceback."""
    try:
        code = get_command(application(sys.argv[1:]))(prog_name="qosforge", standalone_mode=False)
        if code == Interrupted.exit_code:  # what typer makes of an interrupt
            raise Interrupted(
                "interrupted", hint="if devices were being changed, `qosforge recover` finishes it or undoes it"
            )
    except QosforgeError as error:
        _fail(error)
    except typer.TyperException as wrong:
        message = wrong.format_message()
        if message:  # none where a bare command printed its help
            _fail(InputError(message, hint="see `qosforge --help`"))
        sys.exit(InputError.exit_code)
    except BrokenPipeError:  # whoever reads what is printed went away
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(ServiceError.exit_code)
    except Exception as error:  # noqa: BLE001  # nobody reads a traceback but who corrects it
        _fail(_report_unexpected(error))
    sys.exit(code)


def _report_unexpected(error: Exception) -> QosforgeError:
    """What nobody expected, told without its traceback; that is kept in a file, which only the user can read."""
    told = f"something failed that should not: {type(error).__name__}"
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="qosforge-", suffix=".txt", delete=False, encoding="utf-8", errors="backslashreplace"
        ) as file:
            file.writelines(traceback.format_exception(error))
    except OSError:
        return ServiceError(told, hint="please report it with the command line that led there")
    return ServiceError(told, hint=f"please report it, with what is in {file.name}")


def _fail(error: QosforgeError) -> None:
    print_error(error, as_json="--json" in sys.argv)
    sys.exit(error.exit_code)
