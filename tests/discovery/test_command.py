"""The command that discovers: a campus from one seed, another time, and what is wrong with what it is told."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from qosforge.inventory.loader import load_network
from qoslab import control
from tests.system.command import Command, Ended

Discover = Callable[..., Ended]
CDP = {"r1", "r2", "r3", "b256", "b56", "s2950", "s2970"}


@pytest.fixture
def addresses(campus: Path) -> dict[str, str]:
    return {name: f"{box.hostname}:{box.port}" for name, box in control.overlay(campus).boxes.items()}


@pytest.fixture
def discover(campus: Path, tmp_path: Path) -> Discover:
    """Runs the command with the lab's host keys and credentials, as those of real devices would be."""
    login = json.loads((campus / "credentials.json").read_text())
    environment = {
        "QOSFORGE_VAR_DIR": str(tmp_path / "var"),
        "QOSFORGE_KNOWN_HOSTS_FILE": str(campus / "known_hosts"),
        "QOSFORGE_SSH_CONFIG_FILE": str(tmp_path / "none"),
        **{f"QOSFORGE_{key.upper()}": login[key] for key in ("username", "password", "secret")},
    }

    def run(*words: object, **more: str) -> Ended:
        arguments = ["network", "discover", *(str(word) for word in words)]
        return Command(arguments, {**environment, **more}, tmp_path / "printed").wait()

    return run


def test_a_campus_from_one_seed_and_what_is_other_another_time(
    discover: Discover, addresses: dict[str, str], tmp_path: Path
) -> None:
    folder = tmp_path / "found"
    places = [word for name, place in addresses.items() for word in ("--at", f"{name}={place}")]
    common = (addresses["r1"], "--at-most", 20, "--into", folder, *places)
    first = discover(*common, "--json")
    assert first.code == 0, first.text
    told = json.loads(first.stdout)
    assert {device["name"] for device in told["devices"]} == CDP
    network = load_network(folder)
    assert {device.name: device.reach.port for device in network.devices} == {
        name: int(addresses[name].rpartition(":")[2]) for name in CDP
    }
    kept = (folder / "hosts.yaml").read_text()
    again = discover(*common)
    assert (again.code, f"{folder} was left as it is" in again.stdout) == (0, True), again.text
    more = discover(addresses["ers5510"], *common, "--json")
    assert [change for change in json.loads(more.stdout)["changes"] if "ers5510" in change]
    assert (folder / "hosts.yaml").read_text() == kept
    added = discover(addresses["ers5510"], *common, "--add")
    assert added.code == 0, added.text
    assert {device.name for device in load_network(folder).devices} == CDP | {"ers5510"}


def test_a_device_that_is_not_believed_is_named_and_nothing_is_written(
    discover: Discover, addresses: dict[str, str], tmp_path: Path
) -> None:
    nobody = tmp_path / "nobody"
    nobody.write_text("")
    words = (addresses["r1"], "--at-most", 3, "--into", tmp_path / "found")
    ended = discover(*words, QOSFORGE_KNOWN_HOSTS_FILE=str(nobody))
    assert ended.code == 3, ended.text
    assert "its host key is not known" in ended.stdout
    assert f"qosforge device trust --host {addresses['r1']}" in " ".join(ended.stdout.split())
    assert not (tmp_path / "found").exists()
    wrong = discover(*words, QOSFORGE_PASSWORD="hunter2")
    assert wrong.code == 3, wrong.text
    assert "hunter2" not in wrong.text
    assert not (tmp_path / "found").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--transport", "pigeon"), "--transport"),
        (("--jump", "-oProxyCommand=x"), "--jump"),
        (("--at", "r2"), "--at NAME=HOST"),
    ],
)
def test_wrong_words_are_named(discover: Discover, tmp_path: Path, words: tuple[str, ...], told: str) -> None:
    ended = discover("127.0.0.1:9", "--at-most", 1, "--into", tmp_path / "found", *words)
    assert ended.code == 2
    assert told in ended.stderr
