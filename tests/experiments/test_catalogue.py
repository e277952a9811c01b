"""All experiments together: their data load, every claim is there, and each names what can be read."""

from __future__ import annotations

from collections import Counter

import pytest

from qosforge.errors import InputError
from qosforge.experiments import experiment_labels, experiment_names, load_experiment
from qosforge.experiments.model import Ascending, Operand, OperandRatio
from qosforge.experiments.testbeds import find_testbed

CLAIMS = {
    "cern-strict-priority": 32,
    "cern-wrr": 21,
    "cern-wrr-mixed": 21,
    "cern-comparison": 139,
    "aircraft-best-effort": 75,
    "aircraft-platinum": 64,
    "aircraft-mixed": 30,
    "infn-baseline": 9,
    "infn-udp": 8,
    "infn-tcp": 15,
    "infn-two-way": 6,
    "infn-pq-wfq": 16,
    "infn-production": 12,
    "torino-table1": 24,
    "torino-link-sharing": 128,
    "torino-delay": 93,
    "torino-cost": 16,
    "itesm-layer2": 9,
    "itesm-layer3": 43,
    "itesm-link-efficiency": 21,
    "kernel-fifo": 30,
    "kernel-bfifo": 30,
    "kernel-strict": 32,
    "kernel-drr": 30,
    "kernel-ets": 30,
    "kernel-red": 30,
    "kernel-gred": 30,
    "kernel-htb": 30,
    "kernel-hfsc": 35,
    "kernel-tbf": 30,
    "kernel-shares": 70,
}


def test_every_published_claim_is_there() -> None:
    assert {name: len(load_experiment(name).claims) for name in experiment_names()} == CLAIMS
    assert sum(CLAIMS.values()) == 1159


def test_no_two_claims_have_one_name() -> None:
    names = Counter(claim.id for name in experiment_names() for claim in load_experiment(name).claims)
    assert names.most_common(1)[0][1] == 1


@pytest.mark.parametrize("name", sorted(CLAIMS))
def test_an_experiment_has_its_bench_and_its_operands_exist(name: str) -> None:
    experiment = load_experiment(name)
    assert find_testbed(experiment.testbed)
    assert experiment.title
    for claim in experiment.claims:
        value = claim.value
        operands: tuple[Operand, ...] = ()
        if isinstance(value, Ascending):
            operands = value.ascending
        elif isinstance(value, OperandRatio):
            operands = (value.top, value.bottom)
        for operand in (*operands, *([claim.against] if claim.against else [])):
            other = load_experiment(operand.experiment or name)
            assert (operand.scenario or claim.scenario) in other.scenarios, claim.id


def test_what_cannot_be_reproduced_says_why() -> None:
    for name in experiment_names():
        for claim in load_experiment(name).claims:
            assert claim.reproducible or claim.note, claim.id


def test_an_unknown_experiment_is_named_with_those_that_exist() -> None:
    with pytest.raises(InputError, match="no experiment 'cern'") as caught:
        load_experiment("cern")
    assert "cern-wrr" in caught.value.hint


def test_readers_words_are_of_names_that_exist() -> None:
    labels = experiment_labels()
    for name, scenarios in labels.scenarios.items():
        if not name.startswith("aircraft-"):  # three experiments share their words
            assert set(scenarios) <= set(load_experiment(name).scenarios), name
    assert labels.subject("ideal.q0+ideal.q3") == "queue 0 and queue 3 of an ideal switch"
    assert labels.subject("voice+cbq.A") == "voice and class A of CBQ"
    assert labels.scenario("itesm-layer3", "qos") == "with QoS"
    assert labels.scenario("torino-table1", "test1") == "test 1"
