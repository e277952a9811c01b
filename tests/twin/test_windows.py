"""Figures of the measured window: queues, lines, intervals."""

import pytest

from .scenarios import MILLISECOND, SECOND, egress, flow, flows_of, one_port, port_of, refusal, run

FIFO = {"kind": "fifo"}


def overloaded(port, warm_up=0.0, seconds=2.0, **link):
    sent = [flow(f"f{i}", i, rate_bps=4_000_000, ip_bytes=1000) for i in range(4)]
    scenario = one_port(port, sent, 10_000_000, seconds, **link)
    return run(scenario | {"warmup_ps": round(warm_up * SECOND)})


def test_the_window_leaves_warm_up_and_drain_out():
    port = port_of(overloaded(egress(4, {"kind": "wrr", "weights": [1, 1, 1, 1]}), warm_up=1.0))
    for queue in port["queues"]:
        window = queue["window"]
        # One second: 500 packets offered, an even share of 1250 sent, full all the time.
        assert window["packets_in"] == pytest.approx(500, abs=1)
        assert window["packets_out"] == pytest.approx(312.5, abs=1)
        assert window["bytes_out"] == 1000 * window["packets_out"]
        assert window["packets_in"] == pytest.approx(window["packets_out"] + window["dropped_tail"], abs=1)
        assert queue["packets_out"] > 2 * window["packets_out"]
        assert window["mean_length"] == pytest.approx(100, abs=1)
        # Little's law.
        wait = window["mean_length"] / window["packets_out"] * SECOND
        assert window["wait_ps"]["mean"] == pytest.approx(wait, rel=0.01)
        assert window["wait_ps"]["max"] >= window["wait_ps"]["mean"]


def test_without_warm_up_the_window_is_the_whole_sending_time():
    sent = [flow("f", kind="poisson", rate_bps=4_000_000, ip_bytes=1000)]
    queue = port_of(run(one_port(egress(1, FIFO), sent, seconds=5)))["queues"][0]
    assert queue["packets_in"] == queue["window"]["packets_in"] > 2000
    assert queue["packets_out"] - queue["window"]["packets_out"] in (0, 1)


def test_waits_are_exact():
    """Three packets at once: they wait 0, 1 and 2 services; the length is 2, then 1, then 0."""
    sent = [flow(f"f{i}", rate_bps=8_000, ip_bytes=1000) for i in range(3)]
    port = egress(1, FIFO, wait_histogram=True)
    window = port_of(run(one_port(port, sent, 8_000_000)))["queues"][0]["window"]
    assert window["wait_ps"]["mean"] == MILLISECOND
    assert window["wait_ps"]["max"] == 2 * MILLISECOND
    assert window["mean_length"] == pytest.approx(0.003)
    edges = window["wait_ps"]["histogram"]
    assert [count for _, count in edges] == [1, 1, 1]
    assert [edge for edge, _ in edges] == pytest.approx([0, MILLISECOND, 2 * MILLISECOND], rel=0.001)


def test_fair_queueing_has_the_same_figures():
    sent = [flow(f"f{i}", packet={"src_port": i}, rate_bps=4_000_000, ip_bytes=1000) for i in range(4)]
    scenario = one_port({"scheduler": {"kind": "wfq"}}, sent, seconds=2) | {"warmup_ps": SECOND}
    window = port_of(run(scenario))["queues"][0]["window"]
    assert window["packets_out"] == pytest.approx(1250, abs=1)
    assert window["mean_length"] == pytest.approx(64, abs=2)
    assert window["fairness"]["flows"] == 4
    assert window["fairness"]["jain"] == pytest.approx(1, abs=0.001)
    assert window["fairness"]["spread"] < 0.02


def test_fairness_is_of_the_flows_of_one_queue():
    sent = [
        flow("a", rate_bps=2_000_000, ip_bytes=1000),
        flow("b", rate_bps=1_000_000, ip_bytes=1000),
        flow("other", 1, rate_bps=1_000_000, ip_bytes=1000),
    ]
    port = port_of(run(one_port(egress(2, {"kind": "strict", "order": [0, 1]}), sent, seconds=10)))
    fairness = port["queues"][0]["window"]["fairness"]
    assert fairness["flows"] == 2
    assert fairness["jain"] == pytest.approx(0.9, abs=0.001)
    assert fairness["spread"] == pytest.approx(2 / 3, abs=0.001)
    shares = {s["flow"]: s["window"] for s in port["by_flow"]}
    assert shares["a"]["bytes_out"] == pytest.approx(2 * shares["b"]["bytes_out"], rel=0.001)


@pytest.mark.parametrize("framing", ["none", "ethernet", "hdlc", "mlppp"])
@pytest.mark.parametrize("load", [3_000_000, 12_000_000])
def test_capacity_adds_up(framing, load):
    rest = {"fragment_bytes": 300} if framing == "mlppp" else {}
    sent = [flow("f", kind="poisson", rate_bps=load, ip_bytes=[[40, 3], [1500, 1]])]
    scenario = one_port(egress(1, FIFO, **rest), sent, 10_000_000, 4, framing)
    result = run(scenario | {"warmup_ps": SECOND // 3})
    port, layers = port_of(result), flows_of(result)["f"]["throughput_by_layer_bps"]
    line = port["line"]
    assert line["ip_bps"] + line["framing_bps"] + line["idle_bps"] == pytest.approx(10_000_000)
    # Independent counts: line time used, and what the receiver got.
    assert line["wire_bps"] == pytest.approx(port["utilisation"] * 10_000_000, rel=1e-5)
    for layer, rate in layers.items():
        assert line[f"{layer}_bps"] == pytest.approx(rate, rel=0.001)
    assert (line["idle_bps"] < 1000) == (load > 10_000_000)
    assert (line["framing_bps"] == 0) == (framing == "none")


def test_series_show_who_was_served_when():
    port = egress(2, {"kind": "wrr", "weights": [3, 1]}, series={"every_ps": 10 * MILLISECOND})
    sent = [flow(f"f{i}", i, rate_bps=8_000_000, ip_bytes=1000) for i in range(2)]
    scenario = one_port(port, sent, 8_000_000, 1.005) | {"warmup_ps": 100 * MILLISECOND}
    found = port_of(run(scenario))
    intervals = found["series"]["bytes_out"]
    # 10 packets each 10 ms, of which the half interval at the end is left out.
    assert len(intervals) == 90
    assert all(sum(row) == 10_000 for row in intervals)
    assert all(row[0] in (7_000, 8_000) for row in intervals)
    total = sum(row[0] for row in intervals)
    assert total == pytest.approx(3 * sum(row[1] for row in intervals), rel=0.01)
    whole = sum(queue["window"]["bytes_out"] for queue in found["queues"])
    assert whole - sum(map(sum, intervals)) == pytest.approx(5_000, abs=1_000)


@pytest.mark.parametrize("every", [0, 1])
def test_a_series_is_bounded(every):
    port = egress(1, FIFO, series={"every_ps": every})
    error = refusal(one_port(port, [flow("f", rate_bps=8_000, ip_bytes=100)]))
    assert error.path == "nodes[0].ports[0].egress.series.every_ps"
