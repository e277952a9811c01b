"""Linux routers of a lab in virtual time: behind OpenSSH, packets pass them, and a killed lab leaves no guest."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from qosforge.emulation import with_lab_stations
from qosforge.inventory.models import Network
from qosforge.inventory.probes import GuestHost
from qosforge.tester.probes.hosts import Host
from qoslab import control
from qoslab.errors import StartError
from qoslab.spec import BoxSpec, NetworkSpec
from tests.patience import PATIENCE
from tests.routers.conftest import network


def ssh(state: Path, box: str, command: str) -> str:
    """What a command on a router says."""
    address = control.overlay(state).boxes[box]
    options = ["-F", "none", "-o", f"UserKnownHostsFile={state / 'known_hosts'}", "-o", "BatchMode=yes"]
    login = ["-i", str(state / box / "login_key"), "-p", str(address.port), f"root@{address.hostname}"]
    return subprocess.run(["ssh", *options, *login, command], capture_output=True, text=True, check=True).stdout


@pytest.mark.needs("virtual-time-network")
def test_a_guest_has_routers_and_stations_behind_openssh_and_ends_with_its_lab(tmp_path: Path) -> None:
    startup, state = tmp_path / "startup.cfg", tmp_path / "lab"
    startup.write_text("tc qdisc add dev wan0 root handle 1: prio\n", encoding="utf-8")
    try:
        control.start(network(startup).model_copy(update={"virtual_time": True}), state)
        # What it began with is there, and each router has files and a network of its own.
        assert "qdisc prio 1:" in ssh(state, "r1", "tc qdisc show dev wan0; echo held > /etc/qosforge/qos.conf")
        assert "held" not in ssh(state, "r2", "nft list tables; cat /etc/qosforge/qos.conf 2>/dev/null || true")

        status = control.status(state)
        assert status is not None
        assert status["stations"] == {}
        known = with_lab_stations(Network(name="two", devices=(), links=(), stations=()), state).probes.hosts
        stations = {each.station: Host(each.station, each) for each in known}
        assert stations["a"].is_local
        stations["a"].require(["mgen", "iperf3", "timeout"])
        assert "3 packets received" in stations["a"].output(["ping", "-c", "3", "-i", "0.1", "198.51.100.2"])

        routers = status["routers"]
        assert isinstance(routers, dict)
        qemu = routers["r1"]["process"]
        assert Path(f"/proc/{qemu}/comm").read_text().startswith("qemu")
        os.kill(int((state / "pid").read_text()), signal.SIGKILL)
        end = time.monotonic() + PATIENCE
        while lives(qemu):
            assert time.monotonic() < end
            time.sleep(0.05)
    finally:
        control.clean(state)


def lives(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] not in {"Z", "X"}
    except OSError:
        return False


def test_virtual_time_takes_a_linux_router(tmp_path: Path) -> None:
    box = BoxSpec(name="sw", platform="catalyst_2950", username="u", password="p")
    with pytest.raises(StartError, match="none of linux_tc"):
        control.start(NetworkSpec(network="one", boxes=[box], virtual_time=True), tmp_path / "lab")


def test_a_station_of_a_guest_is_logged_in_to_with_the_labs_keys_alone() -> None:
    described = GuestHost(station="a", port=4022, key="/state/login_key", known_hosts="/state/known_hosts")
    command = Host("a", described, ("-F", "/mine")).command(["mgen", "a b"])
    assert command[-3:] == ["root@127.0.0.1", "--", "chrt --rr 1 mgen 'a b'"]
    assert "UserKnownHostsFile=/state/known_hosts" in command
    assert "/mine" not in command
    assert "-tt" in Host("a", described).command(["mgen"], terminal=True)
