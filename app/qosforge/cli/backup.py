"""``qosforge backup``: create, verify, restore."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from qosforge.access.audit_log import Call
from qosforge.access.authentication import Access
from qosforge.cli.account import account
from qosforge.cli.options import AsJson
from qosforge.cli.output import print_json
from qosforge.cli.terminal import err, out
from qosforge.database.connections import Database, SchemaOutdated
from qosforge.errors import ServiceError, StoreError
from qosforge.operations import backup
from qosforge.operations.archive import Manifest
from qosforge.operations.completeness import describe
from qosforge.operations.references import Reference
from qosforge.settings import Settings, load_settings

app = typer.Typer(no_args_is_help=True)

File = Annotated[Path, typer.Argument(metavar="FILE", help="The backup: one file.")]


def register(parent: typer.Typer) -> None:
    """Add the commands as a group."""
    parent.add_typer(app, name="backup", help="Copy an installation into one file, and bring it back.")


@app.command()
def create(
    file: File,
    allow_incomplete: Annotated[
        bool, typer.Option("--allow-incomplete", help="Take it even where artifacts are missing or damaged.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write the run store, the engine's record and the artifacts into FILE; runs may go on meanwhile.

    Where an artifact that a run, a policy or a reading refers to is missing or damaged, no backup is made.
    """
    settings = load_settings()
    settings.make_var_dir()
    manifest = backup.create(settings, file, allow_incomplete=allow_incomplete)
    _record(settings, file, manifest)
    if as_json:
        print_json(manifest.model_dump(mode="json"))
    else:
        size = file.stat().st_size / 1e6
        out.print(f"{file}: {manifest.kind}, revision {manifest.revision}, {size:.1f} MB", soft_wrap=True)
    for artifact in sorted({*manifest.damaged, *(manifest.missing or ())}):
        _warn(describe(Reference(artifact, ""), damaged=artifact in manifest.damaged))


def _record(settings: Settings, file: Path, manifest: Manifest) -> None:
    """Put the backup into the audit log, by which `qosforge doctor` knows its age. A failure makes it no worse."""
    lacking = len({*manifest.damaged, *(manifest.missing or ())})
    detail = {"artifacts": manifest.artifacts, "lacking": lacking}
    call = Call(backup.BACKUP_ACTION, 200, account(), "local", resource=str(file.absolute()), detail=detail)
    try:
        database = Database(settings.database_url)
        try:
            Access(database, settings).record(call)
        finally:
            database.close()
    except SchemaOutdated:
        pass  # of an earlier release, which is left as it is
    except StoreError as error:
        _warn(f"the backup is made, and could not be recorded in the audit log: {error.message}")


@app.command()
def verify(file: File, as_json: AsJson = False) -> None:
    """Check every byte of FILE, and that it has all that its rows refer to. Ends with 0, or 3 where it has not."""
    verified = backup.verify(file)
    manifest, lacks = verified.manifest, verified.lacks
    if as_json:
        print_json({"lacks": _documents(lacks), "manifest": manifest.model_dump(mode="json")})
    else:
        made = f"{manifest.kind}, revision {manifest.revision}, made {manifest.created:%Y-%m-%d %H:%M:%S} UTC"
        word = "artifacts not looked at" if lacks is None else "incomplete" if lacks else "complete"
        out.print(f"{file}: {word}; {made} by release {manifest.release}", soft_wrap=True)
    if lacks is None:
        _warn("it does not say whether its artifacts were complete: restore it, which looks")
    for one in lacks or ():
        _warn(describe(one, damaged=one.artifact in manifest.damaged))
    if lacks:
        sys.exit(ServiceError.exit_code)


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
    for one in restored.lacks:
        _warn(describe(one, damaged=one.artifact in restored.manifest.damaged))
    if as_json:
        print_json(
            {
                "into": restored.place,
                "runs": restored.runs,
                "unfinished": list(restored.unfinished),
                "lacks": _documents(restored.lacks),
                "manifest": restored.manifest.model_dump(mode="json"),
            }
        )
        return
    created = restored.manifest.created
    out.print(f"{restored.place}: {restored.runs} runs as of {created:%Y-%m-%d %H:%M:%S} UTC", soft_wrap=True)
    if restored.unfinished:
        out.print(f"{len(restored.unfinished)} of them are unfinished and go on when the service starts")


def _documents(lacks: tuple[Reference, ...] | None) -> list[dict[str, str]] | None:
    return None if lacks is None else [asdict(one) for one in lacks]


def _warn(text: str) -> None:
    err.print(f"warning: {text}", soft_wrap=True)
