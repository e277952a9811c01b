"""What grows is pruned, the engine's record included, and its space is given back."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from qosforge.artifacts.tables import ARTIFACTS
from qosforge.database.connections import Database
from qosforge.database.space import shrink_file
from qosforge.operations.pruning import prune
from qosforge.runs.engine.dbos_engine import DbosEngine
from qosforge.runs.engine.port import JsonObject, WorkflowState
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.tables import RunStatus
from qosforge.settings import Settings
from tests.cli.conftest import Ended
from tests.runs.support import WHY

NOW = datetime.now(UTC)
LATER = NOW + timedelta(days=100)
"""As if what is done now had been done long ago."""


@pytest.fixture(params=["sqlite", "postgresql"])
def settings(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("QOSFORGE_VAR_DIR", str(tmp_path / "var"))
    if request.param == "postgresql":
        monkeypatch.setenv("QOSFORGE_DATABASE_URL", request.getfixturevalue("postgres_url"))
    made = Settings()
    made.make_var_dir()
    return made


@pytest.fixture
def database(settings: Settings) -> Iterator[Database]:
    made = Database(settings.database_url)
    yield made
    made.close()


def engine(settings: Settings, database: Database) -> DbosEngine:
    url = None if database.is_embedded else database.url
    made = DbosEngine(settings.var_dir, url=url, store=database.path, executor="one")

    def echo(_workflow_id: str, params: JsonObject) -> JsonObject:
        return made.run_step("echo", lambda: params)

    made.register("loop", echo)
    return made


def test_the_record_of_ended_runs_goes_and_that_of_others_stays(settings: Settings, database: Database) -> None:
    with RunStore(settings.database_url) as store:
        ended, waiting = (store.create_run("campus", "policy", "f" * 64, {}) for _ in range(2))
        store.set_status(ended.id, RunStatus.FAILED, reason=WHY)
    with engine(settings, database) as running:
        for run in (ended, waiting):
            running.run("loop", run.id, {"a": 1})
        assert prune(settings, database, NOW - timedelta(days=1), NOW).workflows == 0
        assert prune(settings, database, LATER, NOW, dry_run=True).workflows == 1
        assert running.state(ended.id) is WorkflowState.ENDED
        assert prune(settings, database, LATER, NOW).workflows == 1
        assert running.state(ended.id) is WorkflowState.UNKNOWN
        assert running.state(waiting.id) is WorkflowState.ENDED
        assert running.run("loop", waiting.id, {"a": 1}) == {"a": 1}
    assert prune(settings, database, LATER, NOW).workflows == 0


def test_the_space_of_what_went_is_given_back(tmp_path: Path) -> None:
    settings = Settings(var_dir=tmp_path / "var", database_url=f"sqlite:///{tmp_path}/var/runs.sqlite")
    path = settings.var_dir / "runs.sqlite"
    with closing(Database(settings.database_url)) as database:
        fill(database)
        with database.write() as connection:
            connection.execute(sa.delete(ARTIFACTS))
        before = path.stat().st_size
        space = prune(settings, database, NOW, NOW).space
    assert space.given_back > before / 2
    assert space.left == 0
    assert path.stat().st_size == before - space.given_back


def fill(database: Database) -> None:
    rows = [{"id": f"{number:064x}", "at": NOW, "data": os.urandom(4000)} for number in range(500)]
    with database.write() as connection:
        connection.execute(sa.insert(ARTIFACTS), rows)


def test_a_file_of_before_is_written_anew_only_where_nobody_waits(tmp_path: Path) -> None:
    path = tmp_path / "old.sqlite"
    with closing(sqlite3.connect(path)) as old:
        old.execute("PRAGMA journal_mode=WAL")
        old.execute("CREATE TABLE t (data)")
        old.executemany("INSERT INTO t VALUES (?)", [(os.urandom(4000),) for _ in range(200)])
        old.execute("DELETE FROM t")
        old.commit()
    left = shrink_file(path, rewrite=False)
    assert left.given_back == 0
    assert left.left > 500_000
    assert shrink_file(path, rewrite=True).given_back > 500_000
    assert shrink_file(path, rewrite=False).left == 0


def test_the_command_drops_reports_and_what_was_left_half_written(
    settings: Settings, database: Database, qosforge: Callable[..., Ended]
) -> None:
    reports = settings.var_dir / "reports"
    half = settings.artifacts_dir / "ab"
    for folder in (reports, half):
        folder.mkdir(parents=True)
    old, new, left = reports / "old.html", reports / "new.html", half / ".new-1"
    for path in (old, new, left):
        path.write_text("x")
    for path in (old, left):
        os.utime(path, ((NOW - timedelta(days=40)).timestamp(),) * 2)
    done = qosforge("retention", "--keep", "30d", "--json")
    assert done.code == 0, done.stderr
    assert json.loads(done.stdout)["files"] == 2
    assert [path.exists() for path in (old, new, left)] == [False, True, False]
