"""Senders of several hosts, one of which takes long to begin: what is measured is the time in which all send."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from qosforge import errors
from qosforge.inventory.loader import load_network
from qosforge.inventory.models import Network
from qosforge.tester.measurement_plan import MeasurementPlan
from qosforge.tester.plugins import measure_packets
from tests.stamp.namespaces import Hosts, two_hosts, why_not

from .two_sites import FLOOD, VOICE, intent, slow_mgen, write

missing = why_not()
pytestmark = [
    pytest.mark.needs("probes"),
    pytest.mark.skipif(missing is not None, reason=missing or ""),
]

FLOODS = '*"DST 10.9.2.1/9000"*'


@pytest.fixture
def hosts() -> Iterator[Hosts]:
    with two_hosts() as made:
        line = "tc qdisc replace dev p2 root tbf rate 600kbit burst 3000 limit 15000"
        made.run(made.r, *line.split())
        yield made


def three_stations(folder: Path, hosts: Hosts) -> Network:
    """Voice from h1, and a flood from the router itself, both to h2 by the line of 600 kb/s."""
    stations = {"h1": hosts.h1, "h2": hosts.h2, "h3": hosts.r}
    probes = {
        "hosts": [{"station": name, "namespace": namespace} for name, namespace in stations.items()],
        "replications": 1,
    }
    write(folder, [VOICE, {**FLOOD, "from": "h3"}], probes, line="600 kb/s")
    yaml = YAML()
    for name, change in (("hosts.yaml", add_port), ("links.yaml", add_station), ("traffic.yaml", add_pair)):
        document = yaml.load(folder / name)
        change(document)
        yaml.dump(document, folder / name)
    return load_network(folder)


def add_port(hosts: dict) -> None:
    hosts["r"]["data"]["interfaces"]["FastEthernet1/0"] = {"rate": "100 Mb/s"}


def add_station(links: dict) -> None:
    links["stations"].append(
        {"name": "h3", "address": "10.9.2.254", "attach": ["r", "FastEthernet1/0"], "rate": "100 Mb/s"}
    )


def add_pair(traffic: dict) -> None:
    traffic["scenarios"][0]["between"].append(["h3", "h2"])


def test_voice_is_measured_while_the_flood_of_another_host_is_sent(
    hosts: Hosts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow_mgen(tmp_path, 2, monkeypatch, FLOODS)
    plan = MeasurementPlan.of(intent(tmp_path, 2).intent, three_stations(tmp_path, hosts))
    (scenario,) = measure_packets("probes", plan, "before").scenarios
    voice = next(flow for flow in scenario.flows if flow.traffic_class == "voice")
    assert 60 <= voice.sent <= 105  # beside a full machine MGEN stands still at times
    # The flood asks for more than the line has: 15,000 bytes stand before a packet, the burst of 3,000 less.
    delays = [delay / 1e9 for _, delay in voice.samples if delay != -1]
    assert sorted(delays)[len(delays) // 10] > 100  # ms
    floods = [flow.sent for flow in scenario.flows if flow.name.startswith("flood")]
    assert floods == pytest.approx([143, 143], abs=80)


def test_hosts_that_do_not_send_at_the_same_time_measure_nothing(
    hosts: Hosts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow_mgen(tmp_path, 6, monkeypatch, FLOODS)
    plan = MeasurementPlan.of(intent(tmp_path, 1).intent, three_stations(tmp_path, hosts))
    with pytest.raises(errors.TesterError, match=r"the host of h1 began to send 6.* s before the last one"):
        measure_packets("probes", plan, "before")
