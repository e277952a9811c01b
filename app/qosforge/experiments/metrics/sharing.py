"""How what there is was divided: shares, fairness, and the delays that go with them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from qosforge.experiments.metrics.base import LoadAggregate, NotMeasured, Siblings, fact, metric, require
from qosforge.experiments.rows import ResultRow


def _peers(row: ResultRow, siblings: Siblings) -> Sequence[ResultRow]:
    if not row.selection.peers:
        raise NotMeasured(f"{row.subject} shares with nothing")
    return [siblings[name] for name in row.selection.peers]


@metric("throughput_ratio")
def throughput_ratio(row: ResultRow, siblings: Siblings) -> float:
    """Throughput over that of the whole: another subject's, or the fact ``whole_mbps``."""
    whole = row.selection.whole
    total = require(siblings[whole].throughput_mbps, "throughput", row) if whole else fact(row, "whole_mbps")
    return require(row.throughput_mbps, "throughput", row) / require(total or None, "throughput of the whole", row)


@metric("share_error")
def share_error(row: ResultRow, siblings: Siblings) -> float:
    """Largest difference between a peer's share of the delivered total and its ``weight``, 0 to 1."""
    peers = _peers(row, siblings)
    total = require(
        sum(require(peer.throughput_mbps, "throughput", peer) for peer in peers) or None, "throughput", row
    )
    return max(abs((peer.throughput_mbps or 0.0) / total - fact(peer, "weight")) for peer in peers)


@metric("share_error_short_term")
def share_error_short_term(row: ResultRow, siblings: Siblings) -> float:
    """Largest difference between a peer's share of what left in a window and its ``weight``, mean over windows."""
    peers = _peers(row, siblings)
    sent = np.stack([np.concatenate(require(peer.series or None, "series", peer)) for peer in peers])
    busy = sent[:, sent.sum(axis=0) > 0]
    if not busy.size:
        raise NotMeasured(f"{row.subject} has no window in which anything left")
    weights = np.array([[fact(peer, "weight")] for peer in peers])
    return float(np.abs(busy / busy.sum(axis=0) - weights).max(axis=0).mean())


@metric("deviation_from_ideal_mbps", over=LoadAggregate.LARGEST)
def deviation_from_ideal_mbps(row: ResultRow, _: Siblings) -> float:
    """Distance of the throughput from the expected one, Mb/s."""
    expected = require(row.selection.expected.get("throughput_mbps"), "expected throughput", row)
    return abs(require(row.throughput_mbps, "throughput", row) - expected)


@metric("unfairness_percent", by_trial=True)
def unfairness_percent(row: ResultRow, _: Siblings) -> float:
    """Difference of the largest and the smallest flow's throughput in a run over the flows' mean, per cent."""
    rates = row.per_flow_mbps
    total = require(sum(rates) or None, "throughput", row)
    return 100 * (max(rates) - min(rates)) * len(rates) / total


@metric("delay_ratio")
def delay_ratio(row: ResultRow, siblings: Siblings) -> float:
    """Mean delay over the sum of the peers' mean delays."""
    total = sum(require(peer.delay_us, "delay", peer)["mean"] for peer in _peers(row, siblings))
    return require(row.delay_us, "delay", row)["mean"] / total


@metric("delay_ratio_error")
def delay_ratio_error(row: ResultRow, siblings: Siblings) -> float:
    """Largest distance of a peer's delay ratio from its ``delay_ratio`` expected."""
    return max(
        abs(delay_ratio(peer, siblings) - require(peer.selection.expected.get("delay_ratio"), "expected", peer))
        for peer in _peers(row, siblings)
    )


@metric("load_weighted_delay_us")
def load_weighted_delay_us(row: ResultRow, siblings: Siblings) -> float:
    """Sum over the peers of utilisation times mean delay, microseconds (Kleinrock's conservation law)."""
    link = fact(row, "link_mbps")
    return sum(
        require(peer.throughput_mbps, "throughput", peer) / link * require(peer.delay_us, "delay", peer)["mean"]
        for peer in _peers(row, siblings)
    )
