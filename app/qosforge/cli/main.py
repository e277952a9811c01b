"""The command ``qosforge``. Exit codes: 0 good; 1 error findings, or objective broken or inconclusive;
2 usage or wrong input; 3 a device, tester or service failed; 130 interrupted.
"""

from __future__ import annotations

import os
import sys
import tempfile
import traceback
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.main import get_command

from qosforge.cli.catalogue import ENTRIES, modules
from qosforge.cli.explain import print_explanation
from qosforge.cli.output import print_error, print_json
from qosforge.cli.server import choose
from qosforge.cli.streams import interrupted
from qosforge.cli.terminal import Verbosity, keep_foreign_logs_out, out, set_verbosity, showing_progress
from qosforge.errors import InputError, Interrupted, QosforgeError, ServiceError
from qosforge.release import release
from qosforge.telemetry.logs import configure_logs

HELP_OPTIONS = ["-h", "--help"]
_VALUED = ("--explain", "--server", "--token-file")
"""Options before the command that are followed by a value."""


def command_line(words: Sequence[str]) -> typer.core.TyperGroup:
    """The commands that a command line needs: those of its module, and of the others their names alone."""
    named = _command_name(words)
    modules = [ENTRIES[named].module] if named in ENTRIES else []
    app = _application(modules)
    if not modules:
        for entry in ENTRIES.values():
            app.command(name=entry.name, help=entry.summary, rich_help_panel=entry.group)(_listed)
    return _built(app)


def every_command() -> typer.core.TyperGroup:
    """All commands with all that is below them."""
    return _built(_application(modules()))


def _application(chosen: Iterable[str]) -> typer.Typer:
    app = typer.Typer(
        name="qosforge",
        help="From one vendor-neutral QoS intent to a measured verdict.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": HELP_OPTIONS},
    )
    for module in chosen:
        import_module(module).register(app)
    # With a single command typer would drop its name, were there no callback.
    app.callback(invoke_without_command=True)(_top)
    return app


def _listed() -> None:
    """A command that is listed and not called."""


def _built(app: typer.Typer) -> typer.core.TyperGroup:
    """The application as it is called: every command takes -q and -v, and no switch shows a type."""
    group = get_command(app)
    assert isinstance(group, typer.core.TyperGroup)
    common = [parameter for parameter in group.params if parameter.name in ("_quiet", "_verbose")]
    for command in _with_all_below(group):
        if command is not group and not isinstance(command, typer.core.TyperGroup):
            command.params.extend(common)
        for parameter in command.get_params(typer.Context(command, help_option_names=HELP_OPTIONS)):
            if isinstance(parameter, typer.core.TyperOption) and parameter.is_flag:
                parameter.metavar = ""
    return group


def _with_all_below(command: typer.core.TyperCommand | typer.core.TyperGroup) -> Iterator[Any]:
    yield command
    for below in getattr(command, "commands", {}).values():
        yield from _with_all_below(below)


def _command_name(words: Sequence[str]) -> str | None:
    """The command that a command line names."""
    rest = iter(words)
    for word in rest:
        if word in _VALUED:
            next(rest, None)
        elif not word.startswith("-"):
            return word
    return None


def _words() -> list[str]:
    """The words of this command line, or of the one that a shell wants completed."""
    if "_QOSFORGE_COMPLETE" not in os.environ:
        return sys.argv[1:]
    line = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS") or ""
    words = line.split()[1:]
    return words if line[-1:].isspace() else words[:-1]  # the one that is being typed names no command yet


def _set_quiet(value: bool) -> None:
    if value:
        set_verbosity(Verbosity.QUIET)


def _set_verbose(value: bool) -> None:
    if value:
        set_verbosity(Verbosity.VERBOSE)
        configure_logs("text")


def _print_version(value: bool) -> None:
    if not value:
        return
    if "--json" in sys.argv:
        print_json({"version": release()})
    else:
        out.print(f"qosforge {release()}")
    raise typer.Exit


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
    _quiet: Annotated[
        bool, typer.Option("--quiet", "-q", callback=_set_quiet, expose_value=False, help="Tell no progress.")
    ] = False,
    _verbose: Annotated[
        bool,
        typer.Option("--verbose", "-v", callback=_set_verbose, expose_value=False, help="Tell the log, too."),
    ] = False,
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, expose_value=False, is_eager=True, help="Tell the version."
        ),
    ] = False,
) -> None:
    choose(server, token_file, context.invoked_subcommand)
    if code is not None:
        if context.invoked_subcommand is not None:
            raise InputError("--explain stands alone", hint="see `qosforge --help`")
        print_explanation(code, as_json=as_json)
    elif as_json:
        raise InputError("--json belongs behind a command, or to --explain", hint="see `qosforge --help`")
    elif context.invoked_subcommand is None:
        raise InputError("no command is given", hint="see `qosforge --help`")


def main() -> None:
    """Run the command line; every error of the tree is told with its place and hint, never as a traceback."""
    keep_foreign_logs_out()
    words = _words()
    try:
        with showing_progress(_command_name(words)):
            code = command_line(words)(prog_name="qosforge", standalone_mode=False)
        if code == Interrupted.exit_code:  # what typer makes of an interrupt
            raise interrupted()
    except typer.Abort:  # at a question: an interrupt, or nobody is there to answer
        _fail(interrupted())
    except QosforgeError as error:
        _fail(error)
    except typer.TyperException as wrong:
        message = wrong.format_message().replace(": Value error, ", ": ", 1)  # how pydantic begins
        if message:  # none where a bare command printed its help
            of_command = getattr(wrong, "ctx", None)  # a word that no command takes; none where a file is wrong
            command = of_command.command_path if of_command is not None else "qosforge"
            _fail(InputError(message, hint=f"see `{command} --help`"))
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
