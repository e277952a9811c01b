"""``qosforge openconfig``: documents of an intent, and documents read as plans."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from qosforge.openconfig.write import QOS
from qosforge.resources import root
from tests.cli.conftest import Command

POLICY = root() / "policies" / "campus-collaboration.yaml"


def test_what_is_exported_is_imported(qosforge: Command, tmp_path: Path) -> None:
    exported = qosforge("openconfig", "export", POLICY, "-d", "r1", "-d", "e300", "-o", tmp_path / "out", "--json")
    assert (exported.code, exported.stderr) == (0, "")
    told = json.loads(exported.stdout)
    assert [d["name"] for d in told["devices"]] == ["r1", "e300"]
    assert "openconfig-wred-approximate" in {f["code"] for f in told["findings"]}
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["e300.json", "r1.json"]

    imported = qosforge("openconfig", "import", tmp_path / "out" / "r1.json", "--json")
    assert imported.code == 0
    plan = json.loads(imported.stdout)
    assert plan["findings"] == []
    assert (plan["plan"]["device"], plan["plan"]["platform"]) == ("r1", "openconfig")
    assert [e["name"] for e in plan["plan"]["interfaces"]] == ["Serial0/0", "FastEthernet0/0"]


def test_people_get_documents_and_findings(qosforge: Command) -> None:
    ended = qosforge("openconfig", "export", POLICY, "-d", "s2950")
    assert ended.code == 0
    assert f'"{QOS}"' in ended.stdout
    assert "openconfig-scheduler-per-interface" in ended.stdout
    assert qosforge("openconfig", "export", POLICY, "-d", "s2950", "--strict").code == 1


def test_what_is_not_read_is_told(qosforge: Command, tmp_path: Path) -> None:
    file = tmp_path / "dut.json"
    file.write_text(json.dumps({QOS: {"config": {"colour": "green"}}}))
    ended = qosforge("openconfig", "import", file)
    assert ended.code == 0
    assert "/openconfig-qos:qos/config/colour has no place in a plan" in ended.stdout
    assert qosforge("openconfig", "import", file, "--strict").code == 1


@pytest.mark.parametrize(
    ("content", "says"),
    [(None, "cannot be read"), (b"{", "is not JSON"), (b"\xff", "is not UTF-8"), (b"{}", f"has no {QOS}")],
)
def test_a_file_that_is_no_document(qosforge: Command, tmp_path: Path, content: bytes | None, says: str) -> None:
    file = tmp_path / "dut.json"
    if content is not None:
        file.write_bytes(content)
    ended = qosforge("openconfig", "import", file, "--json")
    assert ended.code == 2
    assert says in ended.stderr
    assert json.loads(ended.stdout)["errors"][0]["file"] == str(file)


def test_a_device_that_is_not_there(qosforge: Command) -> None:
    ended = qosforge("openconfig", "export", POLICY, "-d", "r9")
    assert ended.code == 2
    assert "campus has no device 'r9'" in ended.stderr
