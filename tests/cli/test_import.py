"""``qosforge import``: files in, an intent and an inventory out, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.full_disk import largest_file
from tests.importing.test_abbreviations import BRANCH, BRANCH_INTENT


@pytest.fixture
def branch(tmp_path: Path) -> Path:
    path = tmp_path / "branch.cfg"
    path.write_text(BRANCH, encoding="utf-8")
    return path


def test_what_is_written_compiles(qosforge, branch: Path, tmp_path: Path) -> None:
    folder = tmp_path / "site"
    assert qosforge("import", branch, "--intent", "made", "--out", folder).code == 0
    assert (folder / "made.yaml").read_text(encoding="utf-8") == BRANCH_INTENT
    ended = qosforge("compile", folder / "made.yaml", "--network", folder)
    assert (ended.code, "service-policy output WAN-OUT" in ended.stdout) == (0, True)


def test_one_document_for_machines(qosforge, branch: Path) -> None:
    document = json.loads(qosforge("import", branch, "--json").stdout)
    assert set(document) == {"intents", "inventory", "findings"}
    assert [i["name"] for i in document["intents"]] == ["imported"]
    assert "Serial0/0" in document["inventory"]["hosts.yaml"]
    # Its classes match packets of IPv4 alone.
    assert {(f["code"], f["severity"]) for f in document["findings"]} == {("import-not-expressed", "info")}


def test_what_cannot_be_said_counts_with_strict(qosforge, branch: Path) -> None:
    branch.write_text(BRANCH.replace(" bandwidth 512", " bandwidth 512\n ip rsvp bandwidth 300"), encoding="utf-8")
    assert qosforge("import", branch).code == 0
    ended = qosforge("import", branch, "--strict")
    assert (ended.code, "import-not-expressed" in ended.stdout) == (1, True)


def test_all_files_are_written_or_none(qosforge, branch: Path, tmp_path: Path) -> None:
    folder = tmp_path / "site"
    with largest_file(len(BRANCH_INTENT) - 200):  # the inventory is smaller
        ended = qosforge("import", branch, "--out", folder)
    assert (ended.code, "cannot be written: File too large" in ended.stderr) == (2, True)
    assert not list(folder.iterdir())
    assert qosforge("import", branch, "--out", folder).code == 0


def test_a_file_as_its_folder_is_told(qosforge, branch: Path) -> None:
    ended = qosforge("import", branch, "--out", branch)
    assert ended.code == 2
    assert f"cannot be written: {branch} is a file" in ended.stderr
    assert "name a folder" in ended.stderr
    assert branch.read_text(encoding="utf-8") == BRANCH


def test_nothing_is_overwritten(qosforge, branch: Path, tmp_path: Path) -> None:
    (tmp_path / "hosts.yaml").write_text("mine\n", encoding="utf-8")
    ended = qosforge("import", branch, "--out", tmp_path)
    assert (ended.code, "is there already" in ended.stderr) == (2, True)
    assert not (tmp_path / "imported.yaml").exists()
    assert (tmp_path / "hosts.yaml").read_text(encoding="utf-8") == "mine\n"


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        (b"\0", (), "is not a text"),
        (BRANCH.encode(), ("--device", "a", "--device", "b"), "2 names for 1 files"),
        (BRANCH.encode(), ("--intent", "a b"), "is not a name of an intent"),
        (b"hello\n", (), "no line tells the platform"),
        (None, (), "cannot be read"),
    ],
)
def test_wrong_input_is_refused(qosforge, tmp_path: Path, content, arguments, message: str) -> None:
    path = tmp_path / "x.cfg"
    if content is not None:
        path.write_bytes(content)
    ended = qosforge("import", path, *arguments)
    assert (ended.code, message in ended.stderr) == (2, True)
