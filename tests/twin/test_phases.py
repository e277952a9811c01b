"""Constant-load senders in step, on their own clocks, and the sizes they send."""

import pytest

from .scenarios import SECOND, egress, flow, flows_of, one_port, refusal, run

GIGABIT = 10**9
MICROSECOND = 10**6
SENDERS = 7
FIXED_LATENCY = 3_700_000
"""Of the switch: with it seven senders in step give the figures published for the aircraft network."""


def switch(frame_bytes, percent, phase, seconds=0.05):
    """Seven gigabit senders into one gigabit output, each at so many percent of line rate."""
    nodes = [{"name": f"s{i}", "ports": [{"name": "nic"}]} for i in range(SENDERS)]
    device = {"name": "box", "latency_ps": FIXED_LATENCY, "ports": [{"name": f"in{i}"} for i in range(SENDERS)]}
    device["ports"].append({"name": "out"})
    link = {"rate_bps": GIGABIT, "framing": "ethernet"}
    links = [link | {"a": [f"s{i}", "nic"], "b": ["box", f"in{i}"]} for i in range(SENDERS)]
    links.append(link | {"a": ["box", "out"], "b": ["r", "nic"]})
    source = {
        "kind": "cbr",
        "frame_bytes": frame_bytes,
        "rate_bps": percent * GIGABIT // 100,
        "rate_layer": "wire",
        "phase": phase,
    }
    flows = [
        {"name": f"f{i}", "path": [[f"s{i}", "nic"], ["box", "out"]], "source": source} for i in range(SENDERS)
    ]
    return {
        "version": 1,
        "delay_reference": "first_bit",
        "duration_ps": round(seconds * SECOND),
        "nodes": [*nodes, device, {"name": "r", "ports": [{"name": "nic"}]}],
        "links": links,
        "flows": flows,
    }


IN_STEP = {"mode": "synchronised", "group": "testers"}


@pytest.mark.parametrize("percent", [2, 8, 14])
@pytest.mark.parametrize(
    ("frame_bytes", "mean", "most", "jitter"),
    [(128, 8.3, 11.8, 2.4), (1518, 52.8, 89.7, 24.6)],
)
def test_seven_senders_in_step_give_the_published_delays(frame_bytes, mean, most, jitter, percent):
    seconds = 40_000 * (frame_bytes + 20) * 8 / GIGABIT / percent * 14
    result = run(switch(frame_bytes, percent, IN_STEP, seconds))
    assert result["delay_reference"] == "first bit to first bit"
    # Preamble and frame in, then the frames of up to six others with their gaps.
    slot, frame = (frame_bytes + 20) * 8_000, (frame_bytes + 8) * 8_000
    for report in result["flows"]:
        delay = report["delay_ps"]
        assert report["lost"] == 0
        assert delay["mean"] / MICROSECOND == pytest.approx(mean, rel=0.02)
        assert delay["max"] / MICROSECOND == pytest.approx(most, rel=0.01)
        assert delay["sd"] / MICROSECOND == pytest.approx(jitter, rel=0.03)
        assert delay["min"] == FIXED_LATENCY + frame
        assert delay["max"] == pytest.approx(FIXED_LATENCY + frame + 6 * slot, abs=6)


