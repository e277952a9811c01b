from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import InputError, StoreError
from app.runs.artifacts import ArtifactCorrupt, ArtifactMissing, ArtifactStore, canonical_json


@pytest.fixture
def artifacts(tmp_path: Path) -> ArtifactStore:
    return ArtifactStore(tmp_path / "artifacts")


def files(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.is_file()]


def test_an_artifact_is_named_by_its_hash(artifacts: ArtifactStore, tmp_path: Path) -> None:
    artifact = artifacts.put_text("hostname R1\r\n")
    assert artifact == hashlib.sha256(b"hostname R1\r\n").hexdigest()
    assert (tmp_path / "artifacts" / artifact[:2] / artifact[2:]).read_bytes() == b"hostname R1\r\n"
    assert artifacts.get_text(artifact) == "hostname R1\r\n"


def test_the_same_bytes_are_kept_once(artifacts: ArtifactStore, tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        made = set(pool.map(artifacts.put_text, ["interface Serial0/0"] * 16))
    assert len(made) == 1
    assert len(files(tmp_path / "artifacts")) == 1, "no scratch file stays behind"


def test_equal_documents_have_one_id(artifacts: ArtifactStore) -> None:
    first = artifacts.put_json({"b": 1, "a": [1.5, "ΔQ"]})
    assert first == artifacts.put_json({"a": [1.5, "ΔQ"], "b": 1})
    assert artifacts.get_json(first) == {"a": [1.5, "ΔQ"], "b": 1}


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=5))
def test_canonical_json_has_no_two_forms(document: object) -> None:
    text = canonical_json({"x": document, "a": 1})
    assert text == canonical_json({"a": 1, "x": document})
    assert " " not in canonical_json({"a": [1, 2], "b": {}})


def test_nan_is_no_json(artifacts: ArtifactStore) -> None:
    with pytest.raises(ValueError, match="JSON"):
        artifacts.put_json({"delay": float("nan")})


def test_a_changed_file_is_noticed_and_mended_by_storing_again(artifacts: ArtifactStore, tmp_path: Path) -> None:
    artifact = artifacts.put_text("no shutdown")
    (path,) = files(tmp_path)
    path.write_text("shutdown")
    with pytest.raises(ArtifactCorrupt, match="does not hold what was stored") as caught:
        artifacts.get_text(artifact)
    assert caught.value.where.file == str(path)
    assert artifacts.put_text("no shutdown") == artifact
    assert artifacts.get_text(artifact) == "no shutdown"


def test_a_missing_artifact_has_a_name(artifacts: ArtifactStore, tmp_path: Path) -> None:
    artifact = artifacts.put_text("x")
    files(tmp_path)[0].unlink()
    with pytest.raises(ArtifactMissing, match=artifact):
        artifacts.get_bytes(artifact)


@pytest.mark.parametrize("artifact", ["", "../../etc/passwd", "A" * 64, "a" * 63, "a" * 64 + "\n"])
def test_an_id_never_becomes_another_path(artifacts: ArtifactStore, artifact: str) -> None:
    with pytest.raises(InputError, match="not an artifact id"):
        artifacts.get_bytes(artifact)


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "artifacts").write_text("a file where the directory should be")
    with pytest.raises(StoreError, match="cannot write artifact"):
        ArtifactStore(tmp_path / "artifacts").put_text("x")
