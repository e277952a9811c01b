"""``qosforge backup``: create, restore."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from app.cli.options import AsJson
from app.cli.output import err, out, print_json
from app.operations import backup
from app.settings import load_settings

app = typer.Typer(no_args_is_help=True)

File = Annotated[Path, typer.Argument(metavar="FILE", help="The backup: one file.")]


def register(parent: typer.Typer) -> None:
    """Add the commands as a group."""
    parent.add_typer(app, name="backup", help="Copy an installation into one file, and bring it back.")


@app.command()
def create(file: File, as_json: AsJson = False) -> None:
    """Write the run store, the engine's record and the artifacts into FILE; runs may go on meanwhile."""
    settings = load_settings()
    settings.make_var_dir()
    manifest = backup.create(settings, file)
    if as_json:
        print_json(manifest.model_dump(mode="json"))
    else:
        size = file.stat().st_size / 1e6
        out.print(f"{file}: {manifest.kind}, revision {manifest.revision}, {size:.1f} MB", soft_wrap=True)
    for artifact in manifest.damaged:
        err.print(f"warning: artifact {artifact} does not hold what was stored and is left out", soft_wrap=True)


@app.command()
def restore(
    file: File,
    into: Annotated[
        str,
        typer.Option("--into", metavar="WHERE", help="A folder, or the URL of an empty PostgreSQL database."),
    ],
    as_json: AsJson = False,
) -> None:
    """Check FILE and bring it back into an empty place; nothing that exists is overwritten."""
    restored = backup.restore(file, into)
    if as_json:
        print_json(
            {
                "into": restored.place,
                "runs": restored.runs,
                "unfinished": list(restored.unfinished),
                "manifest": restored.manifest.model_dump(mode="json"),
            }
        )
        return
    created = restored.manifest.created
    out.print(f"{restored.place}: {restored.runs} runs as of {created:%Y-%m-%d %H:%M:%S} UTC", soft_wrap=True)
    if restored.unfinished:
        out.print(f"{len(restored.unfinished)} of them are unfinished and go on when the service starts")
