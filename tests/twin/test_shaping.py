"""Shapers: of a port whatever its scheduler, and of single queues."""

import pytest

from .scenarios import MILLISECOND, SECOND, egress, flow, flows_of, one_port, port_of, run

RATE = 10_000_000
SHAPE = {"rate_bps": 2_000_000, "burst_bytes": 15_000}


@pytest.mark.parametrize(
    "scheduler",
    [
        {"kind": "strict", "order": [0, 1]},
        {"kind": "wfq"},
        {"kind": "cbwfq", "weights": [1, 3]},
        {"kind": "tree", "children": [{"queue": 0}, {"queue": 1, "weight": 3}]},
    ],
)
def test_a_shaped_port_keeps_to_its_rate(scheduler):
    flows = [flow(f"f{i}", i, rate_bps=RATE, ip_bytes=1000, phase_ps=MILLISECOND) for i in range(2)]
    port = {"scheduler": scheduler, "shape": SHAPE}
    if scheduler["kind"] != "wfq":
        port = egress(2, scheduler, shape=SHAPE)
    result = run(one_port(port, flows, rate_bps=RATE, seconds=5) | {"warmup_ps": SECOND})
    total = sum(f["throughput_bps"] for f in result["flows"])
    assert total == pytest.approx(SHAPE["rate_bps"], rel=0.005)


def test_a_burst_passes_and_the_rest_waits():
    flows = [flow("f", rate_bps=RATE, ip_bytes=1000, stop_ps=40 * MILLISECOND)]
    result = run(one_port(egress(1, {"kind": "fifo"}, shape=SHAPE), flows, rate_bps=RATE))
    report = flows_of(result)["f"]
    assert report["delivered"] == 50
    # Bits of the burst and one frame pass at line rate, 402 kb - 120 kb - 8 kb at the shaper's.
    assert report["delay_ps"]["min"] == 8 * MILLISECOND // 10
    last = (50_000 - 15_000) * 8 / SHAPE["rate_bps"] * SECOND - 39.2 * MILLISECOND
    assert report["delay_ps"]["max"] == pytest.approx(last, abs=5 * MILLISECOND)


def test_a_shaped_class_leaves_its_rest_to_the_others_under_load_only():
    def rates(loads):
        flows = [flow(f"f{i}", i, rate_bps=r, ip_bytes=1000, phase_ps=MILLISECOND) for i, r in loads.items()]
        shapes = {"0": {"rate_bps": 1_000_000, "burst_bytes": 3000}}
        port = egress(2, {"kind": "cbwfq", "weights": [3, 1], "shapes": shapes})
        result = run(one_port(port, flows, rate_bps=RATE, seconds=5) | {"warmup_ps": SECOND})
        assert port_of(result)["utilisation"] <= 1
        return [f["throughput_bps"] for f in result["flows"]]

    assert rates({0: RATE, 1: RATE}) == pytest.approx([1_000_000, 9_000_000], rel=0.005)
    assert rates({0: RATE}) == pytest.approx([1_000_000], rel=0.005)
