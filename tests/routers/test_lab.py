"""Linux routers of a lab: packets pass them, and nothing is left of them however the lab ends."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from qosforge.emulation import with_lab_stations
from qosforge.inventory.models import Network
from qosforge.inventory.probes import AbortBounds, ProbePermission, Probes
from qoslab import control
from qoslab.control import Overlay
from qoslab.errors import ChannelError
from tests.patience import PATIENCE

pytestmark = [pytest.mark.namespaces, pytest.mark.needs("namespaces"), pytest.mark.needs("ssh-server")]


def processes(state: Path) -> dict[str, int]:
    answer = control.status(state)
    assert answer is not None
    routers, stations = answer["routers"], answer["stations"]
    assert isinstance(routers, dict)
    assert isinstance(stations, dict)
    return {name: entry["process"] for name, entry in routers.items()} | stations


def inside(process: int, *words: str) -> str:
    command = ["nsenter", "--target", str(process), "--net", "--", *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def ping(process: int, address: str) -> None:
    """Send a datagram there and back: the far end refuses it, which is an answer."""
    probe = (
        "import socket, sys\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\ns.settimeout(5)\n"
        f"s.connect(({address!r}, 9))\ns.send(b'x')\n"
        "try:\n    s.recv(1)\nexcept ConnectionRefusedError:\n    print('answered')\n"
    )
    assert inside(process, "python3", "-c", probe).strip() == "answered"


def test_stations_reach_each_other_over_both_routers_and_the_line_has_its_rate(lab: Overlay, state: Path) -> None:
    held = processes(state)
    assert set(held) == {"r1", "r2", "a", "b"}
    ping(held["a"], "198.51.100.2")
    ping(held["b"], "198.51.100.1")
    with pytest.raises(ChannelError, match="a kernel of its own"):
        control.request(state, {"op": "running", "box": "r1"})


def test_its_stations_send_probes_and_processors_of_this_machine_stop_none(lab: Overlay, state: Path) -> None:
    def busiest(abort: AbortBounds) -> float | None:
        permission = ProbePermission(abort=abort)
        bare = Network(name="two", devices=(), links=(), stations=(), probes=Probes(permission=permission))
        stored = Network.model_validate_json(bare.model_dump_json(by_alias=True))  # as in a run
        probes = with_lab_stations(stored, state).probes
        assert {host.station for host in probes.hosts} == {"a", "b"}
        assert probes.permission.abort.look_seconds == abort.look_seconds
        return probes.permission.abort.cpu_percent

    assert busiest(AbortBounds(look_seconds=2)) is None
    assert busiest(AbortBounds(cpu_percent=80, look_seconds=3)) == 80


def test_what_a_router_has_of_its_own_can_be_written_by_its_owner_alone(lab: Overlay, state: Path) -> None:
    router = processes(state)["r1"]
    for folder in ("/etc", "/etc/qosforge"):
        assert (
            inside(router, "nsenter", f"--mount=/proc/{router}/ns/mnt", "stat", "-c", "%a", folder).strip() == "755"
        )


def test_a_killed_lab_leaves_no_process_and_no_namespace(lab: Overlay, state: Path) -> None:
    held = processes(state)
    pid = int((state / "pid").read_text())
    children = [int(c) for c in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    os.kill(pid, signal.SIGKILL)
    end = time.monotonic() + PATIENCE
    gone = [*held.values(), *children]
    while any(_lives(process) for process in gone):
        assert time.monotonic() < end, [process for process in gone if _lives(process)]
        time.sleep(0.05)
    assert control.status(state) is None


def _lives(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] not in {"Z", "X"}
    except OSError:
        return False
