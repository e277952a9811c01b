"""Distributions of delay beside those of ns-3, which comes with the extra ``crosscheck``."""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import pytest
import qosforge_twin

from benchmarks.full_stack import Sender, network, strict_priority

pytestmark = pytest.mark.crosscheck

PS = 10**12
LINE = 10_000_000
BYTES = 1000
LIMIT = 100
BIN = 100_000_000
"""Width of ns-3's bins of delay, ps."""
RED = {"minimum": 5, "maximum": 15, "denominator": 10, "weight_exponent": 9}


@dataclass(frozen=True)
class Found:
    """What became of one sender's packets: how many were sent and came, their mean delay, and delays by bin."""

    sent: int
    came: int
    mean_ps: float
    bins: list[int]


def senders(rates: Sequence[tuple[int, int]]) -> list[Sender]:
    """Constant streams of (class, b/s); their gaps have no common period, so that they meet in every phase."""
    gaps = [(traffic_class, BYTES * 8 * PS // rate) for traffic_class, rate in rates]
    return [Sender(c, BYTES, gap, gap * (n + 1) // (len(gaps) + 1)) for n, (c, gap) in enumerate(gaps)]


def random_early_detection(ns: Any, control: Any) -> None:
    """The same curve as ``RED``, thresholds in packets."""
    control.SetRootQueueDisc(
        "ns3::RedQueueDisc",
        "MaxSize",
        ns.StringValue(f"{LIMIT}p"),
        "MinTh",
        ns.DoubleValue(RED["minimum"]),
        "MaxTh",
        ns.DoubleValue(RED["maximum"]),
        "LInterm",
        ns.DoubleValue(RED["denominator"]),
        "QW",
        ns.DoubleValue(2.0 ** -RED["weight_exponent"]),
        # Drops between 1 and 1/p packets apart, not between 1/p and 2/p.
        "Wait",
        ns.BooleanValue(False),
        "Gentle",
        ns.BooleanValue(False),
        "UseHardDrop",
        ns.BooleanValue(True),
        "LinkBandwidth",
        ns.StringValue(f"{LINE}bps"),
        "LinkDelay",
        ns.StringValue("0ns"),
        "MeanPktSize",
        ns.UintegerValue(BYTES),
    )


def by_ns3(streams: list[Sender], discipline: Callable[[Any, Any], None], seconds: int) -> list[Found]:
    """What ns-3 makes of it. Its state is global: call in a process of its own."""
    from ns import ns  # noqa: PLC0415  # seconds to load, and only where it is installed

    network(ns, streams, LINE, discipline, seconds * PS)
    helper = ns.FlowMonitorHelper()
    helper.SetMonitorAttribute("DelayBinWidth", ns.DoubleValue(BIN / PS))
    monitor = helper.InstallAll()
    ns.Simulator.Stop(ns.Seconds(seconds + 1))
    ns.Simulator.Run()
    found = {}
    for number, stats in monitor.GetFlowStats():
        source = str(helper.GetClassifier().FindFlow(number).sourceAddress)
        histogram = stats.delayHistogram
        bins = [int(histogram.GetBinCount(n)) for n in range(histogram.GetNBins())]
        mean = stats.delaySum.GetSeconds() * PS / stats.rxPackets
        found[int(source.split(".")[2])] = Found(int(stats.txPackets), int(stats.rxPackets), mean, bins)
    return [found[number] for number in range(len(streams))]


def by_twin(streams: list[Sender], egress: dict[str, Any], seconds: int) -> list[Found]:
    """What the twin makes of it: two frames in the hardware, as ns-3's device and line hold."""
    flows = [
        {
            "name": f"s{number}",
            "path": [["router", "out"]],
            "packet": {"cos": stream.traffic_class},
            "source": {
                "kind": "cbr",
                "rate_bps": BYTES * 8 * PS // stream.gap_ps,
                "ip_bytes": BYTES,
                "start_ps": stream.start_ps,
            },
        }
        for number, stream in enumerate(streams)
    ]
    scenario = {
        "version": 1,
        "duration_ps": seconds * PS,
        "nodes": [
            {"name": "router", "ports": [{"name": "out", "egress": {**egress, "tx_fifo_packets": 2}}]},
            {"name": "far", "ports": [{"name": "in"}]},
        ],
        "links": [{"a": ["router", "out"], "b": ["far", "in"], "rate_bps": LINE, "framing": "none"}],
        "flows": flows,
    }
    found = []
    for flow in json.loads(qosforge_twin.run(json.dumps(scenario), 1))["flows"]:
        bins = [0] * (max(edge for edge, _ in flow["histogram"]) // BIN + 1)
        for edge, count in flow["histogram"]:
            bins[edge // BIN] += count
        found.append(Found(flow["sent"], flow["delivered"], flow["delay_ps"]["mean"], bins))
    return found


def compared(
    streams: list[Sender], discipline: Callable[[Any, Any], None], egress: dict[str, Any], seconds: int
) -> list[tuple[Found, Found]]:
    """Every stream as the twin has it, and as ns-3."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        others = pool.apply(by_ns3, (streams, discipline, seconds))
    return list(zip(by_twin(streams, egress, seconds), others, strict=True))


def farthest(one: Found, other: Found) -> float:
    """Largest distance of the two distribution functions (Kolmogorov and Smirnov's)."""
    length = max(len(one.bins), len(other.bins))
    sums = [
        [total / found.came for total in accumulate([*found.bins, *[0] * (length - len(found.bins))])]
        for found in (one, other)
    ]
    return max(abs(a - b) for a, b in zip(*sums, strict=True))


def test_delays_under_strict_priority() -> None:
    rates = ((0, 1_300_000), (0, 1_110_000), (1, 2_070_000), (2, 2_610_000), (3, 1_930_000), (3, 770_000))
    egress = {
        "queues": [{"name": f"q{n}", "limit_packets": LIMIT} for n in range(4)],
        "rules": [{"match": {"cos": [n]}, "queue": n} for n in range(4)],
        "scheduler": {"kind": "strict", "order": [0, 1, 2, 3]},
    }
    for ours, theirs in compared(senders(rates), strict_priority, egress, 20):
        assert abs(ours.sent - theirs.sent) <= 1
        assert ours.mean_ps == pytest.approx(theirs.mean_ps, rel=0.02)
        assert farthest(ours, theirs) < 0.03


def test_delays_and_losses_under_random_early_detection() -> None:
    rates = ((0, 3_100_000), (0, 2_930_000), (0, 2_770_000), (0, 2_230_000))
    profile = {"min": RED["minimum"], "max": RED["maximum"], "mark_denominator": RED["denominator"]}
    red = {"weight_exponent": RED["weight_exponent"], "default": profile, "spacing": "uniform"}
    egress = {"queues": [{"name": "q", "limit_packets": LIMIT, "red": red}], "scheduler": {"kind": "fifo"}}
    pairs = compared(senders(rates), random_early_detection, egress, 60)
    lost = [sum(found[side].sent - found[side].came for found in pairs) for side in (0, 1)]
    assert lost[0] == pytest.approx(lost[1], rel=0.02)
    for ours, theirs in pairs:
        assert ours.mean_ps == pytest.approx(theirs.mean_ps, rel=0.05)
        assert farthest(ours, theirs) < 0.1
