"""Ten thousand stored runs over HTTP: their list and their detail, on SQLite and on PostgreSQL."""

from __future__ import annotations

import http.client
import itertools
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from benchmarks.databases import postgres
from benchmarks.serving import serve, viewer_token
from benchmarks.timing import Median, median
from qosforge.client.request_documents import inline_policy
from qosforge.emulation import start_lab
from qosforge.executor.service import open_service
from qosforge.intent.loader import load_intent
from qosforge.inventory.loader import load_network
from qosforge.inventory.overlay import state_folder
from qosforge.resources import root
from qosforge.runs.record.ids import new_run_id
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.tables import EVENTS, JOURNAL, RUNS, STAGES
from qosforge.runs.requests.resolve import RunDocuments
from qosforge.runs.requests.run_request import RunRequest
from qosforge.settings import Settings
from qoslab import control

NETWORK = "infn-fnal"
POLICY = root() / "examples" / "policies" / "remote-control.yaml"
STORED = 10_000
MOST_MS = 50.0
_ROWS_AT_ONCE = 500


def measure() -> Iterator[Median | str]:
    """Runs like one that was carried out on the lab and measured."""
    with tempfile.TemporaryDirectory() as scratch:
        yield from _measure("SQLite", Settings(var_dir=Path(scratch) / "var"), Path(scratch))
    try:
        with postgres() as server, tempfile.TemporaryDirectory() as scratch:
            settings = Settings(var_dir=Path(scratch) / "var", database_url=server.new_database())
            yield from _measure("PostgreSQL", settings, Path(scratch))
    except LookupError as error:
        yield f"stored runs on PostgreSQL: left out: {error}"


def _measure(name: str, settings: Settings, scratch: Path) -> Iterator[Median]:
    settings.make_var_dir()
    with _lab(settings):
        original = _carried_out(settings)
    with closing(RunStore(settings.database_url)) as store:
        ids = _copy_runs(store, original)
    with serve(settings, scratch / "log") as port:
        ask = _asking(port, viewer_token(settings))
        for path in ("/health", "/runs", f"/runs/{ids[0]}"):
            ask(path)
        middle = ask("/runs?limit=200")["next"].removeprefix("/api/v1")
        for _ in range(20):
            middle = ask(middle)["next"].removeprefix("/api/v1")
        stored = f"{STORED} stored runs, {name}"
        yield Median(f"baseline: GET /health, {name}", median(lambda: ask("/health")))
        yield Median(f"{stored}: the newest 50", median(lambda: ask("/runs")), MOST_MS)
        yield Median(f"{stored}: a page in the middle", median(lambda: ask(middle)), MOST_MS)
        rare = f"/runs?network={NETWORK}&status=failed"
        yield Median(f"{stored}: by status, none", median(lambda: ask(rare)), MOST_MS)
        some = itertools.cycle(ids[:: len(ids) // 97])
        yield Median(f"{stored}: detail", median(lambda: ask(f"/runs/{next(some)}")), MOST_MS)


@contextmanager
def _lab(settings: Settings) -> Iterator[None]:
    folder = root() / "inventories" / NETWORK
    state = state_folder(settings.var_dir, NETWORK)
    start_lab(load_network(folder), folder, state)
    try:
        yield
    finally:
        control.stop(state)


def _carried_out(settings: Settings) -> str:
    """A run that was pushed and measured; its id."""
    network = load_network(root() / "inventories" / NETWORK)
    intent = load_intent(POLICY)
    request = RunRequest.parse({"network": network.name, "policy": inline_policy(intent)})
    with open_service(settings, lambda _stage, _line: None) as service:
        finished = service.run(request, RunDocuments(network, intent), "bench")
    if not finished.good:
        raise RuntimeError(f"the run to copy was not kept: {finished.result}")
    return finished.run_id


def _copy_runs(store: RunStore, original: str) -> list[str]:
    """As many runs as wanted like this one, each asked for a minute before the next; their ids, oldest first."""
    ids = sorted(new_run_id() for _ in range(STORED - 1))
    with store.database.write() as connection:
        for table in (RUNS, STAGES, EVENTS, JOURNAL):
            of_run = table.c.id if table is RUNS else table.c.run_id
            held = [dict(row._mapping) for row in connection.execute(sa.select(table).where(of_run == original))]
            copies = (_copy(table, row, run_id, number) for number, run_id in enumerate(ids) for row in held)
            while some := list(itertools.islice(copies, _ROWS_AT_ONCE)):
                connection.execute(sa.insert(table), some)
    return ids


def _copy(table: sa.Table, row: Mapping[str, Any], run_id: str, number: int) -> dict[str, Any]:
    if table is RUNS:
        later = timedelta(minutes=number)
        return {**row, "id": run_id, "created": row["created"] + later, "updated": row["updated"] + later}
    return {**{name: value for name, value in row.items() if name != "seq"}, "run_id": run_id}


def _asking(port: int, token: str) -> Callable[[str], dict[str, Any]]:
    """Gets documents over one connection."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def ask(path: str) -> dict[str, Any]:
        connection.request("GET", f"/api/v1{path}", headers={"Authorization": f"Bearer {token}"})
        answer = connection.getresponse()
        said = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{answer.status}: {said[:500]!r}")
        document: dict[str, Any] = json.loads(said)
        return document

    return ask