def test_random_phases_stay_and_drifting_ones_meet():
    def spread(phase):
        result = run(switch(1518, 10, phase, 0.5) | {"warmup_ps": SECOND // 10})
        return [f["delay_ps"]["max"] - f["delay_ps"]["min"] for f in result["flows"]]

    # Equal clocks: the same wait each time, give or take the picoseconds of a division.
    assert max(spread({"mode": "random"})) < 20
    drifting = spread({"mode": "independent", "ppm_within": 1000})
    assert min(drifting) > 10 * MICROSECOND


def test_a_clock_that_is_fast_sends_more():
    def sent(ppm):
        phase = {"mode": "independent", "ppm": ppm}
        port = egress(1, {"kind": "fifo"})
        result = run(one_port(port, [flow("f", rate_bps=8_000_000, ip_bytes=100, phase=phase)], 10**9))
        return flows_of(result)["f"]["sent"]

    assert sent(0) == 10_000
    assert sent(10_000) == 10_100
    assert sent(-10_000) == 9_900


def test_a_new_member_changes_no_other_flow():
    def arrivals(extra):
        scenario = switch(128, 5, IN_STEP, 0.001)
        other = {"name": "p", "source": {"kind": "poisson", "rate_bps": 10**6, "ip_bytes": 100}, "samples": True}
        scenario["flows"].append(other | {"path": [["s0", "nic"], ["box", "out"]]})
        if not extra:
            scenario["flows"].pop(0)
        return [sent for sent, _ in flows_of(run(scenario))["p"]["samples"]]

    assert arrivals(True) == arrivals(False)


def test_frame_bytes_are_those_of_the_first_link():
    def ip(frame_bytes, framing="ethernet", **link):
        sent = [flow("f", rate_bps=800_000, frame_bytes=frame_bytes)]
        result = run(one_port(egress(1, {"kind": "fifo"}), sent, framing=framing, **link))
        report = flows_of(result)["f"]
        return report["bytes_delivered"] // report["delivered"]

    assert (ip(1518), ip(1522, tagged=True), ip(207, "hdlc")) == (1500, 1500, 200)
    # Padding: the largest packet that fits.
    assert ip(64) == 46


def test_a_rate_counts_its_layer():
    def rates(layer):
        sent = [flow("f", rate_bps=1_000_000, frame_bytes=128, rate_layer=layer)]
        result = run(one_port(egress(1, {"kind": "fifo"}), sent, framing="ethernet", seconds=10))
        return flows_of(result)["f"]["throughput_by_layer_bps"]

    for layer, other, ratio in (
        ("ip", "wire", 148 / 110),
        ("frame", "ip", 110 / 128),
        ("wire", "frame", 128 / 148),
    ):
        found = rates(layer)
        assert found[layer] == pytest.approx(1e6, rel=0.001)
        assert found[other] == pytest.approx(1e6 * ratio, rel=0.001)


def test_a_mix_of_sizes_keeps_its_weights_and_the_rate():
    mix = [[40, 7], [576, 4], [1500, 1]]
    mean = (7 * 40 + 4 * 576 + 1500) / 12
    for kind in ("cbr", "poisson"):
        sent = [flow("f", kind=kind, rate_bps=2_000_000, ip_bytes=mix)]
        report = flows_of(run(one_port(egress(1, {"kind": "fifo"}, 10**6), sent, seconds=100)))["f"]
        assert report["bytes_delivered"] / report["delivered"] == pytest.approx(mean, rel=0.01)
        assert report["throughput_bps"] == pytest.approx(2e6, rel=0.001 if kind == "cbr" else 0.02)


@pytest.mark.parametrize(
    ("source", "path"),
    [
        ({}, "ip_bytes"),
        ({"ip_bytes": 100, "frame_bytes": 100}, "frame_bytes"),
        ({"ip_bytes": "large"}, "ip_bytes"),
        ({"ip_bytes": []}, "ip_bytes"),
        ({"ip_bytes": [[40, 1], [41]]}, "ip_bytes[1]"),
        ({"ip_bytes": [[40, 0]]}, "ip_bytes[0]"),
        ({"ip_bytes": [[40, 1], [7, 1]]}, "ip_bytes[1]"),
        ({"frame_bytes": 63}, "frame_bytes"),
        ({"frame_bytes": [[63, 1]]}, "frame_bytes[0]"),
        ({"frame_bytes": 4_000_000_000}, "frame_bytes"),
        ({"ip_bytes": 100, "rate_layer": "light"}, "rate_layer"),
        ({"ip_bytes": 100, "phase": {"mode": "lunar"}}, "phase.mode"),
        ({"ip_bytes": 100, "phase": {"mode": "random"}, "phase_ps": 1}, "phase_ps"),
        ({"ip_bytes": 100, "phase": {"mode": "independent"}}, "phase"),
        ({"ip_bytes": 100, "phase": {"mode": "independent", "ppm": 1, "ppm_within": 1}}, "phase"),
        ({"ip_bytes": 100, "phase": {"mode": "independent", "ppm": 1e9}}, "phase.ppm"),
        ({"ip_bytes": 100, "phase": {"mode": "independent", "ppm_within": -1}}, "phase"),
        ({"ip_bytes": [[40, 1], [50, 1]], "phase": IN_STEP}, "phase.group"),
        ({"kind": "poisson", "ip_bytes": 100, "phase": IN_STEP}, "phase"),
    ],
)
def test_sizes_and_phases_that_make_no_sense_are_refused(source, path):
    sent = [flow("f", **({"rate_bps": 10**6} | source))]
    error = refusal(one_port(egress(1, {"kind": "fifo"}), sent, framing="ethernet"))
    assert error.path == f"flows[0].source.{path}"


@pytest.mark.parametrize("other", [{"rate_bps": 10**6 + 1}, {"start_ps": 1}])
def test_a_group_has_one_period_and_one_start(other):
    both = {"rate_bps": 10**6, "ip_bytes": 100, "phase": IN_STEP}
    sent = [flow("f", **both), flow("g", **(both | other))]
    error = refusal(one_port(egress(1, {"kind": "fifo"}), sent))
    assert error.path == "flows[1].source.phase.group"
    assert "flows[0]" in error.problem


def test_members_may_have_other_sizes_at_the_same_packet_rate():
    sent = [
        flow("f", rate_bps=10**6, ip_bytes=100, phase=IN_STEP),
        flow("g", rate_bps=3 * 10**6, ip_bytes=300, phase=IN_STEP),
    ]
    reports = flows_of(run(one_port(egress(1, {"kind": "fifo"}), sent)))
    assert reports["f"]["sent"] == reports["g"]["sent"] == 1250
