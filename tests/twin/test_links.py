"""Time on the line: serialisation, framing, fragments, compression, queueing theory."""

import math
from fractions import Fraction

import pytest

from .scenarios import MILLISECOND, SECOND, egress, flow, flows_of, one_port, port_of, refusal, run

FIFO = {"kind": "fifo"}


def plain(limit=100, **rest):
    return {"queues": [{"name": "q", "limit_packets": limit}], "scheduler": FIFO, **rest}


@pytest.mark.parametrize(
    ("framing", "link", "wire"),
    [
        ("none", {}, 100),
        ("hdlc", {}, 107),
        ("ppp", {}, 107),
        ("mlppp", {}, 111),
        # The gap of 12 bytes comes after the last bit.
        ("ethernet", {}, 138 - 12),
        ("ethernet", {"tagged": True}, 142 - 12),
    ],
)
def test_least_delay_is_serialisation_and_propagation(framing, link, wire):
    sent = [flow("f", rate_bps=10_000, ip_bytes=100)]
    result = run(one_port(plain(), sent, 1_000_000, 2, framing, delay_ps=1_234_567, **link))
    expected = wire * 8 * 10**6 + 1_234_567
    delay = flows_of(result)["f"]["delay_ps"]
    assert (delay["min"], delay["max"], delay["sd"]) == (expected, expected, 0)
    assert delay["mean"] == expected
    assert flows_of(result)["f"]["interarrival_ps"] == {"mean": 80 * MILLISECOND, "sd": 0}


def test_hops_add_up():
    hops = [("a", "x"), ("b", "y"), ("c", "z")]
    nodes = [
        {"name": n, "latency_ps": 5_000, "ports": [{"name": "in"}, {"name": p}]} for n, p in [*hops, ("d", "w")]
    ]
    links = [
        {"a": [n, p], "b": [m, "in"], "rate_bps": rate, "delay_ps": 7, "framing": "hdlc"}
        for (n, p), m, rate in zip(hops, "bcd", (10**6, 10**5, 10**7), strict=True)
    ]
    sent = [flow("f", rate_bps=8_000, ip_bytes=93) | {"path": [list(h) for h in hops]}]
    scenario = {"version": 1, "duration_ps": SECOND, "nodes": nodes, "links": links, "flows": sent}
    delay = flows_of(run(scenario))["f"]["delay_ps"]
    # Sender and destination forward nothing: two latencies.
    expected = 800 * (10**6 + 10**7 + 10**5) + 3 * 7 + 2 * 5_000
    assert (delay["min"], delay["max"]) == (expected, expected)


@pytest.mark.parametrize("load", [0.5, 0.8])
def test_md1_mean_wait(load):
    # Pollaczek–Khinchine for deterministic service: W = ρ / (2 (1 − ρ)) service times.
    service = 1000 * 8 * SECOND // 10**9
    sent = [flow("f", kind="poisson", rate_bps=round(load * 1e9), ip_bytes=1000)]
    result = run(one_port(plain(10**6), sent, 10**9, 25))
    report = flows_of(result)["f"]
    assert report["sent"] > 1_500_000
    wait = report["delay_ps"]["mean"] - service
    assert wait == pytest.approx(load / (2 * (1 - load)) * service, rel=0.02)


VOICE = {"application": "rtp-audio"}


def serial(fragment=None, interleave=False, compression=False, rate=256_000, cross=True):
    """The voice flow's report and the port's, on a slow multilink with 1500-byte packets beside."""
    priority = {"queue": 0, "rate_bps": 100_000, "burst_bytes": 5_000}
    port = egress(
        2,
        {"kind": "cbwfq", "priority": [priority], "weights": [None, 1]},
        fragment_bytes=fragment,
        interleave=interleave,
        header_compression=compression,
    )
    sent = [flow("voice", 0, VOICE, rate_bps=24_000, ip_bytes=60, jitter_ps=10 * MILLISECOND)]
    if cross:
        sent.append(flow("bulk", 1, rate_bps=400_000, ip_bytes=1500))
    result = run(one_port(port, sent, rate_bps=rate, seconds=30, framing="mlppp"))
    return flows_of(result)["voice"], port_of(result)


def on_wire(size, rate=256_000):
    return size * 8 * SECOND // rate


def test_fragments_bound_the_wait_only_with_interleaving():
    whole, _ = serial()
    cut, _ = serial(fragment=512)
    between, _ = serial(fragment=512, interleave=True)
    own = on_wire(60 + 11)
    assert on_wire(1500) < whole["delay_ps"]["max"] <= on_wire(1511) + 2 * own
    # Cut but not interleaved: three headers instead of one.
    assert on_wire(1500) < cut["delay_ps"]["max"] <= on_wire(1500 + 3 * 11) + 2 * own
    assert on_wire(400) < between["delay_ps"]["max"] <= on_wire(512 + 11) + 2 * own
    assert between["lost"] == cut["lost"] == whole["lost"] == 0


def test_fragment_headers_cost_line_time():
    _, whole = serial()
    _, cut = serial(fragment=100)
    bulk = [port["queues"][1] for port in (whole, cut)]
    assert bulk[0]["bytes_out"] == bulk[0]["packets_out"] * 1511
    assert bulk[1]["bytes_out"] == bulk[1]["packets_out"] * (1500 + 15 * 11)


