"""Real packets: from host to host through a router, in network namespaces and over OpenSSH."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from qosforge import errors
from qosforge.tester.measurement.judging import verdicts
from qosforge.tester.measurement_plan import MeasurementPlan
from qosforge.tester.plugins import measure_packets
from tests.cli.conftest import Command, qosforge
from tests.sshd import new_key, server, user
from tests.stamp.namespaces import Hosts, inside, two_hosts, why_not

from .two_sites import FILES, FLOOD, VOICE, intent, network, slow_mgen, write

__all__ = ["qosforge"]

ETH_P_IP = 0x0800
missing = why_not()
pytestmark = [
    pytest.mark.needs("probes"),
    pytest.mark.skipif(missing is not None, reason=missing or ""),
]


@pytest.fixture(scope="module")
def hosts() -> Iterator[Hosts]:
    with two_hosts() as made:
        yield made


def in_namespaces(hosts: Hosts, replications: int = 1) -> dict[str, object]:
    names = (("h1", hosts.h1), ("h2", hosts.h2))
    return {
        "hosts": [{"station": station, "namespace": name} for station, name in names],
        "replications": replications,
    }


def shape(hosts: Hosts, rate: str) -> None:
    """The line between the sites: a middle hop, so that the sender is not held up by it."""
    command = f"tc qdisc replace dev p2 root tbf rate {rate} burst 3000 limit 15000"
    hosts.run(hosts.r, *command.split())


def test_what_a_congested_line_does_to_voice_is_measured_and_judged(hosts: Hosts, tmp_path: Path) -> None:
    shape(hosts, "600kbit")
    net, loaded = network(tmp_path, [VOICE, FLOOD], in_namespaces(hosts), line="600 kb/s"), intent(tmp_path, 5)
    measured = measure_packets("probes", MeasurementPlan.of(loaded.intent, net), "before")
    voice, *floods = measured.scenarios[0].flows
    assert (measured.evidence, measured.tester) == ("measured", "probes")
    assert 245 <= voice.sent <= 255  # five seconds of 50 packets
    for flow in (voice, *floods):  # all between the stations of the check
        assert len(flow.samples) == flow.sent
        assert sum(delay == -1 for _, delay in flow.samples) == flow.lost
    assert sum(flow.lost for flow in floods) > 20
    assert voice.max_delay_ps is not None
    assert voice.max_delay_ps > 100_000_000_000  # 15,000 bytes before it at 600 kb/s
    # Of 880 kb/s the line carries 600, with 14 bytes of Ethernet for each packet.
    arrived = sum(flow.throughput_bps for flow in measured.scenarios[0].flows)
    assert 480_000 < arrived < 620_000
    (verdict,) = verdicts(loaded.intent, net, measured)
    # Beside a full machine delays come in a few long turns, which may show too little to be decided.
    assert verdict.verdict.outcome in {"broken", "inconclusive"}
    assert verdict.verdict.evidence == "measured"
    assert verdict.verdict.lacking == ()


def test_each_flow_is_sent_with_its_own_dscp(hosts: Hosts, tmp_path: Path) -> None:
    shape(hosts, "10mbit")
    net, loaded = network(tmp_path, [VOICE, FLOOD], in_namespaces(hosts), line="10 Mb/s"), intent(tmp_path, 1)
    with inside(hosts.r):
        listening = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ETH_P_IP))
    with listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2**22)
        listening.bind(("p1", ETH_P_IP))
        measure_packets("probes", MeasurementPlan.of(loaded.intent, net), "before")
        listening.setblocking(False)
        seen: dict[int, set[int]] = {}
        with suppress(BlockingIOError):
            while True:
                packet = listening.recv(64)
                if packet[9] == socket.IPPROTO_UDP and packet[12:16] == socket.inet_aton("10.9.1.1"):
                    seen.setdefault(int.from_bytes(packet[22:24]), set()).add(packet[1] >> 2)
    assert seen == {16384: {46}, 9000: {0}}


def test_every_start_has_phases_of_its_own_and_the_seconds_are_divided_among_them(
    hosts: Hosts, tmp_path: Path
) -> None:
    shape(hosts, "10mbit")
    net = network(tmp_path, [VOICE], in_namespaces(hosts, replications=2), line="10 Mb/s")
    measured = measure_packets("probes", MeasurementPlan.of(intent(tmp_path, 4).intent, net), "before")
    (scenario,) = measured.scenarios
    assert (scenario.replications, scenario.seconds, scenario.independent) == (2, 2, True)
    assert [flow.replication for flow in scenario.flows] == [0, 1]
    assert all(95 <= flow.sent <= 105 for flow in scenario.flows)
    # Constant flows keep the phase that they begin with: of 20 ms here, in ms.
    first, second = (flow.samples[0][0] / 1e9 % 20 for flow in scenario.flows)
    assert abs(first - second) > 0.1


def test_however_long_a_sender_takes_to_begin_its_last_packets_are_received(
    hosts: Hosts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shape(hosts, "10mbit")
    slow_mgen(tmp_path, 6, monkeypatch)
    net = network(tmp_path, [VOICE], in_namespaces(hosts), line="10 Mb/s")
    measured = measure_packets("probes", MeasurementPlan.of(intent(tmp_path, 1).intent, net), "before")
    (voice,) = measured.scenarios[0].flows
    assert voice.lost == 0
    assert 30 <= voice.sent <= 55  # beside a full machine MGEN stands still at times


def test_packets_that_are_sent_when_a_connection_is_closed_measure_nothing(
    hosts: Hosts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shape(hosts, "10mbit")
    slow_mgen(tmp_path, 6, monkeypatch)
    net = network(tmp_path, [VOICE, FILES], in_namespaces(hosts), line="10 Mb/s")
    message = r"the last host began to send [5-9]\.\d s after flow files was connected, which lasts 3 s longer"
    with pytest.raises(errors.TesterError, match=message):
        measure_packets("probes", MeasurementPlan.of(intent(tmp_path, 1).intent, net), "before")


def test_greedy_tcp_is_sent_beside_and_counted(hosts: Hosts, tmp_path: Path, qosforge: Command) -> None:
    shape(hosts, "4mbit")
    folder = write(tmp_path, [VOICE, FILES], in_namespaces(hosts), line="4 Mb/s")
    intent(tmp_path)
    ended = qosforge("measure", tmp_path / "intent.yaml", "--network", folder, "--tester", "probes", "--json")
    assert "r FastEthernet0/1: as much as it carries" in " ".join(ended.stderr.split())
    document = json.loads(ended.stdout)
    voice, *files = document["measurement"]["scenarios"][0]["flows"]
    assert voice["traffic_class"] == "voice"
    assert len(files) == 2
    assert 2_000_000 < sum(flow["throughput_bps"] for flow in files) < 4_500_000
    assert all(flow["samples"] == [] for flow in files)
    assert document["verdicts"][0]["verdict"]["evidence"] == "measured"


def test_hosts_over_ssh_whose_clocks_are_compared_by_packets(tmp_path: Path) -> None:
    folder = tmp_path / "probes"
    folder.mkdir()
    key = tmp_path / "id"
    with server(tmp_path / "sshd", [new_key(key)], any_command=True) as running:
        (tmp_path / "known").write_text(running.known)
        options = ("-i", str(key), "-o", "IdentitiesOnly=yes", "-o", f"UserKnownHostsFile={tmp_path / 'known'}")
        login = {"ssh": f"{user()}@127.0.0.1", "port": running.port}
        probes = {
            "hosts": [{"station": name, **login} for name in ("h1", "h2")],
            "permission": {"allowed": True},
            "replications": 1,
        }
        loaded = intent(folder, 1)
        net = network(folder, [VOICE], probes, line="10 Mb/s", addresses=("127.0.0.1", "127.0.0.2"))
        measured = measure_packets("probes", MeasurementPlan.of(loaded.intent, net), "after", ssh_options=options)
    (voice,) = measured.scenarios[0].flows
    assert (voice.lost, measured.when) == (0, "after")
    assert 45 <= voice.sent <= 55
    # Half of the quickest round trip on loopback, and how much the difference moved.
    assert measured.clock_error_ps is not None
    assert 1_000_000 < measured.clock_error_ps < 20_000_000_000


def test_a_measurement_that_is_killed_leaves_no_process(hosts: Hosts, tmp_path: Path) -> None:
    folder = write(tmp_path, [VOICE, FILES], in_namespaces(hosts))
    intent(tmp_path, 1)
    command = ["measure", str(tmp_path / "intent.yaml"), "--network", str(folder), "--tester", "probes"]
    begun = [sys.executable, "-c", "from qosforge.cli.entry import main; main()", *command]
    running = subprocess.Popen(begun, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: "mgen" in programs(hosts.h1), 60)
    finally:
        running.kill()
        running.wait()
    wait_until(lambda: not programs(hosts.h1) and not programs(hosts.h2), 60)


def programs(namespace: str) -> list[str]:
    """The programs that run in a namespace."""
    listed = subprocess.run(["ip", "netns", "pids", namespace], capture_output=True, text=True, check=True).stdout
    names = []
    for number in listed.split():
        with suppress(OSError):  # it has just ended
            names.append(Path("/proc", number, "comm").read_text().strip())
    return names


def wait_until(holds: Callable[[], bool], seconds: float) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_tool_that_is_missing_is_named_with_its_package(
    hosts: Hosts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("ip", "sh", "timeout"):
        (programs / name).symlink_to(str(shutil.which(name)))
    monkeypatch.setenv("PATH", str(programs))
    net = network(tmp_path, [VOICE], in_namespaces(hosts))
    with pytest.raises(errors.TesterError) as refused:
        measure_packets("probes", MeasurementPlan.of(intent(tmp_path).intent, net), "before")
    assert "the host of h1: it lacks mgen" in str(refused.value)
    assert "apt-get install --no-install-recommends mgen" in refused.value.hint
