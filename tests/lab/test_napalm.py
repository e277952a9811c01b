"""The real NAPALM ios driver against the 12.4 router: merge, compare, confirmed commit, rollback."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from napalm import get_network_driver

from qoslab import control

CANDIDATE = """\
class-map match-all VOICE
 match ip dscp ef
policy-map WAN
 class VOICE
  priority percent 50
interface Serial0/0
 service-policy output WAN
"""
INVERSE = "interface Serial0/0\n no service-policy output WAN\nno policy-map WAN\nno class-map match-all VOICE\n"


@pytest.fixture
def device(lab: Path) -> Iterator[Any]:
    """An open NAPALM device; whatever it pushed is taken off afterwards."""
    address = control.overlay(lab).boxes["r1"]
    driver = get_network_driver("ios")(
        hostname=address.hostname,
        username="admin",
        password="lab-pass",
        timeout=60,
        optional_args={"port": address.port, "secret": "lab-secret"},
    )
    driver.open()
    yield driver
    if driver.has_pending_commit():
        driver.rollback()
    driver.close()
    control.configure(lab, "r1", INVERSE.splitlines())


def running(state: Path) -> str:
    """The running configuration by the back door."""
    return str(control.request(state, {"op": "running", "box": "r1"})["running"])


def test_confirmed_commit_and_confirm(lab: Path, device: Any) -> None:
    device.load_merge_candidate(config=CANDIDATE)
    diff = device.compare_config()
    assert "+class-map match-all VOICE" in diff
    assert "+ service-policy output WAN" in diff
    device.commit_config(revert_in=7200)
    assert device.has_pending_commit()
    assert " service-policy output WAN" in running(lab)
    assert "service-policy" not in device.get_config(retrieve="startup")["startup"]
    device.confirm_commit()
    assert not device.has_pending_commit()
    assert "service-policy output WAN" in device.get_config()["startup"]
    # The same candidate again changes nothing.
    device.load_merge_candidate(config=CANDIDATE)
    assert device.compare_config() == ""


def test_the_timer_fires(lab: Path, device: Any) -> None:
    before = running(lab)
    device.load_merge_candidate(config=CANDIDATE)
    device.commit_config(revert_in=60)
    assert running(lab) != before
    deadline = time.monotonic() + 60
    while "service-policy" in running(lab) and time.monotonic() < deadline:
        time.sleep(0.1)
    # NAPALM itself has put "file prompt quiet" there before it armed the timer.
    assert running(lab).replace("file prompt quiet\n!\n", "") == before.replace("file prompt quiet\n!\n", "")
    assert not device.has_pending_commit()


def test_rollback_of_a_pending_commit(lab: Path, device: Any) -> None:
    device.load_merge_candidate(config=CANDIDATE)
    device.commit_config(revert_in=7200)
    device.rollback()
    assert "service-policy" not in running(lab)


def test_a_refused_line_raises(lab: Path, device: Any) -> None:
    device.load_merge_candidate(config="interface Serial0/0\n frobnicate 1\n")
    with pytest.raises(Exception, match="merge failed"):
        device.commit_config(revert_in=7200)
    assert "service-policy" not in running(lab)


def test_replace(lab: Path, device: Any) -> None:
    wanted = running(lab).replace("bandwidth 2000", "bandwidth 1000")
    device.load_replace_candidate(config=wanted)
    assert device.compare_config() == "interface Serial0/0\n +bandwidth 1000\n -bandwidth 2000"
    device.commit_config(revert_in=7200)
    assert " bandwidth 1000" in running(lab)
    device.rollback()
    assert " bandwidth 2000" in running(lab)


def test_facts_and_liveness(device: Any) -> None:
    facts = device.get_facts()
    assert (facts["hostname"], facts["model"], facts["serial_number"]) == ("R1", "2651XM", "LABR1")
    assert "Serial0/0" in facts["interface_list"]
    assert device.is_alive() == {"is_alive": True}


def test_inline_transfer(lab: Path) -> None:
    address = control.overlay(lab).boxes["r1"]
    driver = get_network_driver("ios")(
        "127.0.0.1",
        "admin",
        "lab-pass",
        optional_args={"port": address.port, "secret": "lab-secret", "inline_transfer": True},
    )
    driver.open()
    driver.load_merge_candidate(config="interface Serial0/0\n description typed through Tcl\n")
    assert driver.compare_config() == "+interface Serial0/0\n+ description typed through Tcl"
    driver.close()
