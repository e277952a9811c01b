"""An installation on SQLite becomes one on PostgreSQL, with all that it has."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
import sqlalchemy as sa

from qosforge.access.roles import Role
from qosforge.access.tables import CALLS
from qosforge.access.users import add_user, grant
from qosforge.artifacts.store import DatabaseArtifacts, FileArtifacts
from qosforge.database.connections import Database
from qosforge.intent.policy_source import PolicySource
from qosforge.operations.tables import every_table
from qosforge.operations.upgrade import without_executors
from qosforge.policy_library.library import PolicyLibrary
from qosforge.runs.record.resolved_run import ROLLBACK_OF
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.summaries import ReadSummary
from qosforge.runs.record.tables import JournalAction, RunStatus
from qosforge.settings import Settings
from tests.cli.conftest import Ended
from tests.principals import somebody
from tests.runs.support import WHY

GOLD = (
    "version: 1\nintent: gold\ninclude: [classes/rfc4594-4.yaml]\napply: [{interfaces: wan, direction: output}]\n"
)
Qosforge = Callable[..., Ended]


@pytest.fixture
def installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunStore]:
    monkeypatch.setenv("QOSFORGE_VAR_DIR", str(tmp_path / "var"))
    settings = Settings()
    artifacts = FileArtifacts(settings.artifacts_dir)
    with RunStore(settings.database_url) as store:

        def people(connection: sa.Connection) -> None:
            add_user(connection, "ann", datetime.now(UTC))
            grant(connection, "ann", "campus", Role.OPERATOR)

        store.database.transact(people)
        ann = PolicyLibrary(store.database, artifacts).seen_by(somebody("ann", Role.OPERATOR, "campus"))
        ann.store("gold", PolicySource(GOLD), network="campus")
        before = artifacts.put_text("hostname r1")
        run = store.create_run("campus", "gold", "f" * 64, {"network": before, "word": "Zürich ΔQ", "none": None})
        with store.stage(run.id, "read", ReadSummary(running={"r1": before})):
            pass
        store.journal.append(run.id, "r1", JournalAction.TOUCHING, before=before)
        store.journal.append(run.id, "r1", JournalAction.UNDONE)
        store.set_status(run.id, RunStatus.FAILED, reason=WHY)
        store.create_run("campus", "gold", "f" * 64, {})
        yield store


def rows(database: Database, table: sa.Table) -> list[tuple[object, ...]]:
    with database.read() as connection:
        return sorted((tuple(row) for row in connection.execute(sa.select(table))), key=repr)


def test_every_row_and_artifact_is_there_and_life_goes_on(
    installation: RunStore, qosforge: Qosforge, empty_postgres_url: str
) -> None:
    rolled_back = installation.create_run("campus", "gold", "f" * 64, {})
    installation.set_status(rolled_back.id, RunStatus.KEPT)
    back = installation.create_run("campus", "gold", "f" * 64, {ROLLBACK_OF: rolled_back.id})
    installation.set_status(back.id, RunStatus.KEPT)
    moved = qosforge("database", "move", "--into", empty_postgres_url, "--json")
    assert moved.code == 0, moved.stderr
    assert json.loads(moved.stdout)["rows"]["journal"] == 2
    with closing(Database(empty_postgres_url)) as database:
        for table in every_table():
            if table.name not in ("artifacts", CALLS.name):
                assert rows(database, table) == rows(installation.database, table), table.name
        (call,) = rows(database, CALLS)
        assert "qosforge database move" in call
        for path in FileArtifacts(Settings().artifacts_dir)._root.glob("??/*"):
            artifact = path.parent.name + path.name
            assert DatabaseArtifacts(database).get_bytes(artifact) == path.read_bytes()
    with RunStore(empty_postgres_url) as store:
        assert store.get_run(rolled_back.id).rolled_back_by == back.id
        failed = next(run for run in store.list_runs() if run.status is RunStatus.FAILED)
        entries = store.journal.entries(failed.id)
        assert store.journal.append(failed.id, "r1", JournalAction.TOUCHING).seq > entries[-1].seq
    again = qosforge("database", "move", "--into", empty_postgres_url)
    assert again.code == 2
    assert "has rows already" in again.stderr


def test_null_and_none_stay_apart(installation: RunStore, qosforge: Qosforge, empty_postgres_url: str) -> None:
    columns = "SELECT source IS NULL, CAST(source AS TEXT) FROM runs ORDER BY id"
    with installation.database.write() as connection:
        newest = sa.text("UPDATE runs SET source = 'null' WHERE id = (SELECT max(id) FROM runs)")
        connection.execute(newest)
        connection.execute(sa.text("UPDATE runs SET source = NULL WHERE id = (SELECT min(id) FROM runs)"))
    assert qosforge("database", "move", "--into", empty_postgres_url).code == 0
    with closing(Database(empty_postgres_url)) as database, database.read() as connection:
        assert [tuple(row) for row in connection.execute(sa.text(columns))] == [(True, None), (False, "null")]


def test_what_must_not_be_moved_is_refused(
    installation: RunStore, qosforge: Qosforge, empty_postgres_url: str, tmp_path: Path
) -> None:
    def refused(*words: str) -> str:
        ended = qosforge("database", "move", "--into", *words)
        assert ended.code in (2, 3)
        return ended.stderr

    assert "SQLite, too" in refused(f"sqlite:///{tmp_path}/other.sqlite")
    settings = Settings()
    with without_executors(settings, installation.database):
        assert "runs an engine already" in refused(empty_postgres_url)
    waiting = next(run for run in installation.list_runs() if run.status is RunStatus.PENDING)
    installation.set_status(waiting.id, RunStatus.RUNNING)
    assert f"half-way: {waiting.id}" in refused(empty_postgres_url)
    installation.set_status(waiting.id, RunStatus.FAILED, reason=WHY)
    lost = FileArtifacts(settings.artifacts_dir).put_text("hostname r1")
    (settings.artifacts_dir / lost[:2] / lost[2:]).unlink()
    assert lost in refused(empty_postgres_url)
    assert qosforge("database", "move", "--into", empty_postgres_url, "--allow-incomplete").code == 0
