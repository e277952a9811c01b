"""Who is served when: order, shares, bounds."""

import pytest

from .scenarios import MILLISECOND, SECOND, egress, flow, flows_of, one_port, port_of, run

RATE = 10_000_000
# Buckets that hold what comes while another class has its short turn.
ROOM = {"burst_bytes": 6000, "cburst_bytes": 6000, "quantum_bytes": 1500}


def saturated(scheduler, sizes=(1500, 1500, 1500), rate=RATE, seconds=2.0, limit=100):
    """Each class alone could fill the line; returns the classes' throughput shares."""
    sent = [
        flow(f"c{i}", i, rate_bps=rate * 2, ip_bytes=size, phase_ps=MILLISECOND) for i, size in enumerate(sizes)
    ]
    port = egress(len(sizes), scheduler, limit)
    scenario = one_port(port, sent, rate_bps=rate, seconds=seconds) | {"warmup_ps": SECOND // 10}
    result = run(scenario)
    rates = [f["throughput_bps"] for f in result["flows"]]
    assert port_of(result)["utilisation"] == pytest.approx(1, abs=1e-9)
    return [r / sum(rates) for r in rates]


@pytest.mark.parametrize(
    ("scheduler", "sizes", "expected"),
    [
        ({"kind": "wrr", "weights": [1, 2, 5]}, (1500, 1500, 1500), (1 / 8, 2 / 8, 5 / 8)),
        # Packets, not bytes: a class of small packets gets less than its weight.
        ({"kind": "wrr", "weights": [1, 1]}, (1500, 500), (0.75, 0.25)),
        ({"kind": "drr", "quantum_bytes": [1500, 3000]}, (1500, 500), (1 / 3, 2 / 3)),
        ({"kind": "strict_wrr", "strict": [], "weights": [70, 30], "mode": "bytes"}, (200, 1500), (0.7, 0.3)),
        ({"kind": "strict_wrr", "strict": [], "weights": [3, 1], "mode": "packets"}, (1500, 1500), (0.75, 0.25)),
        ({"kind": "srr", "weights": [10, 30, 60]}, (1500, 700, 64), (0.1, 0.3, 0.6)),
        # A shaped queue gets 1/4 and no more; the others share the rest.
        ({"kind": "srr", "weights": [99, 1, 2], "shape": [4, 0, 0]}, (1500, 1500, 1500), (0.25, 0.25, 0.5)),
        ({"kind": "cbwfq", "weights": [100, 200, 700]}, (1500, 64, 700), (0.1, 0.2, 0.7)),
        ({"kind": "cbwfq", "weights": [1, 999]}, (1500, 1500), (0.001, 0.999)),
        ({"kind": "strict", "order": [1, 0]}, (1500, 1500), (0, 1)),
        ({"kind": "strict", "order": [{"0": 4, "1": 3}, 2]}, (1500, 1500, 1500), (4 / 7, 3 / 7, 0)),
        (
            {"kind": "strict", "order": [0, 1, 2], "leak": [{"packets": 2, "out_of": 33}, None]},
            (1500, 1500, 1500),
            (31 / 33, 2 / 33, 0),
        ),
        ({"kind": "wrr", "weights": [1, 2], "quantum_bytes": 256}, (1500, 300), (1 / 3, 2 / 3)),
        # 256 bytes and a tag do not fit into one quantum.
        (
            {"kind": "wrr", "weights": [1, 1], "quantum_bytes": 256, "counting": "rounded_up"},
            (256, 500),
            (128 / 378, 250 / 378),
        ),
        (
            {
                "kind": "tree",
                "children": [
                    {"rate_bps": 4_000_000, "children": [{"queue": 0, "weight": 3}, {"queue": 1}]},
                    {"rate_bps": 6_000_000, "queue": 2},
                ],
            },
            (1500, 300, 700),
            (0.3, 0.1, 0.6),
        ),
        (
            {
                "kind": "htb",
                "classes": [
                    {"name": "all", "rate_bps": RATE, **ROOM},
                    {
                        "name": "a",
                        "parent": "all",
                        "rate_bps": 2_000_000,
                        "ceil_bps": 3_000_000,
                        "queue": 0,
                        **ROOM,
                    },
                    {"name": "b", "parent": "all", "rate_bps": 1_000_000, "ceil_bps": RATE, "queue": 1, **ROOM},
                ],
            },
            (1500, 1500),
            (0.3, 0.7),
        ),
    ],
)
def test_shares_under_saturation(scheduler, sizes, expected):
    window_bytes = RATE * 1.9 / 8
    # One turn of every class, and a packet cut by each edge of the window.
    turn = 2 * 8000 / window_bytes
    for share, wanted in zip(saturated(scheduler, sizes), expected, strict=True):
        assert share == pytest.approx(wanted, abs=turn)


def test_unused_share_goes_to_the_others_except_from_a_shaped_queue():
    sent = [flow("c1", 1, rate_bps=RATE * 2, ip_bytes=1000)]
    for scheduler, expected in [
        ({"kind": "cbwfq", "weights": [70, 30]}, RATE),
        ({"kind": "srr", "weights": [70, 30]}, RATE),
        ({"kind": "srr", "weights": [70, 30], "shape": [0, 5]}, RATE / 5),
    ]:
        result = run(one_port(egress(2, scheduler), sent, rate_bps=RATE))
        assert flows_of(result)["c1"]["throughput_bps"] == pytest.approx(expected, rel=0.002)


def test_strict_priority_never_lets_a_lower_queue_go_first():
    sent = [
        flow("high", 0, kind="poisson", rate_bps=6_000_000, ip_bytes=500),
        flow("low", 1, rate_bps=9_000_000, ip_bytes=1500),
    ]
    port = egress(2, {"kind": "strict", "order": [0, 1]}, 10_000)
    scenario = one_port(port, [f | {"samples": True} for f in sent], rate_bps=RATE)
    reports = flows_of(run(scenario))
    residual = 1500 * 8 * SECOND // RATE
    own = 500 * 8 * SECOND // RATE
    # At the start of each low transmission no high packet may be waiting.
    high = [(at, at + delay - own) for at, delay in reports["high"]["samples"]]
    starts = sorted(at + delay - residual for at, delay in reports["low"]["samples"])
    events = [(at, 1) for at, start in high if at < start]
    events += [(start, -1) for at, start in high if at < start]
    events += [(start, 0) for start in starts]
    waiting = 0
    # Arrivals at the very instant of a decision may be seen by it or not: order them after.
    for _, change in sorted(events, key=lambda e: (e[0], {-1: 0, 0: 1, 1: 2}[e[1]])):
        assert change != 0 or waiting == 0
        waiting += change
    assert len(starts) > 500


@pytest.mark.parametrize("fifo", [1, 2, 3])
def test_llq_waits_for_the_hardware_only(fifo):
    rate = 2_000_000
    priority = {"queue": 0, "rate_bps": 1_000_000, "burst_bytes": 25_000}
    port = egress(2, {"kind": "cbwfq", "priority": [priority], "weights": [None, 1]}, tx_fifo_packets=fifo)
    sent = [
        flow("voice", 0, rate_bps=80_000, ip_bytes=200, jitter_ps=5 * MILLISECOND),
        flow("bulk", 1, rate_bps=4_000_000, ip_bytes=1500),
    ]
    result = run(one_port(port, sent, rate_bps=rate, seconds=20, framing="hdlc"))
    voice = flows_of(result)["voice"]
    bulk_time, own = (1507 * 8 * SECOND // rate, 207 * 8 * SECOND // rate)
    # Two voice packets can meet: at most one of them is ahead.
    assert voice["lost"] == 0
    assert (fifo - 0.2) * bulk_time + own < voice["delay_ps"]["max"] <= fifo * bulk_time + 2 * own
    assert flows_of(result)["bulk"]["delay_ps"]["min"] >= bulk_time


@pytest.mark.parametrize("beside", [True, False])
def test_llq_is_policed_only_under_congestion(beside):
    priority = {"queue": 0, "rate_bps": 500_000, "burst_bytes": 5_000}
    port = egress(2, {"kind": "cbwfq", "priority": [priority], "weights": [None, 1]})
    sent = [flow("video", 0, rate_bps=1_000_000, ip_bytes=1000)]
    if beside:
        sent.append(flow("bulk", 1, rate_bps=4_000_000, ip_bytes=1500))
    result = run(one_port(port, sent, rate_bps=2_000_000, seconds=10))
    rate = flows_of(result)["video"]["throughput_bps"]
    assert rate == pytest.approx(500_000 if beside else 1_000_000, rel=0.02)
    dropped = port_of(result)["queues"][0]["dropped_police"]
    assert dropped == flows_of(result)["video"]["lost"]
    assert (dropped > 0) == beside


def test_priority_levels_come_in_order():
    entries = [
        {"queue": q, "rate_bps": 900_000, "burst_bytes": 100_000, "level": level} for q, level in ((0, 2), (1, 1))
    ]
    port = egress(3, {"kind": "cbwfq", "priority": entries, "weights": {"2": 1}}, 1000)
    sent = [flow(f"p{i}", i, rate_bps=700_000, ip_bytes=700) for i in (0, 1)]
    reports = flows_of(run(one_port(port, sent, rate_bps=1_000_000, seconds=3)))
    assert reports["p1"]["delay_ps"]["max"] <= 2 * 700 * 8 * 10**6
    assert reports["p0"]["delay_ps"]["max"] > 20 * reports["p1"]["delay_ps"]["max"]


def fair(*sent, rate=1_000_000, **scheduler):
    return run(one_port({"scheduler": {"kind": "wfq", **scheduler}}, list(sent), rate_bps=rate, seconds=5))


def test_wfq_protects_a_small_conversation_from_a_flood():
    voice = flow("voice", packet={"src_port": 1}, rate_bps=80_000, ip_bytes=200)
    flood = flow("flood", packet={"src_port": 2}, rate_bps=5_000_000, ip_bytes=1500)
    reports = flows_of(fair(voice, flood))
    assert reports["voice"]["lost"] == 0
    assert reports["voice"]["delay_ps"]["max"] <= 2 * 1700 * 8 * 10**6
    assert reports["flood"]["lost"] > 1000


def test_wfq_shares_follow_precedence():
    # IOS: weight 32384 / (precedence + 1); 5 against 0 is 6 to 1.
    sent = [
        flow(n, packet={"src_port": p, "dscp": p << 3}, rate_bps=3_000_000, ip_bytes=1000)
        for n, p in (("routine", 0), ("critical", 5))
    ]
    reports = flows_of(fair(*sent))
    ratio = reports["critical"]["throughput_bps"] / reports["routine"]["throughput_bps"]
    assert ratio == pytest.approx(6, rel=0.05)


def test_wfq_flows_of_one_bucket_are_one_conversation():
    sent = [flow(f"f{i}", packet={"src_port": i}, rate_bps=1_000_000, ip_bytes=500) for i in range(4)]
    small = flow("small", packet={"src_port": 9}, kind="poisson", rate_bps=80_000, ip_bytes=200)
    assert flows_of(fair(*sent, small))["small"]["lost"] == 0
    assert flows_of(fair(*sent, small, dynamic_queues=1))["small"]["lost"] > 0


def test_red_keeps_the_queue_shorter_and_spares_the_better_mark():
    def lost(red):
        port = egress(1, {"kind": "fifo"}, 60)
        port["rules"] = []
        port["queues"][0]["red"] = red
        sent = [
            flow(name, packet={"dscp": dscp}, kind="poisson", rate_bps=600_000, ip_bytes=500)
            for name, dscp in (("good", 10), ("bad", 14))
        ]
        result = run(one_port(port, sent, rate_bps=1_000_000, seconds=60))
        queue = port_of(result)["queues"][0]
        reports = flows_of(result)
        return reports["good"]["lost"], reports["bad"]["lost"], queue

    _, _, tail = lost(None)
    assert tail["dropped_red"] == 0
    assert tail["dropped_tail"] > 0
    profiles = [
        {"match_dscp": [10], "min": 30, "max": 40, "mark_denominator": 10},
        {"match_dscp": [14], "min": 10, "max": 40, "mark_denominator": 2},
    ]
    good, bad, queue = lost({"weight_exponent": 5, "profiles": profiles})
    assert queue["dropped_red"] > 0
    assert bad > 3 * good
