"""Serial and ATM framings, their fragments and classes, against figures of the standards."""

import pytest

from .scenarios import MILLISECOND, SECOND, egress, flow, flows_of, one_port, port_of, run

VOICE = {"application": "rtp-audio"}


def plain(**rest):
    return {"queues": [{"name": "q", "limit_packets": 1000}], "scheduler": {"kind": "fifo"}, **rest}


def line_ps(size, rate):
    return -(-size * 8 * SECOND // rate)


def alone(framing, ip_bytes, port=None, rate=1_000_000, **link):
    """Delay of single packets of one size."""
    sent = [flow("f", rate_bps=ip_bytes * 8, ip_bytes=ip_bytes)]
    delay = flows_of(run(one_port(port or plain(), sent, rate, 2, framing, **link)))["f"]["delay_ps"]
    assert delay["min"] == delay["max"]
    return delay["min"]


@pytest.mark.parametrize(
    ("framing", "ip_bytes", "wire"),
    [
        # Q.922 address 2, control and NLPID 2 (RFC 2427), FCS 2, flag 1.
        ("frame_relay", 60, 67),
        ("frame_relay", 1500, 1507),
        # RFC 2684 and I.363.5: 8 of LLC/SNAP, 8 of trailer, whole cells of 53 for 48.
        ("atm", 40, 2 * 53),
        ("atm", 32, 53),
        ("atm", 33, 2 * 53),
        ("atm", 1500, 32 * 53),
        ("atm_mux", 40, 53),
        ("atm_mux", 41, 2 * 53),
        ("atm_mux", 576, 13 * 53),
    ],
)
def test_bytes_on_the_line(framing, ip_bytes, wire):
    assert alone(framing, ip_bytes) == line_ps(wire, 10**6)


def test_a_line_of_cells_carries_what_its_cells_leave():
    # 2 Mb/s of cells: 1500 bytes take 32 x 53 = 1696 bytes, which is 1.769 Mb/s of IP.
    sent = [flow("f", rate_bps=3_000_000, ip_bytes=1500)]
    result = run(one_port(plain(), sent, 2_000_000, 20, "atm"))
    assert flows_of(result)["f"]["throughput_bps"] == pytest.approx(2e6 * 1500 / 1696, rel=0.001)
    # Counters see the AAL5 frame: no padding, no cell headers.
    queue = port_of(result)["queues"][0]
    assert queue["bytes_out"] == queue["packets_out"] * 1516


@pytest.mark.parametrize(
    ("framing", "link", "headers"),
    [
        ("frame_relay", {}, 14 * 9 + 2),  # FRF.12 end to end, and once the packet's own encapsulation
        ("mlppp", {}, 14 * 11),  # RFC 1990, 24-bit sequence numbers
        ("mlppp", {"short_sequence": True}, 14 * 9),  # 12-bit ones
    ],
)
def test_fragment_headers(framing, link, headers):
    # 1500 bytes in fragments of 112, which take 16 ms each at 56 kb/s: 13 whole ones and 44 bytes.
    assert line_ps(112, 56_000) == 16 * MILLISECOND
    delay = alone(framing, 1500, plain(fragment_bytes=112), 56_000, **link)
    assert delay == pytest.approx(line_ps(1500 + headers, 56_000), abs=14)


def blocked(framing, sizes, fragment=None, multiclass=False, **link):
    """Worst delay of voice beside bulk, at 56 kb/s; a map of queue to packet size tells who sends."""
    scheduler = {
        "kind": "cbwfq",
        "priority": [
            {"queue": 0, "rate_bps": 20_000, "burst_bytes": 9_000, "level": 1},
            {"queue": 1, "rate_bps": 20_000, "burst_bytes": 9_000, "level": 2},
        ],
        "weights": [None, None, 1],
    }
    port = egress(3, scheduler, fragment_bytes=fragment, interleave=fragment is not None, multiclass=multiclass)
    sent = [
        flow("voice", 0, rate_bps=1_000, ip_bytes=60, jitter_ps=400 * MILLISECOND),
        flow("video", 1, rate_bps=8_000, ip_bytes=1400, jitter_ps=700 * MILLISECOND),
        flow("bulk", 2, rate_bps=80_000, ip_bytes=1500),
    ]
    sent = [f for f in sent if f["packet"]["cos"] in sizes]
    result = run(one_port(port, sent, 56_000, 600, framing, **link))
    flows = flows_of(result)
    assert flows["voice"]["lost"] == 0
    return flows["voice"]["delay_ps"]["max"]


@pytest.mark.parametrize(
    ("framing", "own", "fragment"),
    [("frame_relay", 67, 112 + 9 + 2), ("mlppp", 67, 112 + 11)],
)
def test_interleaving_bounds_the_wait_to_one_fragment(framing, own, fragment):
    whole = blocked(framing, {0, 2})
    cut = blocked(framing, {0, 2}, 112)
    assert whole > line_ps(1500, 56_000)
    # Nearly the whole of a fragment is seen in many meetings, and never more.
    bound = line_ps(fragment, 56_000) + line_ps(own, 56_000)
    assert 0.9 * bound < cut <= bound


def test_large_packets_of_a_priority_class_block_voice_unless_classes_are_told_apart():
    one = blocked("mlppp", {0, 1, 2}, 112)
    assert one > line_ps(1400, 56_000)
    # With classes of their own, video is cut too, and voice goes between its fragments: what is on
    # the line is all it ever waits for.
    own, fragment = line_ps(60 + 9, 56_000), line_ps(112 + 9, 56_000)
    nested = blocked("mlppp", {0, 1, 2}, 112, multiclass=True, short_sequence=True)
    assert nested <= fragment + own


def test_video_goes_between_bulk_and_keeps_its_bytes():
    scheduler = {"kind": "strict_wrr", "strict": [0, 1], "weights": {"2": 1}, "mode": "packets"}
    port = egress(3, scheduler, fragment_bytes=200, interleave=True, multiclass=True)
    sent = [
        flow("voice", 0, rate_bps=16_000, ip_bytes=60),
        flow("video", 1, rate_bps=60_000, ip_bytes=1400, jitter_ps=50 * MILLISECOND),
        flow("bulk", 2, rate_bps=400_000, ip_bytes=1500),
    ]
    result = run(one_port(port, sent, 256_000, 60, "mlppp"))
    queues = port_of(result)["queues"]
    # 1400 bytes: 7 fragments of 11 bytes of headers; 1500: 8; 60 in one frame of the voice class.
    for queue, frame in zip(queues, (60 + 11, 1400 + 7 * 11, 1500 + 8 * 11), strict=True):
        assert queue["packets_out"] > 100
        assert queue["bytes_out"] == queue["packets_out"] * frame
    flows = flows_of(result)
    assert flows["video"]["delay_ps"]["max"] < line_ps(1400 + 77 + 211 + 4 * 71, 256_000)
    assert all(f["reordered"] == 0 for f in flows.values())


@pytest.mark.parametrize("left", [2, 3, 4])
def test_compressed_headers(left):
    port = plain(header_compression=True, compressed_header_bytes=left)
    sent = [flow("f", packet=VOICE, rate_bps=24_000, ip_bytes=60)]
    result = run(one_port(port, sent, 64_000, 10, "frame_relay"))
    queue = port_of(result)["queues"][0]
    assert queue["bytes_out"] == queue["packets_out"] * (20 + left + 7)


def test_a_byte_fifo_holds_many_small_frames_but_few_large_ones():
    def worst(ip_bytes, fifo_bytes):
        port = egress(2, {"kind": "strict", "order": [0, 1]}, tx_fifo_packets=2, tx_fifo_bytes=fifo_bytes)
        sent = [
            flow("gold", 0, rate_bps=1_000_000, ip_bytes=ip_bytes, jitter_ps=MILLISECOND // 10),
            flow("rest", 1, rate_bps=12_000_000, ip_bytes=ip_bytes),
        ]
        result = run(one_port(port, sent, 10_000_000, 2))
        return flows_of(result)["gold"]["delay_ps"]["max"] / line_ps(ip_bytes, 10_000_000)

    # Own time, and at most what the hardware holds: two packets, or as many as reach 1000 bytes.
    assert worst(125, 0) <= 3
    assert 8 < worst(125, 1000) <= 9
    assert worst(1250, 1000) == worst(1250, 0) <= 3


def test_directions_do_not_disturb_each_other():
    # Both fill their own half of the line: neither waits for the other.
    there = flow("there", rate_bps=9_000_000, ip_bytes=1000)
    back = flow("back", rate_bps=9_500_000, ip_bytes=700) | {"path": [["h", "eth0"]]}

    def delays(*flows):
        result = run(one_port(plain(), list(flows), 10_000_000, 1, "hdlc"))
        return {name: (f["delay_ps"], f["throughput_bps"]) for name, f in flows_of(result).items()}

    assert delays(there, back) == delays(there) | delays(back)
