"""NAPALM's own ios driver against the Catalyst 9000: a confirmed commit, and what takes it back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from napalm import get_network_driver

from qoslab import control
from qoslab.spec import BoxSpec, NetworkSpec

STARTUP = """\
hostname SW
archive
 path flash:cfg
ip scp server enable
file prompt quiet
interface TenGigabitEthernet1/1/1
 switchport mode trunk
"""
CANDIDATE = """\
class-map match-any VOICE
 match dscp ef
policy-map OUT
 class VOICE
  priority level 1 percent 10
 class class-default
  bandwidth remaining percent 100
policy-map PORT
 class class-default
  shape average 1000000000
   service-policy OUT
interface TenGigabitEthernet1/1/1
 service-policy output PORT
"""


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The state directory of a lab with one switch."""
    folder = tmp_path_factory.mktemp("lab9000")
    startup = folder / "sw.cfg"
    startup.write_text(STARTUP)
    box = BoxSpec(
        name="sw",
        platform="catalyst_9000",
        image="17.12",
        username="admin",
        password="lab-pass",
        secret="lab-secret",
        startup_config=startup,
    )
    control.start(NetworkSpec(network="one", boxes=[box], clock_scale=40), folder / "state")
    yield folder / "state"
    control.stop(folder / "state")


@pytest.fixture
def device(state: Path) -> Iterator[Any]:
    """An open NAPALM device."""
    address = control.overlay(state).boxes["sw"]
    driver = get_network_driver("ios")(
        hostname=address.hostname,
        username="admin",
        password="lab-pass",
        timeout=60,
        optional_args={"port": address.port, "secret": "lab-secret"},
    )
    driver.open()
    yield driver
    driver.close()


def running(state: Path) -> str:
    """The running configuration by the back door."""
    return str(control.request(state, {"op": "running", "box": "sw"})["running"])


def test_a_pending_commit_is_rolled_back_and_a_confirmed_one_is_saved(state: Path, device: Any) -> None:
    before = running(state)
    device.load_merge_candidate(config=CANDIDATE)
    assert "+ service-policy output PORT" in device.compare_config()
    device.commit_config(revert_in=7200)
    assert "   service-policy OUT\n" in running(state)
    device.rollback()
    assert running(state) == before
    device.load_merge_candidate(config=CANDIDATE)
    device.commit_config(revert_in=7200)
    device.confirm_commit()
    assert " service-policy output PORT" in device.get_config()["startup"]


def test_facts(device: Any) -> None:
    facts = device.get_facts()
    assert facts["hostname"] == "SW"
    assert "TenGigabitEthernet1/1/1" in facts["interface_list"]
