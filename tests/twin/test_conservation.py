"""Properties of every run: conservation, determinism, linear growth."""

import copy
import json
import time
from typing import Any

import pytest
import qosforge_twin
from hypothesis import given, settings
from hypothesis import strategies as st

from .scenarios import egress, flow, flows_of, one_port, port_of, run

LLQ = {"queue": 0, "rate_bps": 300_000, "burst_bytes": 3000}
RED = {"default": {"min": 3, "max": 9, "mark_denominator": 2}, "weight_exponent": 2}
CLASSES = [
    {"name": "a", "share": 0.4, "borrow": False},
    {"name": "x", "parent": "a", "share": 0.1, "priority": "high", "queue": 0},
    {"name": "y", "parent": "a", "share": 0.3, "queue": 1},
    {"name": "b", "share": 0.6, "queue": 2},
]
SCHEDULERS = [
    {"kind": "strict", "order": [2, 0, 1]},
    {"kind": "wrr", "weights": [1, 2, 5]},
    {"kind": "drr", "quantum_bytes": [300, 1500, 3000]},
    {"kind": "strict_wrr", "strict": [1], "weights": {"0": 3, "2": 7}, "mode": "packets"},
    {"kind": "strict_wrr", "strict": [0], "weights": [None, 1, 90], "mode": "bytes"},
    {"kind": "srr", "weights": [1, 2, 3]},
    {"kind": "srr", "weights": [1, 2, 3], "strict": 1, "shape": [4, 0, 0]},
    {"kind": "cbwfq", "weights": [1, 2, 3]},
    {"kind": "cbwfq", "priority": [LLQ], "weights": [None, 70, 30]},
    {"kind": "wrr", "weights": [1, 2, 3], "quantum_bytes": 256, "counting": "rounded_up"},
    {"kind": "strict", "order": [{"0": 4, "2": 3}, 1], "leak": {"packets": 2, "out_of": 33}},
    {"kind": "wrr", "weights": [1, 1, 1], "shapes": {"1": {"rate_bps": 200_000, "burst_bytes": 2000}}},
    *({"kind": kind, "classes": CLASSES} for kind in ("cbq", "dcbq", "dcbqe")),
    {"kind": "cbq", "classes": CLASSES, "guideline": "top_level", "ns2_wrr_flaw": True, "efficient": True},
    {"kind": "dcbq", "classes": CLASSES, "timer_hz": 1000, "estimator": {"steady_burst_packets": 3}},
    {
        "kind": "htb",
        "classes": [
            {"name": "root", "rate_bps": 900_000},
            {"name": "a", "parent": "root", "rate_bps": 200_000, "ceil_bps": 900_000, "queue": 0},
            {"name": "b", "parent": "root", "rate_bps": 300_000, "ceil_bps": 600_000, "prio": 1, "queue": 1},
            {"name": "c", "parent": "root", "rate_bps": 400_000, "queue": 2},
        ],
    },
    {
        "kind": "tree",
        "children": [
            {"ceil_bps": 500_000, "children": [{"queue": 0, "priority": 0}, {"queue": 1}]},
            {"weight": 2, "queue": 2},
        ],
    },
]


def checked(result: dict[str, Any]) -> None:
    for report in result["flows"]:
        assert report["sent"] == report["delivered"] + report["lost"]
        assert sum(count for _, count in report["histogram"]) == report["delivered"]
        if report["samples"] is not None:
            assert len(report["samples"]) == report["sent"]
            assert sum(delay == -1 for _, delay in report["samples"]) == report["lost"]
    for port in result["ports"]:
        for queue in port["queues"]:
            dropped = sum(queue[f"dropped_{why}"] for why in ("tail", "red", "police", "pool"))
            assert queue["packets_in"] == queue["packets_out"] + dropped
        entered = sum(queue["packets_in"] for queue in port["queues"])
        assert entered == sum(rule["packets"] for rule in port["rules"]["egress"])
        assert entered == sum(share["packets_in"] for share in port["by_flow"])
        assert 0 <= port["utilisation"] <= 1


sources = st.one_of(
    st.fixed_dictionaries(
        {
            "kind": st.just("cbr"),
            "rate_bps": st.integers(10_000, 2_000_000),
            "ip_bytes": st.integers(40, 1500),
            "phase_ps": st.integers(0, 10**10),
            "jitter_ps": st.integers(0, 10**9),
        }
    ),
    st.fixed_dictionaries(
        {
            "kind": st.just("poisson"),
            "rate_bps": st.integers(10_000, 2_000_000),
            "ip_bytes": st.integers(40, 1500),
        }
    ),
    st.fixed_dictionaries(
        {
            "kind": st.just("onoff"),
            "rate_bps": st.integers(100_000, 2_000_000),
            "ip_bytes": st.integers(40, 1500),
            "on_ps": st.integers(10**8, 10**11),
            "off_ps": st.integers(10**8, 10**11),
        }
    ),
    st.fixed_dictionaries(
        {
            "kind": st.just("video"),
            "frame_rate": st.sampled_from([15, 25, 29.97]),
            "frame_bytes_mean": st.integers(500, 8000),
            "frame_bytes_sd": st.integers(0, 3000),
            "ip_bytes": st.integers(200, 1500),
        }
    ),
)


