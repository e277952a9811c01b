"""On-off, recorded, bucketed and video sources."""

import itertools
import statistics
from collections import Counter

import pytest

from .scenarios import MILLISECOND, SECOND, egress, flow, flows_of, one_port, refusal, run

FIFO = {"kind": "fifo"}


def sent_at(seconds=10.0, seed=1, **source):
    """Sending times on a line that never delays, and the flow's report."""
    sent = [flow("f", **source) | {"samples": True}]
    report = flows_of(run(one_port(egress(1, FIFO, 10**6), sent, 10**12, seconds), seed))["f"]
    return [at for at, _ in report["samples"]], report


def test_fixed_bursts_and_silences_repeat_exactly():
    times, _ = sent_at(
        kind="onoff",
        rate_bps=800_000,
        ip_bytes=1000,
        on_ps=SECOND // 3,
        off_ps=SECOND - SECOND // 3,
        lengths="deterministic",
    )
    # 34 packets, 10 ms apart, at the beginning of each second.
    assert times == [s * SECOND + n * 10 * MILLISECOND for s in range(10) for n in range(34)]


def test_random_bursts_keep_their_share():
    times, _ = sent_at(2000, kind="onoff", rate_bps=80_000, ip_bytes=100, on_ps=SECOND, off_ps=2 * SECOND)
    gaps = [b - a for a, b in itertools.pairwise(times)]
    assert min(gaps) == 10 * MILLISECOND
    silences = [gap for gap in gaps if gap > 10 * MILLISECOND]
    assert statistics.mean(silences) == pytest.approx(2 * SECOND, rel=0.1)
    assert len(times) == pytest.approx(2000 * 100 / 3, rel=0.1)


RECORDED = {"kind": "trace", "times_ps": [5, 5, 70], "ip_bytes": [40, 1500, 60]}


def test_a_trace_is_sent_as_recorded():
    times, report = sent_at(start_ps=1000, **RECORDED)
    assert times == [1005, 1005, 1070]
    assert report["bytes_delivered"] == 1600
    times, _ = sent_at(10**-10, repeat_ps=70, **RECORDED)
    assert times == [5, 5, 70, 75, 75]


def test_a_bucket_delays_what_exceeds_it():
    bucket = {"rate_bps": 1_000_000, "burst_bytes": 3000}
    rate = {"rate_bps": 900_000, "ip_bytes": 1000}
    free, _ = sent_at(100, kind="poisson", **rate)
    held, report = sent_at(100, kind="poisson", bucket=bucket, **rate)
    # What has been sent by the end is what was generated, later and never earlier.
    assert 0 <= len(free) - len(held) < 200
    waits = [late - early for early, late in zip(free, held, strict=False)]
    assert min(waits) == 0
    assert max(waits) > 10 * MILLISECOND
    assert report["throughput_bps"] <= 1_000_000
    # No interval holds more than the burst and the rate.
    for first, at in enumerate(held):
        for count, end in enumerate(held[first : first + 50], 1):
            assert count * 8000 <= 24_000 + (end - at) / 10**6 + 1e-6


def test_a_source_faster_than_its_bucket_sends_at_the_buckets_rate():
    bucket = {"rate_bps": 1_000_000, "burst_bytes": 1500}
    _, report = sent_at(rate_bps=50_000_000, ip_bytes=1000, bucket=bucket)
    assert report["throughput_bps"] == pytest.approx(1_000_000, rel=0.001)


VIDEO = {"kind": "video", "frame_rate": 25, "frame_bytes_mean": 5000, "ip_bytes": 1000}


def frames(**source):
    """Codec bytes of each frame."""
    sent = [flow("v", **(VIDEO | source)) | {"samples": True}]
    report = flows_of(run(one_port(egress(1, FIFO, 10**6), sent, 8_000_000, 400)))["v"]
    ends = Counter()
    for at, delay in report["samples"]:
        ends[at] = max(ends[at], delay)
    # The last bit of a frame's packets: 1 µs a byte, 40 bytes of headers a packet.
    packets = Counter(at for at, _ in report["samples"])
    return [ends[at] // 10**6 - 40 * packets[at] for at in sorted(ends)]


@pytest.mark.parametrize("distribution", ["normal", "lognormal"])
def test_frames_have_the_mean_and_spread_they_should(distribution):
    sizes = frames(frame_bytes_sd=1000, distribution=distribution)
    assert len(sizes) == 10_000
    assert statistics.mean(sizes) == pytest.approx(5000, rel=0.01)
    assert statistics.stdev(sizes) == pytest.approx(1000, rel=0.05)
    skew = statistics.mean(((s - 5000) / 1000) ** 3 for s in sizes)
    # A lognormal with a deviation of 0.2 of its mean: skewness 3 × 0.2 + 0.2³.
    assert skew == pytest.approx(0 if distribution == "normal" else 0.608, abs=0.15)


def test_a_group_of_frames_keeps_the_mean():
    sizes = frames(group_frames=10, intra_ratio=6)
    assert statistics.mean(sizes) == pytest.approx(5000, rel=0.001)
    assert set(sizes[::10]) == {20_000}
    assert {s for i, s in enumerate(sizes) if i % 10} == {3333}


@pytest.mark.parametrize(
    ("source", "path"),
    [
        (RECORDED | {"times_ps": []}, "times_ps"),
        (RECORDED | {"ip_bytes": [40]}, "ip_bytes"),
        (RECORDED | {"times_ps": [5, 4, 70]}, "times_ps[1]"),
        (RECORDED | {"ip_bytes": [40, 40, 1]}, "ip_bytes[2]"),
        (RECORDED | {"repeat_ps": 65}, "repeat_ps"),
        (RECORDED | {"times_ps": [0, 0, 0], "repeat_ps": 1}, "repeat_ps"),
        (RECORDED | {"times_ps": [0, 0, -1]}, "times_ps[2]"),
        (RECORDED | {"bucket": {"rate_bps": 1, "burst_bytes": 1499}}, "bucket.burst_bytes"),
        (RECORDED | {"bucket": {"rate_bps": 0, "burst_bytes": 1500}}, "bucket.rate_bps"),
        (RECORDED | {"bucket": {"rate_bps": 1}}, "bucket"),
        ({"kind": "tcp", "bucket": {"rate_bps": 1, "burst_bytes": 1500}}, "bucket"),
        (VIDEO | {"group_frames": 0}, "intra_ratio"),
        (VIDEO | {"intra_ratio": 0.5}, "intra_ratio"),
        (VIDEO | {"distribution": "flat"}, "distribution"),
        ({"kind": "onoff", "rate_bps": 1, "ip_bytes": 99, "on_ps": 1, "off_ps": 1, "lengths": "x"}, "lengths"),
    ],
)
def test_sources_that_make_no_sense_are_refused(source, path):
    error = refusal(one_port(egress(1, FIFO), [flow("f", **source)]))
    assert error.path == f"flows[0].source.{path}"
