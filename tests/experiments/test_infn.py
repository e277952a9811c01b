"""The INFN-FNAL experiments: which claims hold, and whether the path behaves as its data say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from qosforge.errors import ServiceError
from qosforge.experiments.catalogue import load_experiment
from qosforge.experiments.compare import ClaimComparison, compare_claims
from qosforge.experiments.model import ClaimKind
from qosforge.experiments.rows import ResultRow
from qosforge.experiments.running import ExperimentSession
from qosforge.experiments.testbeds import find_testbed

NAMES = ("infn-baseline", "infn-udp", "infn-tcp", "infn-two-way", "infn-pq-wfq", "infn-production")
FAILING = {
    # Where less than a third of the line is used, half of the samples do not see twice the delay of a full one.
    "infn-tcp-half-more-than-twice",
    # Irreproducible.
    "infn-pq-all-queues-fed",
    "infn-prod-rtt-min",
    "infn-prod-rtt-mean",
    "infn-prod-rtt-max",
    "infn-prod-ping-loss",
    "infn-prod-utilisation",
    "infn-prod-transactions-no-loss",
    "infn-prod-tail-at-least",
    "infn-prod-tail-at-most",
    "infn-prod-like-half-load",
    "infn-prod-tail-longer-than-pq",
    "infn-prod-less-stable-than-pq",
    "infn-prod-better-than-tcp",
}


@pytest.fixture(scope="session")
def session() -> ExperimentSession:
    return ExperimentSession(1)


@pytest.fixture(scope="session")
def compared(session: ExperimentSession) -> Mapping[str, ClaimComparison]:
    found = [one for name in NAMES for one in compare_claims(session, load_experiment(name))]
    return {one.claim.id: one for one in found}


def row(session: ExperimentSession, experiment: str, scenario: str, subject: str) -> ResultRow:
    (point,) = session.outcome(experiment).at(scenario, subject)
    return point.pooled[subject]


def test_which_claims_do_not_hold(compared: Mapping[str, ClaimComparison]) -> None:
    assert len(compared) == 9 + 8 + 15 + 6 + 16 + 12
    assert {name for name, one in compared.items() if not one.holds} == FAILING


def test_what_does_not_hold_is_explained_and_no_theory_or_order(compared: Mapping[str, ClaimComparison]) -> None:
    for one in compared.values():
        assert one.explained, one.claim.id
        assert one.holds or not one.claim.reproducible or one.claim.kind is ClaimKind.MEASURED


def test_the_policer_takes_small_packets_seldom_and_full_ones_often(session: ExperimentSession) -> None:
    load = row(session, "infn-tcp", "tcp-32", "all-tcp")
    control = row(session, "infn-tcp", "tcp-32", "probe.with-timeouts")
    assert load.loss_ratio is not None
    assert control.loss_ratio is not None
    assert 0 < control.loss_ratio < load.loss_ratio / 5
    # Nobody polices the other direction, and no best-effort queue on the way to FNAL overflows.
    assert row(session, "infn-baseline", "tcp-reverse", "all-tcp").throughput_mbps == pytest.approx(2, rel=0.05)


def test_queues_alone_do_not_make_the_longest_round_trips(session: ExperimentSession) -> None:
    clean = row(session, "infn-tcp", "tcp-32", "probe").delay_us
    every = row(session, "infn-tcp", "tcp-32", "probe.with-timeouts").delay_us
    assert clean is not None
    assert every is not None
    # Forty packets of 32 cells at 2 Mb/s is what a queue holds.
    assert clean["max"] < 124_300 + 12_000 + 41 * 32 * 424 / 2
    assert every["max"] > 1_000_000


def test_streams_carry_what_the_fluid_model_says_less_what_the_carrier_polices(session: ExperimentSession) -> None:
    lost = []
    for scenario in ("udp-500", "udp-1000", "udp-1500"):
        udp = row(session, "infn-udp", scenario, "all-udp")
        assert udp.loss_ratio is not None
        expected = udp.selection.expected["throughput_mbps"] * (1 - udp.loss_ratio)
        assert udp.throughput_mbps == pytest.approx(expected, rel=0.005)
        lost.append(udp.loss_ratio)
    # The more streams meet on the line, the longer its bursts at a rate above the contract.
    assert lost[0] == 0
    assert lost == sorted(lost)


def changed(name: str, **fields: Any) -> Any:
    return load_experiment(name).model_copy(update=fields)


def refused(experiment: Any) -> str:
    with pytest.raises(ServiceError) as error:
        list(find_testbed(experiment.testbed)(experiment))
    return str(error.value)


def test_the_bench_refuses_by_name() -> None:
    assert "scenario idle has noise" in refused(changed("infn-baseline", scenarios={"idle": {"noise": 1}}))
    assert "'moon'" in refused(changed("infn-baseline", setup={"path": "moon"}))
    scenarios = {"s": {"routers": {"router1": "fifo"}}}
    assert "router1: fifo is no device" in refused(changed("infn-pq-wfq", scenarios=scenarios))
    devices = load_experiment("infn-pq-wfq").devices
    wrong = {"pq": {**devices["pq"], "line": "ATM9/0"}}
    assert "no interface ATM9/0" in refused(
        changed("infn-pq-wfq", devices=wrong, scenarios={"s": {"routers": {"router1": "pq"}}})
    )
