"""NAPALM's ``ios`` within limits, against a box of the lab."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_candidate.bounded_ios import BoundedIosDriver
from napalm.base.exceptions import CommandErrorException

from qoslab import control
from qoslab.spec import BoxSpec, NetworkSpec

STARTUP = """\
hostname R1
file prompt quiet
archive
 path flash:cfg
interface Serial0/0
 ip address 192.0.2.1 255.255.255.252
ip scp server enable
end
"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("ios")
    startup = folder / "r1.cfg"
    startup.write_text(STARTUP)
    box = BoxSpec(name="r1", platform="cisco_ios", image="12.4", username="u", password="p", startup_config=startup)
    state = folder / "state"
    control.start(NetworkSpec(network="ios", boxes=[box]), state, timeout=60)
    yield state
    control.stop(state)


@pytest.fixture
def state(lab: Path) -> Path:
    """The lab with its box as it was delivered."""
    control.plant(lab, "r1", "clear")
    (lab / "r1" / "startup-config").write_text(STARTUP)
    control.request(lab, {"op": "reboot", "box": "r1"})
    return lab


@pytest.fixture
def device(state: Path) -> Iterator[BoundedIosDriver]:
    overlay = control.overlay(state)
    arguments = {
        "port": overlay.boxes["r1"].port, "ssh_strict": True, "alt_host_keys": True,
        "alt_key_file": str(overlay.known_hosts), "auto_file_prompt": False,
    }  # fmt: skip
    made = BoundedIosDriver("127.0.0.1", "u", "p", optional_args=arguments)
    made.open()
    yield made
    made.close()


def test_a_change_that_was_not_saved_is_not_confirmed(state: Path, device: BoundedIosDriver) -> None:
    """NAPALM looks at no answer to ``write mem``."""
    before = (state / "r1" / "startup-config").read_text()
    device.load_merge_candidate(config="ip host a 192.0.2.9\n")
    device.commit_config(revert_in=600)
    control.plant(state, "r1", "full_flash")
    with pytest.raises(CommandErrorException, match=r"not saved.*Not enough space on device"):
        device.confirm_commit()
    assert (state / "r1" / "startup-config").read_text() == before


@pytest.mark.parametrize("kind", ["log", "slow"])
def test_a_change_that_was_saved_in_an_odd_way_is_confirmed(
    state: Path, device: BoundedIosDriver, kind: str
) -> None:
    device.load_merge_candidate(config="ip host a 192.0.2.9\n")
    device.commit_config(revert_in=600)
    control.plant(state, "r1", kind, pattern="^write mem", seconds=0.5)
    device.confirm_commit()
    assert "ip host a" in (state / "r1" / "startup-config").read_text()


@pytest.mark.parametrize("way", ["rollback", "confirm_commit"])
def test_a_timer_is_seen_though_the_archive_went_meanwhile(state: Path, device: BoundedIosDriver, way: str) -> None:
    """NAPALM takes a device without an archive for one without a timer, which then takes back a later change."""
    device.load_merge_candidate(config="ip host a 192.0.2.9\n")
    device.commit_config(revert_in=600)
    control.plant(state, "r1", "no_archive")
    assert device.has_pending_commit()
    getattr(device, way)()
    status = control.status(state)
    assert status is not None
    assert status["boxes"]["r1"]["timer_runs"] is False
    assert ("ip host a" in (state / "r1" / "startup-config").read_text()) is (way == "confirm_commit")


def test_a_refusal_is_no_configuration(device: BoundedIosDriver, state: Path) -> None:
    """NAPALM gives any answer as what the box holds: a change was computed against these words, secrets and all."""
    words = "% Authorization failed for ann\nsnmp-server community PLANTED RO"
    control.plant(state, "r1", "refuse", pattern="^show running-config", text=words, times=1)
    with pytest.raises(CommandErrorException, match="show running-config: % Authorization failed"):
        device.get_config(retrieve="running")
    assert "hostname R1" in device.get_config(retrieve="running")["running"]