def test_header_compression_takes_36_bytes_off_rtp_alone():
    _, full = serial(cross=False)
    _, small = serial(cross=False, compression=True)
    voice = [port["queues"][0] for port in (full, small)]
    assert voice[0]["bytes_out"] == voice[0]["packets_out"] * 71
    assert voice[1]["bytes_out"] == voice[1]["packets_out"] * 35
    _, beside = serial(compression=True)
    assert beside["queues"][1]["bytes_out"] == beside["queues"][1]["packets_out"] * 1511


def test_wfq_interleaves_small_packets_of_other_conversations():
    def worst(interleave):
        port = {"scheduler": {"kind": "wfq"}, "fragment_bytes": 128, "interleave": interleave}
        sent = [
            flow("voice", packet={"src_port": 1}, rate_bps=8_000, ip_bytes=60, jitter_ps=50 * MILLISECOND),
            flow("bulk", packet={"src_port": 2}, rate_bps=400_000, ip_bytes=1500),
        ]
        result = run(one_port(port, sent, rate_bps=128_000, seconds=30, framing="mlppp"))
        return flows_of(result)["voice"]["delay_ps"]["max"]

    own = on_wire(71, 128_000)
    assert worst(True) <= on_wire(139, 128_000) + 2 * own
    assert worst(False) > on_wire(1500, 128_000)


def test_warm_up_is_carried_but_not_measured():
    sent = [flow("f", rate_bps=80_000, ip_bytes=100)]
    result = run(one_port(plain(), sent, seconds=1) | {"warmup_ps": SECOND // 2})
    assert flows_of(result)["f"]["sent"] == 50
    assert port_of(result)["queues"][0]["packets_in"] == 100


def test_histogram_is_within_a_thousandth():
    sent = [flow("f", kind="poisson", rate_bps=800_000, ip_bytes=500) | {"samples": True}]
    report = flows_of(run(one_port(plain(1000), sent, 10**6, 20)))["f"]
    delays = sorted(delay for _, delay in report["samples"])
    edges = [edge for edge, count in report["histogram"] for _ in range(count)]
    assert len(edges) == len(delays) > 1000
    assert all(d <= e <= d * 1.001 for d, e in zip(delays, edges, strict=True))


def test_quantiles_are_within_a_thousandth_of_the_samples():
    sent = [flow("f", kind="poisson", rate_bps=800_000, ip_bytes=500) | {"samples": True}]
    report = flows_of(run(one_port(plain(1000), sent, 10**6, 40)))["f"]
    delays = sorted(delay for _, delay in report["samples"])
    for key, part in (("p50", 500), ("p90", 900), ("p95", 950), ("p99", 990), ("p999", 999)):
        exact = delays[-(-len(delays) * part // 1000) - 1]
        assert exact <= report["delay_ps"][key] <= min(exact * 1.001, delays[-1])


def test_moments_are_those_of_the_samples():
    sent = [flow("f", kind="poisson", rate_bps=800_000, ip_bytes=500) | {"samples": True}]
    scenario = one_port(plain(1000), sent, 10**6, 20, delay_ps=10**15 // 2)
    report = flows_of(run(scenario))["f"]
    delays = [Fraction(delay) for _, delay in report["samples"]]
    mean = sum(delays) / len(delays)
    assert report["delay_ps"]["mean"] == float(mean)
    variance = sum((delay - mean) ** 2 for delay in delays) / len(delays)
    assert report["delay_ps"]["sd"] == pytest.approx(math.sqrt(variance), rel=1e-12)


def test_a_gap_after_each_frame_is_idle_time_and_delays_what_follows():
    # 138 - 12 bytes at 1 Mb/s until a frame of 100 IP bytes is there; the next starts 12 bytes and the gap later.
    gap = 300 * 10**6
    sent = [flow("f", rate_bps=2_000_000, ip_bytes=100)]
    result = run(one_port(plain(extra_gap_ps=gap), sent, 1_000_000, 1, "ethernet") | {"drain": False})
    cycle = 138 * 8 * 10**6 + gap
    assert flows_of(result)["f"]["interarrival_ps"] == {"mean": cycle, "sd": 0}
    assert flows_of(result)["f"]["delay_ps"]["min"] == 126 * 8 * 10**6
    line = port_of(result)["line"]
    assert line["idle_bps"] == pytest.approx(1e6 * gap / cycle, rel=1e-3)
    assert line["ip_bps"] + line["framing_bps"] + line["idle_bps"] == pytest.approx(1e6)


def test_fragments_have_a_gap_each_but_nothing_waits_for_the_last():
    sent = [flow("f", rate_bps=10_000, ip_bytes=1000)]
    port = plain(extra_gap_ps=MILLISECOND, fragment_bytes=250)
    result = run(one_port(port, sent, 1_000_000, 2, "mlppp"))
    expected = 4 * 261 * 8 * 10**6 + 3 * MILLISECOND
    delay = flows_of(result)["f"]["delay_ps"]
    assert (delay["min"], delay["max"]) == (expected, expected)
    assert flows_of(result)["f"]["minimum_delay_ps"] == {"smallest": expected, "largest": expected}


def test_a_gap_longer_than_the_twin_counts_is_refused():
    error = refusal(one_port(plain(extra_gap_ps=2**60), [flow("f", rate_bps=1000, ip_bytes=100)]))
    assert error.path.endswith("egress.extra_gap_ps")
    assert error.problem == "is too long"
