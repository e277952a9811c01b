"""A backup holds one moment of an installation, and comes back whole or not at all."""

from __future__ import annotations

import hashlib
import io
import json
import sqlite3
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from sqlalchemy import make_url

from qosforge.artifacts.store import DatabaseArtifacts, FileArtifacts
from qosforge.audit.file_audits import begin_file_audit, drop_file_audit, end_file_audit
from qosforge.database.connections import Database
from qosforge.errors import InputError, ServiceError, StoreError
from qosforge.operations import backup, embedded, server
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.tables import JournalAction, RunStatus
from qosforge.settings import Settings
from tests.runs.support import WHY

ROOT = Path(__file__).parents[2]


@pytest.fixture
def installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("QOSFORGE_VAR_DIR", str(tmp_path / "var"))
    settings = Settings()
    artifacts = FileArtifacts(settings.artifacts_dir)
    with RunStore(settings.database_url) as store:
        for number in range(3):
            network = artifacts.put_text(f"network {number}")
            run = store.create_run("campus", "policy", "f" * 64, {"network": network})
            if number:
                store.set_status(run.id, RunStatus.FAILED, reason=WHY)
    return settings


def test_what_was_backed_up_comes_back(installation: Settings, tmp_path: Path) -> None:
    file = tmp_path / "safe" / "one.backup"
    manifest = backup.create(installation, file)
    assert (manifest.kind, manifest.artifacts, manifest.damaged, manifest.missing) == ("sqlite", 3, (), ())
    assert file.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in file.parent.iterdir()] == ["one.backup"]
    restored = backup.restore(file, str(tmp_path / "new"))
    assert (restored.runs, len(restored.unfinished)) == (3, 1)
    artifacts = FileArtifacts(tmp_path / "new" / "artifacts")
    with (
        RunStore(installation.database_url) as old,
        RunStore(f"sqlite:///{tmp_path / 'new' / 'runs.sqlite'}") as new,
    ):
        assert new.list_runs() == old.list_runs()
        texts = {artifacts.get_text(run.params["network"]) for run in new.list_runs()}
    assert texts == {"network 0", "network 1", "network 2"}
    assert (tmp_path / "new" / "runs.sqlite").stat().st_mode & 0o777 == 0o600


SECRET = b"enable secret of somebody's router"


def _give_files(database: Database, audit_id: str) -> None:
    begin_file_audit(database, audit_id, "ann", datetime.now(UTC))
    end_file_audit(database, audit_id, files=SECRET * 100)


def test_files_that_people_gave_for_a_day_are_in_no_backup(installation: Settings, tmp_path: Path) -> None:
    database = Database(installation.database_url)
    for audit_id in ("0" * 32, "1" * 32):
        _give_files(database, audit_id)
    drop_file_audit(database, "0" * 32)
    database.close()
    backup.create(installation, tmp_path / "b")
    assert SECRET in (installation.var_dir / "runs.sqlite").read_bytes()
    assert SECRET not in _members(tmp_path / "b")["runs.sqlite"]
    assert backup.restore(tmp_path / "b", str(tmp_path / "new")).runs == 3


def test_a_damaged_artifact_that_no_row_refers_to_is_reported_and_left_out(
    installation: Settings, tmp_path: Path
) -> None:
    artifact = FileArtifacts(installation.artifacts_dir).put_text("nobody's")
    (installation.artifacts_dir / artifact[:2] / artifact[2:]).write_text("other")
    manifest = backup.create(installation, tmp_path / "b")
    assert (manifest.artifacts, manifest.damaged, manifest.missing) == (3, (artifact,), ())
    assert backup.restore(tmp_path / "b", str(tmp_path / "new")).lacks == ()


def test_a_backup_replaces_no_file(installation: Settings, tmp_path: Path) -> None:
    (tmp_path / "b").write_text("mine")
    with pytest.raises(InputError, match="exists"):
        backup.create(installation, tmp_path / "b")
    assert (tmp_path / "b").read_text() == "mine"


@pytest.mark.parametrize("name", ["runs.sqlite", "engine.sqlite", "artifacts"])
def test_a_restore_replaces_nothing(installation: Settings, tmp_path: Path, name: str) -> None:
    backup.create(installation, tmp_path / "b")
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / name).write_text("mine")
    with pytest.raises(InputError, match="already"):
        backup.restore(tmp_path / "b", str(tmp_path / "new"))
    assert [(path.name, path.read_text()) for path in (tmp_path / "new").iterdir()] == [(name, "mine")]


