"""An installation that an earlier release made and ran on devices, upgraded to this one and taken back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from qosforge.device_state.drift import find_baselines
from qosforge.inventory.loader import load_network
from qosforge.runs.record.store import RunStore
from tests.cli.conftest import Command
from tests.earlier_release import EarlierRelease

pytestmark = [pytest.mark.needs("git"), pytest.mark.history]

NETWORK, POLICY = "inventories/infn-fnal", "policies/infn-fnal-pq.yaml"


@pytest.fixture
def url(tmp_path: Path) -> str:
    """The database of the installation; `tests.database` migrates those of a server, too."""
    return f"sqlite:///{tmp_path / 'var' / 'runs.sqlite'}"


@pytest.fixture
def earlier(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[EarlierRelease]:
    """The earlier release with its lab on the air; this one has the same settings."""
    settings = {"QOSFORGE_VAR_DIR": str(tmp_path / "var"), "QOSFORGE_DATABASE_URL": url}
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    made = EarlierRelease(tmp_path / "earlier", settings)
    made.run("lab", "up", "--network", NETWORK)
    try:
        yield made
    finally:
        made.run("lab", "down", "--network", NETWORK)


def _startup(var: Path) -> dict[str, str]:
    """What each device of the lab has saved."""
    return {path.parent.name: path.read_text() for path in sorted(var.glob("lab/infn-fnal/*/startup-config"))}


def _runs(qosforge: Command) -> dict[str, str]:
    """The status of every run by its id."""
    return {run["run"]: run["status"] for run in json.loads(qosforge("runs", "--json").stdout)}


def test_what_a_release_before_did_is_known_and_can_be_rolled_back(
    earlier: EarlierRelease, url: str, tmp_path: Path, qosforge: Command
) -> None:
    before = _startup(tmp_path / "var")
    assert set(before) == {"router1", "router3"}
    earlier.run("user", "add", "ann", "--role", "admin")
    earlier.run("push", POLICY, "--network", NETWORK)
    assert all(text != before[name] for name, text in _startup(tmp_path / "var").items())

    refused = qosforge("runs")
    assert (refused.code, "qosforge database upgrade" in refused.stderr) == (3, True)
    backup = tmp_path / "backup"
    assert qosforge("database", "upgrade", "--backup", backup).code == 0

    ((run, status),) = _runs(qosforge).items()
    assert status == "kept"
    assert qosforge("show", run).code == 0
    assert "ann" in qosforge("user", "list").stdout
    with RunStore(url) as store:
        baselines = find_baselines(store, load_network(earlier.folder / NETWORK))
    assert {name: found.run.id for name, found in baselines.items()} == dict.fromkeys(before, run)

    assert qosforge("rollback", run).code == 0
    assert qosforge("recover").code == 0
    assert sorted(_runs(qosforge).values()) == ["kept", "kept"]
    assert _startup(tmp_path / "var") == before

    earlier.run("backup", "restore", backup, "--into", tmp_path / "back")
    back = f"sqlite:///{tmp_path / 'back' / 'runs.sqlite'}"
    settings = {"QOSFORGE_VAR_DIR": str(tmp_path / "back"), "QOSFORGE_DATABASE_URL": back}
    (again,) = json.loads(earlier.run("runs", "--json", **settings))
    assert again["status"] == "kept"
