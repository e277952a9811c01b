"""The TCP source: it fills a line, backs off, shares, and repairs every loss."""

import pytest

from .scenarios import MILLISECOND, SECOND, flow, flows_of, port_of, queues, run


def dumbbell(senders, *, rate=2_000_000, limit=50, seconds=20, delay_ms=10, extra=(), **tcp):
    """Hosts -> r -> s -> sink, acknowledgements the other way."""
    egress = {"queues": queues(1, limit), "scheduler": {"kind": "fifo"}}
    nodes = [
        {"name": "r", "ports": [{"name": "out", "egress": egress}]},
        {"name": "s", "ports": [{"name": "west"}, {"name": "east"}]},
        {"name": "sink", "ports": [{"name": "eth0"}]},
    ]
    links = [
        {"a": ["r", "out"], "b": ["s", "west"], "rate_bps": rate, "delay_ps": delay_ms * 10**9, "framing": "hdlc"},
        {"a": ["s", "east"], "b": ["sink", "eth0"], "rate_bps": 10**8, "framing": "ethernet"},
    ]
    flows = [f | {"path": [["r", "out"], ["s", "east"]]} for f in extra]
    for i in range(senders):
        host = f"h{i}"
        nodes[0]["ports"].append({"name": host})
        nodes.append({"name": host, "ports": [{"name": "eth0"}]})
        links.append({"a": [host, "eth0"], "b": ["r", host], "rate_bps": 10**8, "framing": "ethernet"})
        sent = flow(f"tcp{i}", packet={"protocol": 6}, kind="tcp", phase_ps=100 * MILLISECOND, **tcp)
        sent["path"] = [[host, "eth0"], ["r", "out"], ["s", "east"]]
        sent["return_path"] = [["sink", "eth0"], ["s", "west"], ["r", host]]
        flows.append(sent)
    return {"version": 1, "duration_ps": seconds * SECOND, "nodes": nodes, "links": links, "flows": flows}


def test_one_connection_fills_the_line_without_loss_when_the_window_fits():
    result = run(dumbbell(1, limit=100) | {"warmup_ps": 2 * SECOND})
    report = flows_of(result)["tcp0"]
    assert report["throughput_bps"] == pytest.approx(2_000_000 * 1500 / 1507, rel=0.001)
    assert (report["lost"], report["tcp"]["retransmits"], report["tcp"]["timeouts"]) == (0, 0, 0)


def test_a_small_window_bounds_the_rate():
    # 4 segments per round trip: no more than window over propagation and serialisation.
    result = run(dumbbell(1, delay_ms=100, receive_window_bytes=4 * 1460, delayed_ack_ps=0))
    rate = flows_of(result)["tcp0"]["throughput_bps"]
    trip = 2 * 0.1 + 1507 * 8 / 2e6
    assert rate == pytest.approx(4 * 1500 * 8 / trip, rel=0.05)


def test_loss_is_repaired_by_fast_retransmission():
    result = run(dumbbell(1, limit=10, seconds=60))
    report = flows_of(result)["tcp0"]
    assert 10 < report["lost"] <= report["tcp"]["retransmits"]
    assert report["tcp"]["timeouts"] <= 3
    assert report["throughput_bps"] > 0.85 * 2_000_000


def test_connections_share():
    reports = flows_of(run(dumbbell(4, seconds=120)))
    rates = [r["throughput_bps"] for r in reports.values()]
    assert sum(rates) > 0.95 * 2_000_000
    assert min(rates) > 0.5 * max(rates)


def test_it_backs_off_before_a_flood():
    flood = flow("flood", rate_bps=3_000_000, ip_bytes=1500)
    reports = flows_of(run(dumbbell(1, extra=[flood])))
    assert reports["tcp0"]["throughput_bps"] < 0.2 * reports["flood"]["throughput_bps"]
    assert reports["tcp0"]["tcp"]["timeouts"] > 0


@pytest.mark.parametrize("limit", [3, 50])
def test_a_transfer_ends_when_every_byte_is_there(limit):
    size = 300_000
    report = flows_of(run(dumbbell(1, limit=limit, seconds=120, bytes=size)))["tcp0"]
    segments = -(-size // 1460)
    assert report["sent"] == segments + report["tcp"]["retransmits"]
    assert report["delivered"] >= segments
    delivered_once = report["bytes_delivered"] - (report["delivered"] - segments) * 1500
    assert delivered_once == pytest.approx(size + 40 * segments, abs=1460)


def test_acknowledgements_are_delayed_to_every_other_segment():
    every = flows_of(run(dumbbell(1, limit=100, delayed_ack_ps=0)))["tcp0"]
    other = flows_of(run(dumbbell(1, limit=100)))["tcp0"]
    assert every["tcp"]["acks_sent"] == pytest.approx(every["delivered"], rel=0.02)
    assert other["tcp"]["acks_sent"] == pytest.approx(other["delivered"] / 2, rel=0.02)


def test_acknowledgements_queue_like_packets():
    result = run(dumbbell(1))
    acks = flows_of(result)["tcp0"]["tcp"]["acks_sent"]
    back = port_of(result, "s", "west")["queues"][0]
    assert back["packets_in"] == acks > 100
    assert back["bytes_out"] == back["packets_out"] * 47
