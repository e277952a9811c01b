"""Flow-based fair queueing inside a class."""

import pytest

from .scenarios import MILLISECOND, SECOND, flow, flows_of, one_port, port_of, run

RATE = 1_000_000


def port(fair, limit=40):
    """Queue 1 is for CoS 1, all else is in the class under test; 1 : 3."""
    queues = [{"name": "default", "limit_packets": limit}, {"name": "other", "limit_packets": 40}]
    if fair:
        queues[0]["fair_queue"] = {}
    rules = [{"match": {"cos": [1]}, "queue": 1}]
    return {"queues": queues, "rules": rules, "scheduler": {"kind": "cbwfq", "weights": [1, 3]}}


def source(name, rate_bps, ip_bytes, cos=0):
    """A flow told apart by its source port."""
    packet = {"src": "10.0.0.1", "dst": "10.0.0.2", "src_port": 1000 + len(name), "dst_port": 80}
    return flow(name, cos, packet, rate_bps=rate_bps, ip_bytes=ip_bytes, phase_ps=MILLISECOND)


FLOWS = [source("greedy", 4_000_000, 1500), source("small", 64_000, 200), source("rest", RATE * 2, 1000, cos=1)]


def result(fair):
    return run(one_port(port(fair), FLOWS, rate_bps=RATE, seconds=10) | {"warmup_ps": SECOND})


def test_a_small_flow_is_not_hurt_by_a_greedy_one_of_its_class():
    fair, fifo = flows_of(result(True)), flows_of(result(False))
    assert fair["small"]["lost"] == 0
    assert fifo["small"]["lost"] > 0.5 * fifo["small"]["sent"]
    assert fair["small"]["delay_ps"]["mean"] < 0.1 * fifo["small"]["delay_ps"]["mean"]
    assert fair["small"]["reordered"] == fair["greedy"]["reordered"] == 0


def test_the_class_gets_what_it_gets_without():
    for fair in (True, False):
        report = result(fair)
        flows = flows_of(report)
        default = flows["greedy"]["throughput_bps"] + flows["small"]["throughput_bps"]
        assert default == pytest.approx(RATE / 4, rel=0.01)
        for queue in port_of(report)["queues"]:
            dropped = queue["dropped_tail"] + queue["dropped_red"] + queue["dropped_police"]
            assert queue["packets_in"] == queue["packets_out"] + dropped
            assert queue["max_depth"] <= 40


def test_equal_flows_share_equally_whatever_their_packets():
    flows = [source("a", RATE, 1500), source("bb", RATE, 300), source("ccc", RATE, 700)]
    report = run(one_port(port(True, 200), flows, rate_bps=RATE, seconds=20) | {"warmup_ps": SECOND})
    rates = [f["throughput_bps"] for f in report["flows"]]
    assert rates == pytest.approx([RATE / 3] * 3, rel=0.02)