@settings(derandomize=True, max_examples=80, deadline=None)
@given(
    scheduler=st.sampled_from(SCHEDULERS),
    offered=st.lists(st.tuples(sources, st.integers(0, 3)), min_size=1, max_size=5),
    limit=st.integers(1, 40),
    tx_fifo=st.integers(1, 3),
    red=st.booleans(),
    warmup=st.sampled_from([0, 2 * 10**11]),
)
def test_every_packet_is_delivered_or_lost(*, scheduler, offered, limit, tx_fifo, red, warmup):
    port = egress(3, scheduler, limit, tx_fifo_packets=tx_fifo)
    if red:
        port["queues"][2]["red"] = RED
    sent = [flow(f"f{i}", cos, **source) | {"samples": True} for i, (source, cos) in enumerate(offered)]
    scenario = one_port(port, sent, rate_bps=1_000_000, seconds=0.6, framing="hdlc")
    checked(run(scenario | {"warmup_ps": warmup}))


@settings(derandomize=True, max_examples=30, deadline=None)
@given(
    offered=st.lists(st.tuples(sources, st.integers(0, 63)), min_size=1, max_size=6),
    threshold=st.integers(1, 64),
    fragment=st.sampled_from([None, 80, 256]),
)
def test_fair_queueing_conserves_too(offered, threshold, fragment):
    scheduler = {"kind": "wfq", "congestive_discard_threshold": threshold, "hold_queue": 50}
    port = {"scheduler": scheduler, "fragment_bytes": fragment, "interleave": fragment is not None}
    sent = [
        flow(f"f{i}", packet={"dscp": dscp, "src_port": i}, **source) for i, (source, dscp) in enumerate(offered)
    ]
    result = run(one_port(port, sent, rate_bps=500_000, seconds=0.5, framing="mlppp"))
    checked(result)
    assert port_of(result)["queues"][0]["max_depth"] <= min(threshold, 50)


def mixed() -> dict[str, Any]:
    port = egress(3, SCHEDULERS[-1], 20)
    port["queues"][2]["red"] = RED
    sent = [
        flow("a", 0, rate_bps=400_000, ip_bytes=200, phase_ps=10**10, jitter_ps=10**9),
        flow("b", 1, kind="poisson", rate_bps=900_000, ip_bytes=700),
        flow("c", 2, kind="onoff", rate_bps=2_000_000, ip_bytes=1500, on_ps=10**10, off_ps=10**10),
    ]
    return one_port(port, sent, rate_bps=1_000_000)


def test_same_seed_same_bytes_other_seed_other_bytes():
    text = json.dumps(mixed())
    assert qosforge_twin.run(text, 7) == qosforge_twin.run(text, 7)
    assert flows_of(run(mixed(), 7))["b"]["sent"] != flows_of(run(mixed(), 8))["b"]["sent"]


def test_a_new_flow_leaves_the_other_sources_as_they_were():
    more = copy.deepcopy(mixed())
    more["flows"].insert(0, flow("new", 2, kind="poisson", rate_bps=500_000, ip_bytes=300))
    before, after = flows_of(run(mixed())), flows_of(run(more))
    assert [before[n]["sent"] for n in "abc"] == [after[n]["sent"] for n in "abc"]


def test_cost_grows_linearly():
    def cost(seconds: float) -> float:
        scenario = mixed() | {"duration_ps": round(seconds * 10**12)}
        best = float("inf")
        for _ in range(3):
            start = time.process_time()
            run(scenario)
            best = min(best, time.process_time() - start)
        return best

    assert cost(2400) < 8 * 3 * cost(300)


def test_the_published_strict_priority_vector():
    # 8 × 600 Mb/s of 1518-byte frames into 1 Gb/s; three other simulators agree on the counts.
    port = egress(4, {"kind": "strict", "order": [0, 1, 2, 3]}, 100)
    sent = [
        flow(f"s{i}", i % 4, rate_bps=600_000_000, ip_bytes=1518, start_ps=i * 2_530_000) | {"samples": True}
        for i in range(8)
    ]
    result = run(one_port(port, sent, rate_bps=10**9))
    reports = flows_of(result)
    assert sum(r["sent"] for r in reports.values()) == 395_257
    assert port_of(result)["busy_ps"] // 12_144_000 == 82_345
    assert reports["s0"]["lost"] + reports["s4"]["lost"] == 16_370
    delays = [d for n in ("s0", "s4") for at, d in reports[n]["samples"] if d >= 0 and at + d <= 10**12]
    assert len(delays) == 82_345
    # Arrivals and departures meet at the same picosecond here; their order moves the mean by 0.2 %.
    assert sum(delays) / len(delays) == pytest.approx(1217e6, rel=1e-3)


def test_without_draining_what_is_under_way_is_unfinished():
    document = one_port(egress(1, {"kind": "fifo"}), [flow("a", rate_bps=20_000_000, ip_bytes=1000)])
    drained = run(document)["flows"][0]
    cut = run({**document, "drain": False})["flows"][0]
    assert drained["unfinished"] == 0
    # A full queue, and the one in transmission.
    assert 100 <= cut["unfinished"] <= 101
    assert cut["sent"] == cut["delivered"] + cut["lost"] + cut["unfinished"] == drained["sent"]
    assert cut["lost"] == drained["lost"]
    assert cut["offered_by_layer_bps"]["ip"] == pytest.approx(20_000_000, rel=0.01)
