"""``qosforge retention``: drop what runs of long ago left behind."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated

import typer

from qosforge.cli.options import AsJson
from qosforge.cli.output import print_json
from qosforge.cli.terminal import out
from qosforge.database.connections import Database
from qosforge.operations.artifact_store import artifact_collection
from qosforge.operations.locks import maintenance_lock
from qosforge.operations.pruning import PruneResult, prune
from qosforge.operations.retention import RetentionResult, duration, retain
from qosforge.settings import load_settings


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(name="retention")(retention)


def retention(
    keep: Annotated[str, typer.Option("--keep", metavar="TIME", help="How long to keep: 90d, 12w or 36h.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what would go.")] = False,
    as_json: AsJson = False,
) -> None:
    """Drop what runs that ended longer ago left behind, and give its space back. Runs and their journal stay.

    That is artifacts, events, idempotency keys, the engine's record and HTML reports.
    """
    kept = duration(keep)
    settings = load_settings()
    settings.make_var_dir()
    database = Database(settings.database_url)
    try:
        with maintenance_lock(database):
            now = datetime.now(UTC)
            collection = artifact_collection(database, settings.artifacts_dir)
            retained = retain(database, collection, kept, now, dry_run=dry_run)
            pruned = prune(settings, database, retained.before, now, dry_run=dry_run)
    finally:
        database.close()
    if as_json:
        print_json(_document(retained, pruned, dry_run))
        return
    verb = "would drop" if dry_run else "dropped"
    out.print(
        f"{verb} {retained.artifacts} artifacts ({retained.bytes / 1e6:.1f} MB), {retained.events} events, "
        f"{retained.keys} idempotency keys, {pruned.workflows} workflows of the engine's record and "
        f"{pruned.files} files; {len(retained.runs)} runs that ended before "
        f"{retained.before:%Y-%m-%d %H:%M} UTC give up what they refer to",
        soft_wrap=True,
    )
    if retained.held_by is not None:
        out.print(
            f"artifacts stored since {retained.artifacts_before:%Y-%m-%d} wait for run {retained.held_by} to end"
        )
    if pruned.space.given_back or pruned.space.left:
        out.print(
            f"{pruned.space.given_back / 1e6:.1f} MB given back to the disk, {pruned.space.left / 1e6:.1f} MB free "
            "within the databases"
        )


def _document(retained: RetentionResult, pruned: PruneResult, dry_run: bool) -> dict[str, object]:
    return {
        "dry_run": dry_run,
        "before": retained.before.isoformat(),
        "artifacts_before": retained.artifacts_before.isoformat(),
        "held_by": retained.held_by,
        "runs": list(retained.runs),
        "events": retained.events,
        "idempotency_keys": retained.keys,
        "artifacts": retained.artifacts,
        "bytes": retained.bytes,
        "workflows": pruned.workflows,
        "files": pruned.files,
        "space": asdict(pruned.space),
    }
