"""A backup is complete when every artifact that its rows name is in it; what is not is told by name."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from qosforge.artifacts.store import ArtifactMissing, open_artifacts
from qosforge.artifacts.tables import ARTIFACTS
from qosforge.database.connections import Database
from qosforge.operations import backup
from qosforge.operations.artifact_store import artifact_collection
from qosforge.operations.retention import retain
from qosforge.policy_library.tables import POLICIES
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.summaries import ReadSummary
from qosforge.runs.record.tables import JournalAction, RunStatus
from qosforge.settings import Settings
from qosforge.sweeps.tables import SWEEP_POINTS, SWEEPS
from tests.cli.conftest import Command, Ended
from tests.parts import need
from tests.runs.support import WHY

NOW = datetime.now(UTC)
AGE = timedelta(days=200)


@pytest.fixture(params=["sqlite", "postgresql"])
def installation(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """One run that names an artifact, in each of the databases."""
    monkeypatch.setenv("QOSFORGE_VAR_DIR", str(tmp_path / "var"))
    if request.param == "postgresql":
        need("postgresql-backup")
        monkeypatch.setenv("QOSFORGE_DATABASE_URL", request.getfixturevalue("postgres_url"))
    settings = Settings()
    with RunStore(settings.database_url) as store:
        network = open_artifacts(settings, store.database).put_text("network")
        store.create_run("campus", "policy", "f" * 64, {"network": network, "intent_parameters": ["x=" + "e" * 64]})
    return settings


@pytest.fixture
def into(installation: Settings, tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """Where its backup can be restored."""
    if embedded(installation):
        return str(tmp_path / "new")
    url: str = request.getfixturevalue("empty_postgres_url")
    return url


def names(settings: Settings) -> tuple[str, str]:
    """The run, and the artifact that it names."""
    with RunStore(settings.database_url) as store:
        (run,) = store.list_runs()
    return run.id, run.params["network"]


def lose(settings: Settings, artifact: str, damage: str | None = None) -> None:
    """Take an artifact away, or put something else in its place."""
    if embedded(settings):
        path = settings.artifacts_dir / artifact[:2] / artifact[2:]
        path.unlink() if damage is None else path.write_text(damage)
        return
    this = ARTIFACTS.c.id == artifact
    change = sa.delete(ARTIFACTS) if damage is None else sa.update(ARTIFACTS).values(data=damage.encode())
    database = Database(settings.database_url)
    with database.write() as connection:
        connection.execute(change.where(this))
    database.close()


def embedded(settings: Settings) -> bool:
    return settings.database_url.startswith("sqlite")


@pytest.mark.parametrize("damage", [None, "other"])
def test_a_backup_that_lacks_what_a_run_names_is_none(
    installation: Settings, into: str, tmp_path: Path, qosforge: Command, damage: str | None
) -> None:
    run, artifact = names(installation)
    lose(installation, artifact, damage)
    file = tmp_path / "b"
    refused = qosforge("backup", "create", file, "--json")
    assert refused.code == 3
    (problem,) = json.loads(refused.stdout)["errors"]
    assert artifact in problem["message"]
    assert run in problem["message"]
    assert ("missing" if damage is None else "damaged") in problem["message"]
    assert "--allow-incomplete" in problem["hint"]
    assert not file.exists()

    taken = qosforge("backup", "create", file, "--allow-incomplete", "--json")
    assert taken.code == 0
    manifest = json.loads(taken.stdout)
    assert manifest["missing"] == [artifact]
    assert manifest["damaged"] == ([] if damage is None else [artifact])
    assert artifact in taken.stderr

    _tells(qosforge("backup", "verify", file, "--json"), 3, run, artifact)
    _tells(qosforge("backup", "restore", file, "--into", into, "--json"), 0, run, artifact)


def _tells(ended: Ended, code: int, run: str, artifact: str) -> None:
    assert ended.code == code, ended
    (lacks,) = json.loads(ended.stdout)["lacks"]
    assert lacks["artifact"] == artifact
    assert artifact in ended.stderr
    assert run in lacks["named_by"] or lacks["named_by"] == ""


def test_a_complete_backup_is_verified_and_restored_without_a_word(
    installation: Settings, into: str, tmp_path: Path, qosforge: Command
) -> None:
    assert qosforge("backup", "create", tmp_path / "b").code == 0
    verified = qosforge("backup", "verify", tmp_path / "b")
    assert (verified.code, verified.stderr) == (0, "")
    assert "complete" in verified.stdout
    restored = qosforge("backup", "restore", tmp_path / "b", "--into", into)
    assert (restored.code, restored.stderr) == (0, "")


def test_a_backup_of_another_run_directory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qosforge: Command
) -> None:
    """As a wrong variable in a nightly job has it: the rows of one installation, the artifacts of none."""
    settings = Settings(var_dir=tmp_path / "one")
    with RunStore(settings.database_url) as store:
        network = open_artifacts(settings, store.database).put_text("network")
        store.create_run("campus", "policy", "f" * 64, {"network": network})
    monkeypatch.setenv("QOSFORGE_DATABASE_URL", settings.database_url)
    refused = qosforge("backup", "create", tmp_path / "b")
    assert refused.code == 3
    assert "QOSFORGE_VAR_DIR" in refused.stderr


def test_a_changed_backup_is_not_verified(installation: Settings, tmp_path: Path, qosforge: Command) -> None:
    backup.create(installation, tmp_path / "b")
    whole = (tmp_path / "b").read_bytes()
    (tmp_path / "cut").write_bytes(whole[: len(whole) // 2])
    assert qosforge("backup", "verify", tmp_path / "cut").code == 2
    assert qosforge("backup", "verify", tmp_path / "none").code == 2


def test_whatever_names_an_artifact_is_asked(installation: Settings, tmp_path: Path, qosforge: Command) -> None:
    run, _ = names(installation)
    ids = {}
    with RunStore(installation.database_url) as store:
        artifacts = open_artifacts(installation, store.database)
        for name in ("stage", "journal", "policy", "included", "sweep", "point", "reading"):
            ids[name] = artifacts.put_text(name)
        with store.stage(run, "read", ReadSummary(running={"r1": ids["stage"]})):
            pass
        store.journal.append(run, "r1", JournalAction.TOUCHING, before=ids["journal"])
        with store.database.write() as connection:
            connection.execute(
                sa.insert(POLICIES).values(
                    name="p", number=1, version="d" * 64, text=ids["policy"], included={"a": ids["included"]},
                    author="ann", comment="c" * 64, at=NOW,
                )
            )  # fmt: skip
            _add_sweep(connection, "young", ids["sweep"], ids["point"], NOW)
            connection.execute(sa.text("UPDATE readings SET artifact = :a").bindparams(a=ids["reading"]))
    assert qosforge("backup", "create", tmp_path / "whole").code == 0
    for artifact in ids.values():
        lose(installation, artifact)
    refused = qosforge("backup", "create", tmp_path / "b", "--json")
    told = [problem["message"] for problem in json.loads(refused.stdout)["errors"]]
    assert len(told) == len(ids)
    for artifact in ids.values():
        assert any(artifact in message for message in told)
    for owner in (f"run {run}", "policy p version 1", "sweep young", "last reading of campus/r1"):
        assert any(owner in message for message in told)


def _add_sweep(connection: sa.Connection, sweep: str, text: str, result: str, created: datetime) -> None:
    row = {"id": sweep, "network": "campus", "policy": "p", "requested_by": "ann", "schema_version": 1}
    params = {"network": text, "text": text, "file": "p.yaml", "included": {}, "parameters": {"x": ["b" * 64]}}
    connection.execute(sa.insert(SWEEPS).values(**row, params=params, created=created))
    point = {"sweep_id": sweep, "number": 1, "params": {"parameters": {"x": "b" * 64}, "seed": 1}}
    connection.execute(sa.insert(SWEEP_POINTS).values(**point, ended=created, outcome="met", result=result))


def test_what_a_retention_took_is_not_missed(installation: Settings, tmp_path: Path, qosforge: Command) -> None:
    with RunStore(installation.database_url, now=lambda: NOW - AGE) as store:
        database = store.database
        artifacts = open_artifacts(installation, database)
        text, result, old = (artifacts.put_text(name) for name in ("text", "result", "old"))
        run = store.create_run("campus", "policy", "f" * 64, {"network": old})
        store.set_status(run.id, RunStatus.FAILED, reason=WHY)
        with database.write() as connection:
            _add_sweep(connection, "old", text, result, NOW - AGE)
        for other in store.unfinished_runs():
            store.set_status(other.id, RunStatus.FAILED, reason=WHY)
        gone = retain(
            database, artifact_collection(database, installation.artifacts_dir), timedelta(days=90), NOW + AGE
        )
        for artifact in (text, result, old):
            with pytest.raises(ArtifactMissing):
                artifacts.get_bytes(artifact)
    assert run.id in gone.runs
    assert qosforge("backup", "create", tmp_path / "b").code == 0
