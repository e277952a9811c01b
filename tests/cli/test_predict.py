"""``qosforge predict``: verdicts on what no device has yet."""

from __future__ import annotations

import json

from qosforge.resources import root

from .conftest import Command

POLICY = root() / "examples" / "policies" / "remote-control.yaml"
NETWORK = root() / "inventories" / "infn-fnal"


def test_a_prediction_is_printed_as_a_measurement_is(qosforge: Command) -> None:
    ended = qosforge("predict", POLICY, "-n", NETWORK)
    assert ended.code == 0, ended.stderr
    assert "Verdicts (evidence: predicted)" in ended.stdout
    assert ended.stdout.splitlines()[1].split()[:3] == ["class", "traffic", "packets"]
    assert "robin" in ended.stdout
    assert "simulated of" not in ended.stdout
    told = " ".join(ended.stdout.split())
    assert "default has no objective and would lose packets: loss 31.1 % predicted on infn→fnal" in told
    assert "(today: not simulated, router1, router3 were never read)" in told


def test_the_exit_code_is_the_verdict_and_the_document_says_it(qosforge: Command) -> None:
    ended = qosforge("predict", POLICY, "-n", NETWORK, "--set", "p99=10 ms", "--json")
    assert ended.code == 1
    told = json.loads(ended.stdout)
    assert told["outcome"] == "broken"
    (verdict,) = told["verdicts"]
    assert (verdict["traffic_class"], verdict["verdict"]["evidence"]) == ("robin", "predicted")
    short = qosforge("predict", root() / "policies" / "campus-collaboration.yaml", "--at-most", "1")
    assert "layer-3: 24 s simulated of 120 s" in short.stdout


def test_a_policy_that_verifies_nothing_is_wrong_input(qosforge: Command) -> None:
    ended = qosforge("predict", root() / "policies" / "infn-fnal-pq.yaml", "-n", NETWORK)
    assert (ended.code, ended.stdout) == (2, "")
    assert "nothing to predict" in ended.stderr


def test_error_findings_are_reported_and_nothing_is_predicted(qosforge: Command) -> None:
    ended = qosforge("predict", root() / "policies" / "rfc4594-12.yaml", "--json")
    assert ended.code == 1
    told = json.loads(ended.stdout)
    assert {finding["severity"] for finding in told["findings"]} == {"error"}