# -- archives that are not what they seem ------------------------------------------------------------------
Members = dict[str, bytes]


def _members(file: Path) -> Members:
    with tarfile.open(file) as tar:
        return {member.name: tar.extractfile(member).read() for member in tar}  # type: ignore[union-attr]


def _write(file: Path, members: Members) -> None:
    with tarfile.open(file, "w:gz") as tar:
        for name, data in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))


def _manifest(**changes: object) -> Callable[[Members], Members]:
    def change(members: Members) -> Members:
        manifest = json.loads(members["manifest.json"]) | changes
        return members | {"manifest.json": json.dumps(manifest).encode()}

    return change


def _first(members: Members, data: Members) -> Members:
    return data | members


WRONG: dict[str, tuple[Callable[[Members], Members], str]] = {
    "no manifest": (lambda m: {n: d for n, d in m.items() if n != "manifest.json"}, "no manifest"),
    "lost artifact": (lambda m: {n: d for n, d in m.items() if n != min(m)}, "its manifest says"),
    "changed store": (lambda m: m | {"runs.sqlite": m["runs.sqlite"] + b"x"}, "its manifest says"),
    "changed artifact": (lambda m: m | {min(m): b"x"}, "artifact that was changed"),
    "a way out": (lambda m: {"../outside": b"x"} | m, "which no backup does"),
    "a root": (lambda m: {"/tmp/qosforge-outside": b"x"} | m, "which no backup does"),
    "after the manifest": (lambda m: m | {"artifacts/00/" + "0" * 62: b"x"}, "which no backup does"),
    "newer tables": (_manifest(revision="9999"), "does not know"),
    "newer format": (_manifest(version=2), "cannot be read by this release"),
    "other kind": (_manifest(kind="postgresql"), "backup of postgresql"),
    "no store": (
        lambda m: _manifest(files={})({n: d for n, d in m.items() if n != "runs.sqlite"}),
        "lacks the run store",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_archive_leaves_nothing(installation: Settings, tmp_path: Path, case: str) -> None:
    change, told = WRONG[case]
    backup.create(installation, tmp_path / "good")
    _write(tmp_path / "wrong", change(_members(tmp_path / "good")))
    with pytest.raises(InputError, match=told):
        backup.restore(tmp_path / "wrong", str(tmp_path / "new"))
    assert list((tmp_path / "new").iterdir()) == []
    assert not (tmp_path / "outside").exists()


def test_an_archive_cut_short_leaves_nothing(installation: Settings, tmp_path: Path) -> None:
    backup.create(installation, tmp_path / "good")
    whole = (tmp_path / "good").read_bytes()
    for size in (0, 10, len(whole) // 2, len(whole) * 9 // 10):
        (tmp_path / "cut").write_bytes(whole[:size])
        with pytest.raises(InputError):
            backup.restore(tmp_path / "cut", str(tmp_path / "new"))
        assert list((tmp_path / "new").iterdir()) == []


def test_a_store_that_is_no_database_is_not_put_in_place(installation: Settings, tmp_path: Path) -> None:
    backup.create(installation, tmp_path / "good")
    members = _members(tmp_path / "good")
    broken = bytearray(members["runs.sqlite"])
    broken[4096:8192] = b"\xff" * 4096
    manifest = json.loads(members["manifest.json"])
    manifest["files"]["runs.sqlite"] = hashlib.sha256(broken).hexdigest()
    _write(tmp_path / "b", members | {"runs.sqlite": bytes(broken), "manifest.json": json.dumps(manifest).encode()})
    with pytest.raises(StoreError):
        backup.restore(tmp_path / "b", str(tmp_path / "new"))
    assert list((tmp_path / "new").iterdir()) == []


@pytest.mark.parametrize(
    ("into", "told"), [("mysql://host/db", "cannot live in"), ("sqlite:////tmp/x.sqlite", "into a folder")]
)
def test_a_place_that_is_none(tmp_path: Path, into: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        backup.restore(tmp_path / "b", into)


# -- while runs go on --------------------------------------------------------------------------------------
WORKLOAD = """
import sys, threading, time
from pathlib import Path
from qosforge.runs.engine.dbos_engine import DbosEngine
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.summaries import StageSummary
from qosforge.runs.record.tables import JournalAction, RunStatus

STEPS = 8
var, count = Path(sys.argv[1]), int(sys.argv[2])
store = RunStore(f"sqlite:///{var / 'runs.sqlite'}")
engine = DbosEngine(var)

def workflow(run_id, params):
    def step(number):
        with store.stage(run_id, f"step {number}", StageSummary()):
            store.journal.append(run_id, f"device{number}", JournalAction.TOUCHING)
            time.sleep(0.003)
            store.journal.append(run_id, f"device{number}", JournalAction.CONFIRMED)
        return {}
    for number in range(STEPS):
        engine.run_step(f"step {number}", step, number)
    engine.run_step("end", lambda: store.set_status(run_id, RunStatus.KEPT) and {})
    return {}

engine.register("work", workflow)
engine.launch()
def work():
    for _ in range(count):
        run = store.create_run("campus", "policy", "f" * 64, {})
        store.set_status(run.id, RunStatus.RUNNING)
        engine.start("work", run.id, {})
        engine.result(run.id)
if count:
    print("begun", flush=True)
    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
else:
    wrong = [ended.run_id for ended in engine.recover() if ended.error]
    engine.close()
    unknown = [run.id for run in store.unfinished_runs()]
    print(len(wrong), len(store.journal.open_touches()), *unknown, flush=True)
"""


@pytest.fixture
def busy(tmp_path: Path) -> Iterator[Path]:
    """A run directory in which a process carries out three runs at once, over and over."""
    var = tmp_path / "busy"
    var.mkdir()
    child = subprocess.Popen(
        [sys.executable, "-c", WORKLOAD, str(var), "1000"], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "begun\n"
    yield var
    child.kill()
    child.communicate(timeout=60)


def test_the_store_and_the_engine_are_of_one_moment(
    busy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(var_dir=busy)
    copy = embedded._copy

    def on_a_slow_disk(source: Path, target: Path) -> Path:
        time.sleep(0.1)
        return copy(source, target)

    monkeypatch.setattr(embedded, "_copy", on_a_slow_disk)
    seen = 0
    for number in range(4):
        time.sleep(0.1)
        place = tmp_path / f"restored{number}"
        backup.create(settings, tmp_path / f"b{number}")
        backup.restore(tmp_path / f"b{number}", str(place))
        with closing(sqlite3.connect(place / "runs.sqlite")) as store:
            done = dict(store.execute("SELECT run_id, count(*) FROM stages WHERE outcome = 'done' GROUP BY run_id"))
            over = {run for (run,) in store.execute("SELECT id FROM runs WHERE status = 'kept'")}
        with closing(sqlite3.connect(place / "engine.sqlite")) as engine:
            recorded = dict(
                engine.execute("SELECT workflow_uuid, count(*) FROM operation_outputs GROUP BY workflow_uuid")
            )
            ended = {
                run
                for (run,) in engine.execute("SELECT workflow_uuid FROM workflow_status WHERE status = 'SUCCESS'")
            }
        assert ended <= over
        for run, steps in recorded.items():
            finished = done.get(run, 0) + (run in over)
            assert steps <= finished <= steps + 1
        seen += len(recorded)
    assert seen > 4
    # What the last one holds goes on from there, every run to its end.
    restored = subprocess.run(
        [sys.executable, "-c", WORKLOAD, str(place), "0"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    wrong, touched, *unknown = restored.stdout.split()
    assert (wrong, touched) == ("0", "0")
    # Killed between a row and the engine's record of it: begun by nobody, and no device touched.
    for run in unknown:
        assert run not in recorded
        assert run not in done


# -- PostgreSQL --------------------------------------------------------------------------------------------
@pytest.mark.needs("postgresql-backup")
def test_a_server_is_dumped_and_comes_back(postgres_url: str, empty_postgres_url: str, tmp_path: Path) -> None:
    settings = Settings(var_dir=tmp_path / "var", database_url=postgres_url)
    database = Database(postgres_url)
    artifact = DatabaseArtifacts(database).put_text("network")
    _give_files(database, "0" * 32)
    with database.write() as connection:  # the engine's own tables stand in a schema of their own
        connection.exec_driver_sql("CREATE SCHEMA dbos")
        connection.exec_driver_sql("CREATE TABLE dbos.workflow_status (id text PRIMARY KEY)")
        connection.exec_driver_sql("INSERT INTO dbos.workflow_status VALUES ('w')")
    database.close()
    with RunStore(postgres_url) as store:
        run = store.create_run("campus", "policy", "f" * 64, {"network": artifact})
        store.journal.append(run.id, "r1", JournalAction.TOUCHING, before=artifact)
        touches = store.journal.open_touches()
    manifest = backup.create(settings, tmp_path / "b")
    assert (manifest.kind, list(manifest.files)) == ("postgresql", ["database.dump"])
    restored = backup.restore(tmp_path / "b", empty_postgres_url)
    assert (restored.runs, restored.unfinished) == (1, (run.id,))
    with RunStore(empty_postgres_url) as store:
        assert store.journal.open_touches() == touches
    database = Database(empty_postgres_url)
    with pytest.raises(StoreError, match="append-only"), database.write() as connection:
        connection.exec_driver_sql("DELETE FROM journal")
    assert DatabaseArtifacts(database).get_text(artifact) == "network"
    with database.read() as connection:
        assert connection.exec_driver_sql("SELECT id FROM dbos.workflow_status").scalar_one() == "w"
        assert connection.exec_driver_sql("SELECT count(*) FROM file_audits").scalar_one() == 0
    database.close()
    with pytest.raises(InputError, match="not empty"):
        backup.restore(tmp_path / "b", empty_postgres_url)
    with pytest.raises(InputError, match="backup of postgresql"):
        backup.restore(tmp_path / "b", str(tmp_path / "new"))


@pytest.mark.needs("postgresql-backup")
@pytest.mark.parametrize("there", [False, True], ids=["without", "with"])
def test_an_extension_of_the_server_is_not_part_of_a_backup(
    postgres_url: str, empty_postgres_url: str, tmp_path: Path, there: bool
) -> None:
    make = (
        "CREATE EXTENSION pg_stat_statements",  # untrusted: a superuser alone may make it
        "CREATE TABLE of_extension (id int PRIMARY KEY)",
        "ALTER EXTENSION pg_stat_statements ADD TABLE of_extension",
    )
    user = f"owner_{uuid4().hex}"
    _execute(postgres_url, *make)
    _execute(empty_postgres_url, f"CREATE USER {user}", f"ALTER SCHEMA public OWNER TO {user}")
    _execute(empty_postgres_url, *(make if there else ()))
    _execute(empty_postgres_url, f"ALTER DATABASE {make_url(empty_postgres_url).database} OWNER TO {user}")
    with RunStore(postgres_url) as store:
        run = store.create_run("campus", "policy", "f" * 64, {})
    backup.create(Settings(var_dir=tmp_path / "var", database_url=postgres_url), tmp_path / "b")
    owned = make_url(empty_postgres_url).set(username=user).render_as_string(hide_password=False)
    assert backup.restore(tmp_path / "b", owned).unfinished == (run.id,)


def _execute(url: str, *statements: str) -> None:
    with closing(psycopg.connect(url, autocommit=True)) as connection:
        for statement in statements:
            connection.execute(statement)


def _program(folder: Path, name: str, prints: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\necho '{prints}'\n")
    path.chmod(0o755)


@pytest.mark.parametrize(("prints", "told"), [("", "pg_dump is missing"), ("pg_dump (PostgreSQL) 9.6", "too old")])
def test_a_client_that_will_not_do_is_named(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prints: str, told: str
) -> None:
    (tmp_path / "bin").mkdir()
    if prints:
        _program(tmp_path / "bin", "pg_dump", prints)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    with pytest.raises(ServiceError, match=told) as caught:
        backup.create(Settings(var_dir=tmp_path / "var", database_url=postgres_url), tmp_path / "b")
    assert "postgresql-client" in caught.value.hint
    assert not (tmp_path / "b").exists()


def test_a_password_is_not_an_argument() -> None:
    url = make_url("postgresql+psycopg://ann:s3cret@db/qosforge")
    assert server._address(url) == "postgresql://ann@db/qosforge"
