"""A plan by Open Traffic Generator: what is asked, what is answered, and what can be said of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from qosforge import errors
from qosforge.tester.measurement.judging import verdicts
from qosforge.tester.measurement.pooling import summarise
from qosforge.tester.measurement_plan import MeasurementPlan
from qosforge.tester.otg.tester import OtgTester
from qosforge.tester.plugins import measure_packets
from tests.tester.probes.two_sites import FILES, VOICE, Described, intent, network

from .controller import Controller, controlling

FLOOD: Described = {
    "name": "flood", "from": "h1", "to": "h2", "dst_port": 9000, "src_port": 30000, "dscp": 10,
    "source": {"kind": "cbr", "rate": "2 Mb/s", "ip_bytes": 1000},
}  # fmt: skip
PERMITTED = {"allowed": True, "percent_of_link": 100}


def probes(url: str, version: int = 4, **permission: Any) -> Described:
    gateways = {4: ("10.9.1.254", "10.9.2.254"), 6: ("fd09:1::fe", "fd09:2::fe")}[version]
    ports = [
        {"station": name, "location": f"eth{number}", "gateway": gateway, "prefix": 24 if version == 4 else 64}
        for number, (name, gateway) in enumerate(zip(("h1", "h2"), gateways, strict=True))
    ]
    return {"otg": {"controller": url, "ports": ports}, "permission": PERMITTED | permission}


def measured(folder: Path, controller: Controller, *flows: Described, seconds: int = 20, **more: Any) -> Any:
    loaded = intent(folder, seconds)
    net = network(folder, list(flows), probes(controller.url, more.pop("version", 4)), line="10 Mb/s", **more)
    plan = MeasurementPlan.of(loaded.intent, net)
    found = OtgTester(look_seconds=0.01, waited_seconds=0.05).measure(plan, "before")
    assert found.scenarios[0].waited_seconds == 0.05
    return found, verdicts(loaded.intent, net, found)


def test_flows_are_asked_for_as_they_are_described(tmp_path: Path) -> None:
    with controlling(10e6) as controller:
        measured(tmp_path, controller, VOICE, FLOOD)
    voice, flood = list(controller.config.flows)
    assert [port.location for port in controller.config.ports] == ["eth0", "eth1"]
    addresses = [d.ethernets[0].ipv4_addresses[0] for d in controller.config.devices]
    assert [(a.address, a.gateway, a.prefix) for a in addresses] == [
        ("10.9.1.1", "10.9.1.254", 24),
        ("10.9.2.1", "10.9.2.254", 24),
    ]
    assert voice.tx_rx.device.tx_names == ["h1 address"]
    assert (voice.rate.pps, voice.size.fixed, voice.duration.fixed_seconds.seconds) == (50, 218, 20)
    assert voice.packet[1].priority.dscp.phb.value == 46
    assert (voice.packet[2].src_port.value, voice.packet[2].dst_port.value) == (20000, 16384)
    assert (flood.rate.pps, flood.packet[1].priority.dscp.phb.value) == (250, 10)
    assert controller.states == ["protocol start", "traffic start", "traffic stop"]
    assert controller.looks >= 2  # it was still sending at the first


def test_flows_of_ipv6(tmp_path: Path) -> None:
    with controlling(10e6) as controller:
        measured(tmp_path, controller, VOICE, version=6, addresses=("fd09:1::1", "fd09:2::1"))
    (voice,) = controller.config.flows
    assert voice.packet[1].traffic_class.value == 46 << 2
    assert voice.packet[1].dst.value == "fd09:2::1"


def test_counts_and_figures_are_those_of_the_generator(tmp_path: Path) -> None:
    with controlling(1e6) as controller:
        found, _ = measured(tmp_path, controller, VOICE, FLOOD)
    voice, flood = found.scenarios[0].flows
    assert (found.evidence, found.tester, found.clock_error_ps) == ("measured", "otg", None)
    assert (voice.sent, voice.lost, voice.samples) == (1000, 0, ())
    assert flood.sent == 5000
    # What voice leaves of 1 Mb/s, by the bytes of Ethernet.
    assert flood.delivered / flood.sent == pytest.approx((1e6 - 50 * 218 * 8) / (250 * 1018 * 8), abs=1e-3)
    assert voice.min_delay_ps == round(218 * 8 / 1e6 * 1e12)
    assert summarise(found.scenarios[0].flows[1:]).sd_delay_ps is None  # nobody knows it
    assert flood.max_delay_ps > flood.mean_delay_ps > flood.min_delay_ps


def test_the_verdict_allows_for_all_delays_that_have_these_figures(tmp_path: Path) -> None:
    """Voice waits for a frame at most: 14 ms at 1 Mb/s, within its 20; at 400 kb/s 35 ms, and how many do?"""
    with controlling(1e6) as controller:
        _, (within,) = measured(tmp_path, controller, VOICE, FLOOD, seconds=1200)
    with controlling(400e3) as controller:
        _, (unknown,) = measured(tmp_path, controller, VOICE, FLOOD, seconds=1200)
    p95, loss = within.verdict.bounds
    assert (p95.outcome, loss.outcome, within.verdict.outcome) == ("met", "met", "met")
    assert any("delay of each packet" in what for what in within.verdict.lacking)
    assert unknown.verdict.bounds[0].outcome == "inconclusive"
    assert unknown.verdict.bounds[0].observed.number() is None
    assert unknown.verdict.bounds[1].outcome == "met"


@pytest.mark.parametrize(
    "flow", [FILES, {**VOICE, "source": {"kind": "poisson", "rate": "80 kb/s", "ip_bytes": 200}}]
)
def test_what_it_cannot_send_is_refused_before_anything_is(tmp_path: Path, flow: Described) -> None:
    with controlling(10e6) as controller, pytest.raises(errors.TesterError, match="Open Traffic Generator has no"):
        measured(tmp_path, controller, flow)
    assert controller.states == []


def test_what_the_generator_refuses_is_told(tmp_path: Path) -> None:
    with controlling(10e6, refuses="port eth0 is taken") as controller, pytest.raises(errors.TesterError) as told:
        measured(tmp_path, controller, VOICE)
    assert "port eth0 is taken" in str(told.value)
    with pytest.raises(errors.TesterError, match="does not take what it is asked"):
        measured(tmp_path, controller, VOICE)  # nobody is there any more


def test_it_takes_permission_and_a_port_for_each_station(tmp_path: Path) -> None:
    with controlling(10e6) as controller:
        described = probes(controller.url, allowed=False)
        plan = MeasurementPlan.of(intent(tmp_path).intent, network(tmp_path, [VOICE], described))
        with pytest.raises(errors.InputError, match="nobody permitted probes"):
            measure_packets("otg", plan, "before")
        described["otg"]["ports"].pop()
        plan = MeasurementPlan.of(intent(tmp_path).intent, network(tmp_path, [VOICE], described))
        with pytest.raises(errors.InputError, match="in the place of h2"):
            measure_packets("otg", plan, "before")
    plan = MeasurementPlan.of(intent(tmp_path).intent, network(tmp_path, [VOICE], {"permission": PERMITTED}))
    with pytest.raises(errors.InputError, match="no traffic generator is named"):
        measure_packets("otg", plan, "before")
    assert controller.config is None
