"""Looking never changes a schema: one command alone does, and backs up before."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.config import Config

from qosforge.artifacts.store import FileArtifacts
from qosforge.database.connections import Database, database_url
from qosforge.database.filelock import FileLock
from qosforge.database.revisions import known_revisions
from qosforge.operations.doctor import examine
from qosforge.runs.engine.executor_leases import ExecutorLease, LeaseTimes, new_executor_id
from qosforge.settings import Settings
from tests.api.served import QOSFORGE
from tests.checkout import PYTHONPATH
from tests.cli.conftest import Command
from tests.parts import need
from tests.patience import PATIENCE

MOMENT = "2026-01-01T00:00:00.000000+00:00"
RUN = "0190f8a2-7c1e-7b6a-9d3e-5f1c2b3a4d5e"


def make(url: str, revision: str, params: dict[str, str]) -> None:
    """A database as an earlier release left it, with one run."""
    engine = sa.create_engine(database_url(url))
    with engine.begin() as connection:
        config = Config(attributes={"connection": connection})
        config.set_main_option("script_location", "qosforge.database:migrations")
        command.upgrade(config, revision)
        insert = sa.text(
            "INSERT INTO runs (id, network, policy, policy_version, status, created, updated, params, "
            "schema_version) VALUES (:id, 'campus', 'p', 'f', 'failed', :moment, :moment, :params, 1)"
        )
        connection.execute(insert, {"id": RUN, "moment": MOMENT, "params": json.dumps(params)})
    engine.dispose()


def revision_of(url: str) -> str:
    engine = sa.create_engine(database_url(url))
    with engine.connect() as connection:
        found = str(connection.scalar(sa.text("SELECT version_num FROM alembic_version")))
    engine.dispose()
    return found


@pytest.fixture(params=["sqlite", "postgresql"])
def older(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """URL of a store of revision 0001, which the settings name."""
    var = tmp_path / "var"
    var.mkdir(mode=0o700)
    url = f"sqlite:///{var / 'runs.sqlite'}"
    if request.param == "postgresql":
        need("postgresql-backup")
        url = request.getfixturevalue("empty_postgres_url")
    make(url, "0001", {})
    monkeypatch.setenv("QOSFORGE_VAR_DIR", str(var))
    monkeypatch.setenv("QOSFORGE_DATABASE_URL", url)
    return url


LOOKS = [
    ("runs",),
    ("show", RUN[:8]),
    ("user", "list"),
    ("token", "list"),
    ("retention", "--keep", "90d", "--dry-run"),
    ("cancel", RUN[:8]),
    ("recover",),
]


@pytest.mark.parametrize("words", LOOKS, ids=" ".join)
def test_a_command_says_what_to_do_with_an_older_schema_and_leaves_it(
    older: str, qosforge: Command, words: tuple[str, ...]
) -> None:
    ended = qosforge(*words)
    assert ended.code == 3, ended
    assert "0001" in ended.stderr
    assert "qosforge database upgrade" in ended.stderr
    assert revision_of(older) == "0001"


def test_no_service_starts_on_an_older_schema(older: str) -> None:
    words = ["serve", "--port", "0"] if older.startswith("sqlite") else ["worker"]
    done = subprocess.run(
        [*QOSFORGE, *words],
        env={**os.environ, "PYTHONPATH": PYTHONPATH},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 3
    assert "qosforge database upgrade" in done.stderr
    assert "Traceback" not in done.stderr
    assert revision_of(older) == "0001"


def test_the_doctor_names_the_upgrade(older: str) -> None:
    (database, *_) = examine(Settings(), ["database"])
    assert "qosforge database upgrade" in database.hint
    assert "qosforge backup create" not in database.hint
    for result in examine(Settings(), ["artifacts", "executors", "devices", "users"]):
        assert "qosforge database upgrade" in result.hint
    assert revision_of(older) == "0001"


def test_a_backup_of_an_older_schema_is_of_that_schema(older: str, tmp_path: Path, qosforge: Command) -> None:
    ended = qosforge("backup", "create", tmp_path / "b", "--json")
    assert ended.code == 0, ended
    assert json.loads(ended.stdout)["revision"] == "0001"
    assert revision_of(older) == "0001"
    assert qosforge("backup", "verify", tmp_path / "b").code == 0


def test_the_upgrade_backs_up_and_then_migrates(older: str, tmp_path: Path, qosforge: Command) -> None:
    ended = qosforge("database", "upgrade", "--backup", tmp_path / "b", "--json")
    assert ended.code == 0, ended
    newest = known_revisions()[0]
    assert json.loads(ended.stdout) == {"before": "0001", "after": newest, "backup": str(tmp_path / "b")}
    assert revision_of(older) == newest
    assert RUN in qosforge("runs", "--json").stdout
    verified = qosforge("backup", "verify", tmp_path / "b", "--json")
    assert json.loads(verified.stdout)["manifest"]["revision"] == "0001"

    again = qosforge("database", "upgrade", "--backup", tmp_path / "c", "--json")
    assert (again.code, json.loads(again.stdout)["before"]) == (0, newest)
    assert not (tmp_path / "c").exists()


def test_without_a_backup_nothing_is_migrated(older: str, tmp_path: Path, qosforge: Command) -> None:
    (tmp_path / "b").write_text("another file")
    assert qosforge("database", "upgrade", "--backup", tmp_path / "b").code == 2
    assert revision_of(older) == "0001"
    assert qosforge("database", "upgrade").code == 2
    assert revision_of(older) == "0001"


def test_a_store_that_lacks_artifacts_is_upgraded_only_where_that_is_meant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qosforge: Command
) -> None:
    settings = Settings(var_dir=tmp_path / "var")
    monkeypatch.setenv("QOSFORGE_VAR_DIR", str(settings.var_dir))
    settings.make_var_dir()
    lost = FileArtifacts(tmp_path / "elsewhere").put_text("lost")
    make(settings.database_url, "0002", {"network": lost})
    refused = qosforge("database", "upgrade", "--backup", tmp_path / "b")
    assert refused.code == 3
    assert lost in refused.stderr
    assert revision_of(settings.database_url) == "0002"
    assert qosforge("database", "upgrade", "--backup", tmp_path / "b", "--allow-incomplete").code == 0
    assert revision_of(settings.database_url) == known_revisions()[0]


@pytest.mark.needs("postgresql-backup")
def test_nothing_is_upgraded_under_a_worker_that_lives(
    empty_postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qosforge: Command
) -> None:
    monkeypatch.setenv("QOSFORGE_DATABASE_URL", empty_postgres_url)
    database = Database(empty_postgres_url)
    lease = ExecutorLease(
        database, new_executor_id(embedded=False), "1", LeaseTimes(lasts=600, fence=600, renewed=600)
    )
    lease.acquire()
    with database.write() as connection:  # as a release of before has it, which lives
        config = Config(attributes={"connection": connection})
        config.set_main_option("script_location", "qosforge.database:migrations")
        command.downgrade(config, "0002")
    refused = qosforge("database", "upgrade", "--backup", tmp_path / "b")
    assert refused.code == 3
    assert lease.id in refused.stderr
    assert revision_of(empty_postgres_url) == "0002"
    lease.release()
    database.close()
    assert qosforge("database", "upgrade", "--backup", tmp_path / "b").code == 0
    assert revision_of(empty_postgres_url) == known_revisions()[0]


@pytest.mark.parametrize("name", ["engine.lock", "runs.sqlite.owner"])  # of releases before, and of this one
def test_nothing_is_upgraded_under_a_service_that_lives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qosforge: Command, name: str
) -> None:
    settings = Settings(var_dir=tmp_path / "var")
    monkeypatch.setenv("QOSFORGE_VAR_DIR", str(settings.var_dir))
    settings.make_var_dir()
    make(settings.database_url, "0002", {})
    lock = FileLock(settings.var_dir / name)
    assert lock.try_acquire()
    refused = qosforge("database", "upgrade", "--backup", tmp_path / "b")
    assert refused.code == 3
    assert str(os.getpid()) in refused.stderr
    lock.release()
    assert revision_of(settings.database_url) == "0002"


def test_there_is_nothing_to_back_up_or_upgrade_where_no_store_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qosforge: Command
) -> None:
    monkeypatch.setenv("QOSFORGE_VAR_DIR", str(tmp_path / "var"))
    for words in (("backup", "create", tmp_path / "b"), ("database", "upgrade", "--backup", tmp_path / "b")):
        ended = qosforge(*words)
        assert ended.code == 3, ended
        assert "no run store" in ended.stderr
    assert not (tmp_path / "var" / "runs.sqlite").exists()
    assert not (tmp_path / "b").exists()


def test_a_new_store_is_made_by_whoever_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qosforge: Command
) -> None:
    monkeypatch.setenv("QOSFORGE_VAR_DIR", str(tmp_path / "var"))
    assert qosforge("runs").code == 0
    assert revision_of(f"sqlite:///{tmp_path / 'var' / 'runs.sqlite'}") == known_revisions()[0]


def test_a_newer_schema_is_reported_apart(older: str, tmp_path: Path, qosforge: Command) -> None:
    engine = sa.create_engine(database_url(older))
    with engine.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    engine.dispose()
    for words in (("runs",), ("database", "upgrade", "--backup", tmp_path / "b")):
        ended = qosforge(*words)
        assert ended.code == 3
        assert "use the release that wrote it" in ended.stderr
    assert not (tmp_path / "b").exists()
