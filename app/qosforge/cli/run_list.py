"""The command that lists runs, of this machine or of a service: without the engine and what draws reports."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from qosforge.cli.options import AsJson
from qosforge.cli.output import print_json
from qosforge.cli.server import connect, remote
from qosforge.cli.tables import print_table
from qosforge.cli.terminal import out
from qosforge.client.documents import require
from qosforge.run_outcome import status_words
from qosforge.runs.record.store import RunStore
from qosforge.runs.views.summary import summary_of
from qosforge.settings import load_settings

Json = dict[str, Any]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(name="runs")(runs)


def runs(limit: Annotated[int, typer.Option(min=1, help="How many.")] = 20, as_json: AsJson = False) -> None:
    """List the newest runs."""
    entries = [_entry(run) for run in (_of_service(limit) if remote() else _of_this_machine(limit))]
    if as_json:
        print_json(entries)
    else:
        _print_runs(entries)


def _of_this_machine(limit: int) -> list[Json]:
    settings = load_settings()
    settings.make_var_dir()
    with RunStore(settings.database_url) as store:
        return [summary_of(run).model_dump(mode="json") for run in store.list_runs(limit)]


def _of_service(limit: int) -> list[Json]:
    """Those that the caller may see."""
    with connect() as connection:
        found: list[Json] = []
        path, query = "/runs", {"limit": min(limit, 200)}
        page = require(connection.get(path, query), "runs")
        while True:
            found += page["runs"]
            if len(found) >= limit or not page.get("next"):
                break
            page = require(connection.get(connection.below(str(page["next"]))), "runs")
    return [require(run, "id", "network", "policy", "status", "verdict", "created") for run in found[:limit]]


def _entry(run: Json) -> Json:
    """A run as it is listed; ``run`` as the service has it."""
    names = ("network", "policy", "status", "verdict", "created")
    others = ("rollback_of", "rolled_back_by", "outcome")
    return {"run": run["id"], **{name: run[name] for name in names}, **{name: run.get(name) for name in others}}


def _print_runs(runs: Iterable[Json]) -> None:
    """Runs in a table; each as `_entry` has it."""
    found = list(runs)
    if not found:
        out.print("no runs yet")
        return
    table = Table(box=None, padding=(0, 1))
    for heading in ("run", "created", "network", "policy", "status", "verdict"):
        table.add_column(heading)
    for entry in found:
        created = entry["created"].replace("T", " ")[:19]
        status = status_words(entry["status"], (entry["outcome"] or {}).get("kind", ""))
        policy = f"rollback of {entry['policy']}" if entry["rollback_of"] else entry["policy"]
        cells = (entry["run"], created, entry["network"], policy, status, entry["verdict"] or "–")
        table.add_row(*(Text(cell) for cell in cells))
    print_table(table)
