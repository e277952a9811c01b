"""``qosforge audit --files``: what it prints, its exit codes, and wrong folders."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from qosforge.resources import root
from tests.audit.test_audit import BEFORE, HELD

CAMPUS = ("--network", root() / "inventories" / "campus")


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A folder with the configurations of the campus that holds its intent."""
    folder = tmp_path / "saved"
    folder.mkdir()
    for name, text in HELD.items():
        (folder / f"{name}.cfg").write_text(text)
    return folder


def test_tables_for_people(qosforge, saved: Path) -> None:
    ended = qosforge("audit", *CAMPUS, "--files", saved)
    assert ended.code == 0
    assert "voice-video first 50 %" in ended.stdout
    assert "vigo1 → vigo2" in ended.stdout


def test_one_document_for_machines(qosforge, saved: Path) -> None:
    ended = qosforge("audit", *CAMPUS, "--files", saved, "--json")
    document = json.loads(ended.stdout)
    assert (ended.code, document["network"], set(document["devices"])) == (0, "campus", set(HELD))
    kept = [m for m in document["marks"] if (m["from"], m["to"], m["dscp"]) == ("vigo1", "vigo2", 34)]
    assert kept == [{"from": "vigo1", "to": "vigo2", "dscp": 34, "arrives": 34, "lost_at": None, "unread": []}]
    assert {f["severity"] for f in document["findings"]} == {"info"}


def test_warnings_count_with_strict(qosforge, saved: Path) -> None:
    assert qosforge("audit", *CAMPUS, "--files", saved, "--strict").code == 0
    (saved / "s2950.cfg").write_text(BEFORE["s2950"])
    assert qosforge("audit", *CAMPUS, "--files", saved).code == 0
    assert qosforge("audit", *CAMPUS, "--files", saved, "--strict").code == 1


def test_errors_always_count(qosforge, saved: Path) -> None:
    (saved / "r1.cfg").write_text(HELD["r1"].replace("bandwidth 2000", "bandwidth 1544"))
    ended = qosforge("audit", *CAMPUS, "--files", saved)
    assert ended.code == 1
    assert "bandwidth-differs" in ended.stdout


def test_files_of_another_time_are_read(qosforge, saved: Path) -> None:
    plain = qosforge("audit", *CAMPUS, "--files", saved)
    (saved / "r1.cfg").write_bytes(HELD["r1"].replace("\n", "\r\n").encode() + b"! gru\xdf\r\n")
    ended = qosforge("audit", *CAMPUS, "--files", saved)
    assert (ended.code, ended.stdout) == (0, plain.stdout)


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "no configuration of a device of campus"), (b"\0\1\2", "is not a text")],
)
def test_folders_that_hold_nothing_to_read(qosforge, tmp_path: Path, content: bytes | None, message: str) -> None:
    if content is not None:
        (tmp_path / "r1.cfg").write_bytes(content)
    ended = qosforge("audit", *CAMPUS, "--files", tmp_path)
    assert ended.code == 2
    assert message in ended.stderr


def test_a_file_too_large_is_refused(qosforge, tmp_path: Path) -> None:
    with (tmp_path / "r1.cfg").open("wb") as file:
        file.truncate(17 * 1024 * 1024)
    ended = qosforge("audit", *CAMPUS, "--files", tmp_path)
    assert ended.code == 2
    assert "too large" in ended.stderr


def test_devices_that_cannot_be_reached_end_3(qosforge, tmp_path: Path) -> None:
    folder = tmp_path / "one"
    folder.mkdir()
    (folder / "hosts.yaml").write_text(
        "r1:\n  hostname: 127.0.0.1\n  port: 9\n  platform: cisco_ios\n  data:\n    role: edge\n    image: '12.4'\n"
        "    driver: ios_legacy\n    interfaces: {Serial0/0: {rate: 2 Mb/s}}\n"
    )
    for name in ("groups", "defaults"):
        (folder / f"{name}.yaml").write_text("{}\n")
    (folder / "links.yaml").write_text("links: []\nstations: []\n")
    ended = qosforge("audit", "--network", folder)
    assert ended.code == 3, ended.stderr
