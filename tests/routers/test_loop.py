"""The whole loop on Linux routers: a policy is pushed over OpenSSH, judged by real packets, and kept or undone."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from qosforge.resources import root
from qosforge.tester.measurement.document import Measurement
from qosforge.tester.measurement.pooling import class_summary
from tests.cli.conftest import Command, qosforge

__all__ = ["qosforge"]

pytestmark = [
    pytest.mark.namespaces,
    pytest.mark.needs("namespaces"),
    pytest.mark.needs("ssh-server"),
    pytest.mark.needs("probes"),
]

EXAMPLE = root() / "examples" / "packets"
NETWORK = EXAMPLE / "network"


CONTROL = """\
version: 1
intent: control-and-rest
classes:
  - name: control
    match: {any: [{dscp: [cs6]}]}
    treatment: {bandwidth: {percent: 10}}
  - name: voice
    match: {any: [{dscp: [ef]}]}
    treatment: {priority: {percent: 40, burst: 1600 B}}
    objective: {loss: 5 %, episode_packets: 20}
  - name: default
apply:
  - {interfaces: wan, direction: output}
verify:
  - {from: phone, to: exchange, classes: [voice], seconds: 5}
"""
ROUTING = """\
      - {name: routing, from: phone, to: exchange, dscp: 48, dst_port: 179,
         source: {kind: poisson, rate: 8 Mb/s, ip_bytes: 1400}}
"""


@pytest.fixture
def flooded(tmp_path: Path) -> Path:
    """The example's network, where more of network control is sent than the line carries, and a policy for it."""
    folder = Path(shutil.copytree(NETWORK, tmp_path / NETWORK.name))
    with (folder / "traffic.yaml").open("a", encoding="utf-8") as traffic:
        traffic.write(ROUTING)
    (folder / "probes.yaml").write_text("permission: {abort: {look_seconds: 1}}\n", encoding="utf-8")
    (folder / "control.yaml").write_text(CONTROL, encoding="utf-8")
    return folder


def test_a_policy_is_kept_by_what_packets_saw_and_one_that_starves_calls_is_taken_back(
    qosforge: Command, flooded: Path
) -> None:
    assert qosforge("lab", "up", "-n", NETWORK).code == 0
    try:
        kept = qosforge("run", EXAMPLE / "voice.yaml", "-n", NETWORK, "--tester", "probes", "--json")
        assert kept.code == 0, kept.stdout
        run = json.loads(kept.stdout)
        assert (run["status"], run["after"]) == ("kept", "met"), kept.stdout
        # Beside a full machine losses come in a few long turns, which may show too little to be decided.
        assert run["before"] in {"broken", "inconclusive"}
        (judged,) = run["verdicts"]["after"]
        assert judged["verdict"]["evidence"] == "measured"
        shown = json.loads(qosforge("show", run["run"], "--json").stdout)
        sides = [Measurement.parse_stored(json.dumps(shown[side])) for side in ("before", "after")]
        before, after = (class_summary(side, "busy", "voice") for side in sides)
        # The median: a fourth never arrived before, so that p95 and p99 lay at infinity, and after it these are
        # what the machine's other work makes of them.
        assert before.quantiles_ps["p95"] is None
        medians = [side.quantiles_ps["p50"] for side in (before, after)]
        assert None not in medians
        assert medians[0] > 5 * medians[1]
        audited = qosforge("audit", "-n", NETWORK)
        assert "voice first" in audited.stdout
        starved = qosforge("run", EXAMPLE / "starved.yaml", "-n", NETWORK, "--tester", "probes", "--json")
        assert starved.code == 1
        run = json.loads(starved.stdout)
        assert run["status"] == "rolled_back"
        assert run["after"] in {"broken", "inconclusive"}
        (bound,) = run["verdicts"]["after"][0]["verdict"]["bounds"]
        assert bound["observed"]["value"] > 3 * bound["requested"]
        # Its class has 20 % of the line's 10 Mb/s, in frames of 14 bytes more than their 1000 of IP.
        (share,) = (each["after"]["observed_bps"] for each in run["accounts"] if each["traffic_class"] == "voice")
        assert share * 1014 / 1000 == pytest.approx(2e6, rel=0.03)
        assert {device["outcome"] for device in run["devices"].values()} == {"undone"}
        stopped = qosforge("run", flooded / "control.yaml", "-n", flooded, "--tester", "probes", "--json")
        run = json.loads(stopped.stdout)
        assert (stopped.code, run["status"], run["after"]) == (3, "rolled_back", None), stopped.stdout
        assert {device["outcome"] for device in run["devices"].values()} == {"undone"}
        (error,) = run["errors"]
        assert "the test was stopped: left lost" in error["message"]
        assert "packets of network control (wan0 output, class control)" in error["message"]
        # What is watched is told before, and what cannot be.
        assert "stops where left loses more than 0 packets of network control" in stopped.stderr
        assert "not watched for the processor, which permission.abort leaves alone: left, right" in stopped.stderr
    finally:
        qosforge("lab", "clean", "-n", NETWORK)
