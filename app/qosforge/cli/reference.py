"""Every command with its arguments and options, as a page made from the commands themselves."""

from __future__ import annotations

import typer
from typer.cli import get_docs_for_click

from qosforge.cli.main import every_command

_BEGINNING = """\
# Every command and option

Made from the commands themselves. [Command line](cli.md) says what belongs together, what the exit codes mean, and
which commands touch devices.
"""


def page() -> str:
    """The page, as Markdown: one section for each command."""
    command = every_command()
    context = typer.Context(command, info_name="qosforge")
    commands = get_docs_for_click(obj=command, ctx=context, name="qosforge")
    return _BEGINNING + "\n" + commands.partition("\n")[2].lstrip("\n")
