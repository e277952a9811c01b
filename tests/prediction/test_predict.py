"""Predictions from compiled plans: deterministic, bounded in time, refused where nothing would be pushed."""

from __future__ import annotations

from pathlib import Path

import pytest

from qosforge import errors
from qosforge.compiler.compile import Compilation, compile_intent
from qosforge.intent.loader import load_intent, parse_intent
from qosforge.inventory.loader import load_network
from qosforge.inventory.models import Network
from qosforge.prediction.predict import Prediction, predict
from qosforge.prediction.projected_state import project_state
from qosforge.prediction.record import SimulatedTime
from qosforge.resources import root
from qosforge.tester.measurement.pooling import class_summary

PRIORITY = "treatment: {priority: {rate: 400 kb/s}}"
POLICY = f"""\
version: 1
intent: remote-control
classes:
  - name: robin
    match: {{any: [{{destination: 192.190.218.1/32}}]}}
    {PRIORITY}
    objective: {{delay: {{p95: 200 ms}}, loss: 1 %}}
  - name: default
    treatment: {{bandwidth: {{remaining_percent: 50}}}}
apply: [{{role: edge, interfaces: wan, direction: output}}]
verify: [{{from: infn, to: vme, classes: [robin], beside: [default], seconds: 10}}]
"""


@pytest.fixture(scope="module")
def routers() -> Network:
    return load_network(root() / "inventories" / "infn-fnal")


def compiled(network: Network, text: str = POLICY) -> Compilation:
    return compile_intent(parse_intent(text, "remote-control.yaml"), network)


def shipped(policy: str, network: str) -> Compilation:
    path: Path = root() / "policies" / policy
    return compile_intent(load_intent(path), load_network(root() / "inventories" / network))


def p99_ms(prediction: Prediction) -> float:
    summary = class_summary(prediction.measurement, "one-way", "robin")
    p99 = summary.quantiles_ps["p99"]
    return float("inf") if p99 is None else p99 / 1e9


def test_a_prediction_says_that_it_is_one(routers: Network) -> None:
    found = predict(compiled(routers))
    assert (found.measurement.when, found.measurement.evidence) == ("predicted", "predicted")
    assert [(v.traffic_class, v.path, v.verdict.evidence) for v in found.verdicts] == [
        ("robin", "infn→vme", "predicted")
    ]
    assert found.outcome == "met"
    assert found.simulated == (SimulatedTime("one-way", 24, 10),)


@pytest.mark.parametrize("seed", [1, 2, 2**63])
def test_the_seed_alone_makes_the_same_prediction_again(routers: Network, seed: int) -> None:
    first, again = (predict(compiled(routers), seed=seed) for _ in range(2))
    assert first == again
    assert predict(compiled(routers), seed=seed + 1).measurement != first.measurement


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_priority_is_predicted_to_shorten_the_tail_on_a_full_line(routers: Network, seed: int) -> None:
    shared = POLICY.replace(PRIORITY, "treatment: {bandwidth: {remaining_percent: 1}}")
    first, second = (predict(compiled(routers, text), seed=seed) for text in (POLICY, shared))
    assert p99_ms(first) < p99_ms(second)


def test_a_long_verification_is_cut_short_and_says_so(routers: Network) -> None:
    long = compiled(routers, POLICY.replace("seconds: 10", "seconds: 3600"))
    found = predict(long, at_most_seconds=4)
    assert found.simulated == (SimulatedTime("one-way", 24, 3600),)
    sent = class_summary(found.measurement, "one-way", "robin").sent
    whole = predict(compiled(routers, POLICY.replace("seconds: 10", "seconds: 48")), at_most_seconds=None)
    assert sent < class_summary(whole.measurement, "one-way", "robin").sent
    assert whole.simulated == (SimulatedTime("one-way", 48, 48),)


def test_too_few_packets_are_told_as_inconclusive(routers: Network) -> None:
    tight = compiled(routers, POLICY.replace("loss: 1 %", "loss: 0.0001 %"))
    assert predict(tight, at_most_seconds=1).outcome == "inconclusive"


def test_what_is_inconclusive_is_simulated_for_longer_as_far_as_allowed(routers: Network) -> None:
    short = compiled(routers, POLICY.replace("seconds: 10", "seconds: 5").replace("loss: 1 %", "loss: 0.3 %"))
    assert predict(short, at_most_seconds=5).outcome == "inconclusive"
    longer = predict(short)
    assert (longer.outcome, longer.simulated) == ("met", (SimulatedTime("one-way", 48, 5),))


def test_checks_of_one_scenario_are_simulated_as_long_as_the_longest() -> None:
    found = predict(shipped("campus-collaboration.yaml", "campus"), at_most_seconds=2)
    assert found.simulated == (
        SimulatedTime("layer-3", 24, 120),
        SimulatedTime("branches", 24, 180),
        SimulatedTime("layer-2", 24, 120),
    )


def test_boxes_and_interfaces_that_the_policy_leaves_are_as_they_are_or_were_delivered(routers: Network) -> None:
    alone = compiled(routers, POLICY.replace("role: edge", "devices: router1"))
    assert [device.name for device in alone.devices] == ["router1"]
    delivered = project_state(alone, {})
    assert {name: len(plan.interfaces) for name, plan in delivered.items()} == {"router1": 2, "router3": 3}
    typed = "policy-map OURS\n class class-default\ninterface FastEthernet0/0\n service-policy output OURS\n"
    (port,) = project_state(alone, {"router3": typed})["router3"].interfaces
    assert (port.name, port.egress.policy) == ("FastEthernet0/0", "OURS")
    assert predict(alone).outcome == "met"


def test_what_would_be_refused_is_not_predicted() -> None:
    with pytest.raises(errors.RefusedError, match="rfc4594-12 on campus") as refused:
        predict(shipped("rfc4594-12.yaml", "campus"))
    assert {finding.severity for finding in refused.value.findings} == {"error"}


def test_a_policy_that_verifies_nothing_has_nothing_to_predict() -> None:
    with pytest.raises(errors.InputError, match="nothing to predict") as wrong:
        predict(shipped("infn-fnal-pq.yaml", "infn-fnal"))
    assert wrong.value.where.path == "verify"


def test_a_verification_without_traffic_is_an_error(routers: Network) -> None:
    with pytest.raises(errors.TesterError, match="no traffic is described"):
        predict(compiled(routers.model_copy(update={"traffic": ()})))
