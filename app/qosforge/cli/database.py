"""``qosforge database``: upgrade, move."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from qosforge.access.audit_log import Call
from qosforge.cli.account import account
from qosforge.cli.options import AsJson
from qosforge.cli.output import print_json
from qosforge.cli.terminal import out
from qosforge.operations import moving
from qosforge.operations.upgrade import upgrade as upgrade_database
from qosforge.settings import load_settings

app = typer.Typer(no_args_is_help=True)

Backup = Annotated[
    Path, typer.Option("--backup", metavar="FILE", help="Where the backup goes that is made before: a new file.")
]


def register(parent: typer.Typer) -> None:
    """Add the command as a group."""
    parent.add_typer(app, name="database", help="The tables of an installation.")


@app.command()
def upgrade(
    backup: Backup,
    allow_incomplete: Annotated[
        bool, typer.Option("--allow-incomplete", help="Back up even where artifacts are missing or damaged.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Bring the tables to this release: back up, then migrate. Stop the service first; nothing else changes them.

    An older release refuses the new tables: going back means restoring the backup.
    """
    settings = load_settings()
    settings.make_var_dir()
    done = upgrade_database(settings, backup, allow_incomplete=allow_incomplete)
    if as_json:
        file = str(done.backup) if done.backup else None
        print_json({"before": done.before, "after": done.after, "backup": file})
    elif done.backup is None:
        out.print(f"the database holds revision {done.after} already: nothing to upgrade")
    else:
        out.print(f"revision {done.before} is now {done.after}; backed up to {done.backup}", soft_wrap=True)


@app.command()
def move(
    into: Annotated[
        str, typer.Option("--into", metavar="URL", help="The PostgreSQL database: postgresql://user@host/database.")
    ],
    allow_incomplete: Annotated[
        bool, typer.Option("--allow-incomplete", help="Move even where artifacts are missing or damaged.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Copy a SQLite installation into an empty PostgreSQL database. Stop the service first; the files stay.

    The database may have its tables already, and no rows.
    """
    settings = load_settings()
    call = Call(moving.MOVE_ACTION, 200, account(), "local", detail={"from": settings.database_url})
    moved = moving.move(settings, into, call, allow_incomplete=allow_incomplete)
    if as_json:
        print_json({"into": moved.place, "rows": dict(moved.rows), "artifacts": moved.artifacts})
        return
    out.print(
        f"{moved.place}: {moved.rows['runs']} runs, {sum(moved.rows.values())} rows, {moved.artifacts} artifacts",
        soft_wrap=True,
    )
    out.print(
        "set QOSFORGE_DATABASE_URL to it, start serve and a worker, and keep this store from being started again"
    )
