"""The twin beside a Linux kernel: the plan of packets, and both on one of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from qosforge.errors import ServiceError
from qosforge.experiments import load_experiment
from qosforge.experiments.model import Experiment
from qosforge.experiments.testbeds.kernel_link_sharing import cases as link_sharing_cases
from qosforge.experiments.testbeds.kernel_link_sharing import commands as link_sharing_commands
from qosforge.experiments.testbeds.kernel_link_sharing import planned_packets as link_sharing_packets
from qosforge.experiments.testbeds.kernel_router import cases, commands, distribution, ks_distance, planned_packets
from qosforge.experiments.testbeds.link_sharing import Simulation, simulations


def setup(name: str, **fields: Any) -> dict[str, Any]:
    return {**load_experiment(name).setup, "rate_kbps": 10_000, "seconds": 4, **fields}


def test_classes_ask_for_their_loads_and_pause_together() -> None:
    made = setup("kernel-drr")
    packets = planned_packets(made, 1)
    asked = [8 * packets.frame_bytes[packets.classes == number].sum() / 4e7 for number in range(3)]
    assert asked == pytest.approx([0.1, 0.6, 0.8], rel=0.1)
    sending_s, period_s = 0.4, 0.6
    within = packets.times_ns / 1e9 % period_s
    assert within.max() <= sending_s + 1e-6
    assert (np.diff(packets.times_ns) >= 0).all()
    again = planned_packets(made, 1)
    assert (packets.times_ns == again.times_ns).all()
    assert (packets.frame_bytes == again.frame_bytes).all()


def test_parts_of_the_rate_stand_in_commands() -> None:
    told = commands(setup("kernel-htb"))
    assert "tc class add dev out parent 1:1 classid 1:11 htb rate 5000000bit ceil 10000000bit" in told[3]
    assert not any("{" in command for command in told)
    assert not any(" htb " in command for command in commands(setup("kernel-tbf")))


def test_the_distance_is_that_of_distributions_with_losses() -> None:
    lost = float("inf")
    sample = np.array([1.0, 2.0, 3.0, lost])
    assert ks_distance(sample, sample[::-1]) == 0.0
    assert ks_distance(np.array([1.0, 2.0]), np.array([3.0, 4.0])) == 1.0
    assert ks_distance(sample, np.array([1.0, 2.0, 3.0, 3.5])) == 0.25
    assert ks_distance(np.array([lost]), np.array([lost])) == 0.0


def test_a_distribution_ends_at_the_part_that_came() -> None:
    lost = float("inf")
    assert distribution(np.array([3000.0, lost, 1000.0, 2000.0])) == ((1.0, 25.0), (2.0, 50.0), (3.0, 75.0))
    assert distribution(np.array([lost])) == ()
    many = distribution(np.arange(1.0, 5001.0))
    assert len(many) == 200
    assert many[-1] == (5.0, 100.0)


@pytest.mark.needs("virtual-time")
@pytest.mark.parametrize("name", ["kernel-strict", "kernel-ets"])
def test_kernel_and_twin_agree_on_priority(name: str) -> None:
    short = {"10mbps": {"rate_kbps": 10_000, "seconds": 0.8}}
    (case,) = cases(load_experiment(name).model_copy(update={"scenarios": short}))
    assert set(case.curves["voice"]) == {"kernel", "twin"}
    voice, data = case.values["voice"], case.values["data"]
    assert voice["kernel_loss_ratio"] == voice["twin_loss_ratio"] == 0
    assert data["kernel_loss_ratio"] > 0.1
    assert data["loss_change"] == pytest.approx(0, abs=0.05)
    for values in case.values.values():
        assert values["mean_ratio"] == pytest.approx(1, rel=0.05)
        assert values["share_ratio"] == pytest.approx(1, rel=0.02)


@pytest.mark.needs("virtual-time")
def test_a_full_line_is_shared_as_asked_and_calls_hardly_wait_on_it() -> None:
    """Shares are those asked for, and not the twin's: within 1 % of 10, 60 and 30 %."""
    experiment = load_experiment("kernel-shares")
    two = {name: experiment.scenarios[name] for name in ("10mbps", "10mbps-one-queue")}
    shared, one_queue = (case.values for case in cases(experiment.model_copy(update={"scenarios": two})))
    for name, share in {"voice": 0.10, "video": 0.60, "data": 0.30}.items():
        assert shared[name]["kernel_share"] == pytest.approx(share, rel=0.01)
    assert shared["voice"]["kernel_loss_ratio"] == 0
    assert one_queue["voice"]["kernel_loss_ratio"] > 0.3
    assert shared["voice"]["kernel_p99_us"] * 10 < one_queue["voice"]["kernel_p99_us"]
    assert shared["voice"]["p99_ratio"] == pytest.approx(1, rel=0.05)


def table_6(row: str, **setup: Any) -> Experiment:
    """One row of the published table on HFSC, for a short time."""
    experiment = load_experiment("kernel-hfsc")
    fields = {"setup": {**experiment.setup, **setup}, "scenarios": {row: {}}}
    return experiment.model_copy(update=fields)


def simulation(row: str) -> Simulation:
    published = load_experiment("torino-link-sharing")
    setup = {**published.setup, **table_6(row).setup}
    (found,) = simulations(published.model_copy(update={"setup": setup}), row, published.scenarios[row])
    return found


def test_a_tree_is_told_to_hfsc_with_limits_and_sooner_first_packets() -> None:
    told = link_sharing_commands(simulation("row9"))
    assert "tc class add dev out parent 10: classid 10:1 hfsc ls rate 600000bit ul rate 600000bit" in told
    first = "hfsc ls rate 200000bit rt umax 1000b dmax 5ms rate 200000bit"
    assert f"tc class add dev out parent 10:1 classid 10:2 {first}" in told
    assert "tc class add dev out parent 10:1 classid 10:3 hfsc ls rate 400000bit rt rate 400000bit" in told
    assert sum(" filter " in line for line in told) == 4


def test_bursts_keep_the_mean_rate() -> None:
    made = simulation("row4")
    packets = link_sharing_packets(made)
    third = packets.times_ns[packets.leaves == 2]
    assert len(third) == pytest.approx(200_000 / 8000 * 25, rel=0.02)
    assert np.sum(np.diff(third) > 600 * 10**6) in (24, 25)
    assert (np.diff(packets.times_ns) >= 0).all()


def test_the_kernel_is_sent_no_source_that_it_cannot_repeat() -> None:
    made = simulation("row1")
    greedy = replace(made, setup={**made.setup, "traffic": {"excess": [{"kind": "tcp"}]}})
    with pytest.raises(ServiceError, match="tcp"):
        link_sharing_packets(greedy)


@pytest.mark.needs("virtual-time")
def test_hfsc_shares_a_line_as_published() -> None:
    fluid, kernel, twin = link_sharing_cases(table_6("row4", seconds=3, warm_up=1))
    for name, asked in (("class1", 200), ("class2", 400), ("class3", 200), ("class4", 1200)):
        assert fluid.values[f"fluid.{name}"]["throughput_kbps"] == pytest.approx(asked)
        assert kernel.values[f"hfsc.{name}"]["throughput_kbps"] == pytest.approx(asked, rel=0.04)
    assert twin.document is not None
    assert [flow.name for flow in twin.document.flows] == ["class1", "class2", "class3", "class4"]
