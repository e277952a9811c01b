"""The twin beside a Linux kernel: the plan of packets, and both on one of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from qosforge.experiments import load_experiment
from qosforge.experiments.testbeds.kernel_router import cases, commands, distribution, ks_distance, planned_packets


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
def test_kernel_and_twin_agree_on_strict_priority() -> None:
    short = {"10mbps": {"rate_kbps": 10_000, "seconds": 0.8}}
    (case,) = cases(load_experiment("kernel-strict").model_copy(update={"scenarios": short}))
    assert set(case.curves["voice"]) == {"kernel", "twin"}
    voice, data = case.values["voice"], case.values["data"]
    assert voice["kernel_loss_ratio"] == voice["twin_loss_ratio"] == 0
    assert data["kernel_loss_ratio"] > 0.1
    assert data["loss_change"] == pytest.approx(0, abs=0.05)
    for values in case.values.values():
        assert values["mean_ratio"] == pytest.approx(1, rel=0.05)
        assert values["share_ratio"] == pytest.approx(1, rel=0.02)
