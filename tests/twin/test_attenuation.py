"""ΔQ of the twin's packets: what a path takes is told from its load, and hops compose to their path."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from qosforge.deltaq.composition import along
from qosforge.deltaq.distribution import DeltaQ
from qosforge.deltaq.gsv import decompose
from tests.twin.scenarios import MILLISECOND, SECOND, run

RATES = {"a": 10_000_000, "b": 4_000_000}
PROPAGATION = {"a": 1 * MILLISECOND, "b": 2 * MILLISECOND}


def flow(name: str, hops: str, rate: int, size: int) -> dict[str, Any]:
    return {
        "name": name,
        "path": [[hop, "out"] for hop in hops],
        "packet": {"dscp": 0},
        "source": {"kind": "poisson", "rate_bps": rate, "ip_bytes": size},
    }


def two_hops(probes: list[dict[str, Any]], load: float, seconds: int, seed: int) -> dict[str, DeltaQ]:
    """ΔQ of probes over a→b→c, where each link has load of its own; no framing."""
    others = [flow(f"other-{hop}", hop, round(rate * load), 1_000) for hop, rate in RATES.items() if load]
    answer = run(
        {
            "version": 1,
            "duration_ps": seconds * SECOND,
            "nodes": [{"name": node, "ports": [{"name": "out"}, {"name": "in"}]} for node in "abc"],
            "links": [
                {
                    "a": [near, "out"],
                    "b": [far, "in"],
                    "rate_bps": RATES[near],
                    "delay_ps": PROPAGATION[near],
                    "framing": "none",
                }
                for near, far in ("ab", "bc")
            ],
            "flows": [*probes, *others],
        },
        seed,
    )
    return {each["name"]: DeltaQ.from_histogram(each["histogram"], each["lost"]) for each in answer["flows"]}


def test_distance_and_rates_are_read_off_the_delays_of_three_sizes() -> None:
    sizes = (100, 700, 1_400)
    seen = two_hops([flow(str(size), "ab", 8 * size * 50, size) for size in sizes], load=0.4, seconds=60, seed=3)
    split = decompose({size: seen[str(size)] for size in sizes})
    # 8/10 + 8/4 µs a byte, and 3 ms of propagation; the histogram's buckets are 0.1 % wide.
    assert float(split.s_ps_per_byte) == pytest.approx(2_800_000, rel=0.01)
    assert float(split.g_ps) == pytest.approx(3 * MILLISECOND, rel=0.005)
    assert split.rate_bps == pytest.approx(1 / (1 / 10e6 + 1 / 4e6), rel=0.01)
    # All that is left is waiting.
    assert split.variable[700].mean_delivered_ps() > 1 * MILLISECOND


def test_hops_measured_apart_compose_to_their_path() -> None:
    probe = 8 * 200 * 100
    apart = [
        two_hops([flow("probe", hop, probe, 200)], load=0.6, seconds=120, seed=seed)["probe"]
        for hop, seed in (("a", 5), ("b", 6))
    ]
    whole = two_hops([flow("probe", "ab", probe, 200)], load=0.6, seconds=120, seed=7)["probe"]
    composed = along(apart)
    assert composed.late_ps < MILLISECOND / 100
    assert composed.deltaq.mean_delivered_ps() == pytest.approx(whole.mean_delivered_ps(), rel=0.02)
    deadlines = np.linspace(3, 20, 60) * MILLISECOND
    apart_by = np.abs(composed.deltaq.cdf_at(deadlines.astype(np.int64)) - whole.cdf_at(deadlines.astype(np.int64)))
    # Two runs of the path itself differ by 0.007.
    assert float(apart_by.max()) < 0.02
