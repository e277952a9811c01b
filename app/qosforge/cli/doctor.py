"""``qosforge doctor``: check everything that an installation depends on."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from qosforge.cli.options import AsJson
from qosforge.cli.output import print_json
from qosforge.cli.terminal import out
from qosforge.operations.checks.model import CheckResult, CheckState
from qosforge.operations.doctor import CHECKS, examine
from qosforge.settings import load_settings

_STYLE = {CheckState.GOOD: "green", CheckState.WARNING: "yellow", CheckState.FAILED: "red"}
_EXIT = {CheckState.GOOD: 0, CheckState.WARNING: 1, CheckState.FAILED: 3}


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(name="doctor")(doctor)


def doctor(
    checks: Annotated[
        list[str] | None, typer.Argument(metavar="[CHECK]...", help="Only these (default: all).")
    ] = None,
    networks: Annotated[
        list[Path] | None,
        typer.Option(
            "--network",
            "-n",
            metavar="FOLDER",
            help="Judge this inventory (may be repeated; default: those of QOSFORGE_INVENTORIES_DIR).",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check everything that the installation depends on, and how to correct it. Ends with 0, 1 (warnings) or 3."""
    results = examine(load_settings(), checks or tuple(CHECKS), networks or ())
    if as_json:
        print_json([asdict(result) for result in results])
    else:
        _print(results)
    sys.exit(max((_EXIT[result.state] for result in results), default=0))


def _print(results: list[CheckResult]) -> None:
    table = Table(box=None, show_header=False, padding=(0, 1))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for result in results:
        text = Text(result.message)
        if result.hint:
            text.append(f"\n{result.hint}", style="dim")
        table.add_row(Text(result.state.value, style=_STYLE[result.state]), result.name, text)
    out.print(table)
