from __future__ import annotations

import hashlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from qosforge.artifacts.store import (
    ArtifactCorrupt,
    ArtifactMissing,
    DatabaseArtifacts,
    FileArtifacts,
    canonical_json,
    open_artifacts,
)
from qosforge.artifacts.tables import ARTIFACTS
from qosforge.database.connections import Database
from qosforge.errors import InputError, StoreError
from qosforge.settings import Settings


@pytest.fixture
def artifacts(tmp_path: Path) -> FileArtifacts:
    return FileArtifacts(tmp_path / "artifacts")


def files(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.is_file()]


def test_an_artifact_is_named_by_its_hash(artifacts: FileArtifacts, tmp_path: Path) -> None:
    artifact = artifacts.put_text("hostname R1\r\n")
    assert artifact == hashlib.sha256(b"hostname R1\r\n").hexdigest()
    assert (tmp_path / "artifacts" / artifact[:2] / artifact[2:]).read_bytes() == b"hostname R1\r\n"
    assert artifacts.get_text(artifact) == "hostname R1\r\n"


def test_the_same_bytes_are_kept_once(artifacts: FileArtifacts, tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        made = set(pool.map(artifacts.put_text, ["interface Serial0/0"] * 16))
    assert len(made) == 1
    assert len(files(tmp_path / "artifacts")) == 1, "no scratch file stays behind"


def test_equal_documents_have_one_id(artifacts: FileArtifacts) -> None:
    first = artifacts.put_json({"b": 1, "a": [1.5, "ΔQ"]})
    assert first == artifacts.put_json({"a": [1.5, "ΔQ"], "b": 1})
    assert artifacts.get_json(first) == {"a": [1.5, "ΔQ"], "b": 1}


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=5))
def test_canonical_json_has_no_two_forms(document: object) -> None:
    text = canonical_json({"x": document, "a": 1})
    assert text == canonical_json({"a": 1, "x": document})
    assert " " not in canonical_json({"a": [1, 2], "b": {}})


def test_nan_is_no_json(artifacts: FileArtifacts) -> None:
    with pytest.raises(ValueError, match="JSON"):
        artifacts.put_json({"delay": float("nan")})


def test_a_changed_file_is_noticed_and_mended_by_storing_again(artifacts: FileArtifacts, tmp_path: Path) -> None:
    artifact = artifacts.put_text("no shutdown")
    (path,) = files(tmp_path)
    path.write_text("shutdown")
    with pytest.raises(ArtifactCorrupt, match="does not hold what was stored") as caught:
        artifacts.get_text(artifact)
    assert caught.value.where.file == str(path)
    assert artifacts.put_text("no shutdown") == artifact
    assert artifacts.get_text(artifact) == "no shutdown"


def test_a_missing_artifact_has_a_name(artifacts: FileArtifacts, tmp_path: Path) -> None:
    artifact = artifacts.put_text("x")
    files(tmp_path)[0].unlink()
    with pytest.raises(ArtifactMissing, match=artifact):
        artifacts.get_bytes(artifact)


@pytest.mark.parametrize("artifact", ["", "../../etc/passwd", "A" * 64, "a" * 63, "a" * 64 + "\n"])
def test_an_id_never_becomes_another_path(artifacts: FileArtifacts, artifact: str) -> None:
    with pytest.raises(InputError, match="not an artifact id"):
        artifacts.get_bytes(artifact)


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "artifacts").write_text("a file where the directory should be")
    with pytest.raises(StoreError, match="cannot write artifact"):
        FileArtifacts(tmp_path / "artifacts").put_text("x")


@pytest.fixture
def database(postgres_url: str) -> Iterator[Database]:
    opened = Database(postgres_url)
    yield opened
    opened.close()


@pytest.fixture
def shared(database: Database) -> DatabaseArtifacts:
    return DatabaseArtifacts(database)


def kept(database: Database) -> int:
    return database.query(lambda connection: len(connection.execute(sa.select(ARTIFACTS.c.id)).all()))


def test_machines_share_artifacts_by_their_hash(shared: DatabaseArtifacts, database: Database) -> None:
    data = bytes(range(256)) * 1000
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(shared.put_bytes, [data] * 16)) == {hashlib.sha256(data).hexdigest()}
    assert kept(database) == 1
    assert DatabaseArtifacts(database).get_bytes(hashlib.sha256(data).hexdigest()) == data
    document = shared.put_json({"b": 1, "a": [1.5, "ΔQ"]})
    assert shared.get_json(document) == {"a": [1.5, "ΔQ"], "b": 1}
    assert shared.get_text(shared.put_text("hostname R1\r\n")) == "hostname R1\r\n"


def test_a_changed_row_is_noticed_and_mended(shared: DatabaseArtifacts, database: Database) -> None:
    artifact = shared.put_text("no shutdown")
    with database.write() as connection:
        connection.execute(sa.update(ARTIFACTS).values(data=b"shutdown"))
    with pytest.raises(ArtifactCorrupt, match="does not hold what was stored"):
        shared.get_text(artifact)
    assert shared.put_text("no shutdown") == artifact
    assert shared.get_text(artifact) == "no shutdown"


def test_a_row_that_is_gone_has_a_name(shared: DatabaseArtifacts) -> None:
    with pytest.raises(ArtifactMissing, match="a" * 64):
        shared.get_bytes("a" * 64)
    with pytest.raises(InputError, match="not an artifact id"):
        shared.get_bytes("../../etc/passwd")


def test_what_is_fetched_together_is_what_is_fetched_alone(shared: DatabaseArtifacts, database: Database) -> None:
    good, bad = shared.put_text("no shutdown"), shared.put_text("shutdown")
    with database.write() as connection:
        connection.execute(sa.update(ARTIFACTS).where(ARTIFACTS.c.id == bad).values(data=b"reload"))
    fetched = shared.together(artifact for artifact in (good, good, bad, "a" * 64))
    later = fetched.put_text("hostname R1")
    with database.write() as connection:  # it looks at none of them again
        connection.execute(sa.delete(ARTIFACTS).where(ARTIFACTS.c.id != later))
    assert (fetched.get_text(good), fetched.get_text(later)) == ("no shutdown", "hostname R1")
    with pytest.raises(ArtifactCorrupt, match=bad):
        fetched.get_text(bad)
    with pytest.raises(ArtifactMissing, match="a" * 64):
        fetched.get_text("a" * 64)
    assert shared.together([]).get_text(later) == "hostname R1"


def test_the_database_says_where_artifacts_are(database: Database, tmp_path: Path) -> None:
    settings = Settings(var_dir=tmp_path)
    assert isinstance(open_artifacts(settings, database), DatabaseArtifacts)
    embedded = Database(settings.database_url)
    assert isinstance(open_artifacts(settings, embedded), FileArtifacts)
    embedded.close()
