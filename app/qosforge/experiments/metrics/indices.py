"""Quality indices: the deviation of many results from what they should be, in one figure.

``Q^2`` is the mean of the squared relative errors, ``|Q|`` the mean of their magnitudes (Risso, ICN 2001); in per
cent of throughput and as plain numbers of delay. Both are means over the subject's peers, then over simulations.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import fmean

from qosforge.experiments.metrics.base import NotMeasured, Siblings, change, metric, require
from qosforge.experiments.rows import ResultRow


def _of_throughput(row: ResultRow, siblings: Siblings) -> list[float]:
    """Relative errors of the peers' throughput against the expected ones."""
    errors = []
    for name in _peers(row):
        peer = siblings[name]
        expected = require(peer.selection.expected.get("throughput_mbps") or None, "expected throughput", peer)
        errors.append(require(peer.throughput_mbps, "throughput", peer) / expected - 1)
    return errors


def _peers(row: ResultRow) -> tuple[str, ...]:
    if not row.selection.peers:
        raise NotMeasured(f"{row.subject} has no classes to take an index of")
    return row.selection.peers


def _of_delay(row: ResultRow, siblings: Siblings, which: str) -> Iterator[float]:
    """Relative excess of each peer's delay over the best of its rivals' in the same simulation."""
    for name in _peers(row):
        peer = siblings[name]
        rivals = [siblings[rival] for rival in peer.selection.rivals]
        best = min(require(rival.delay_us, "delay", rival)[which] for rival in rivals)
        yield require(peer.delay_us, "delay", peer)[which] / best - 1


@metric("q1_percent")
def q1_percent(row: ResultRow, siblings: Siblings) -> float:
    """Linear index of throughput, per cent."""
    return 100 * fmean(abs(error) for error in _of_throughput(row, siblings))


@metric("q2_percent")
def q2_percent(row: ResultRow, siblings: Siblings) -> float:
    """Quadratic index of throughput, times 100."""
    return 100 * fmean(error * error for error in _of_throughput(row, siblings))


@metric("q1_max_delay")
def q1_max_delay(row: ResultRow, siblings: Siblings) -> float:
    """Linear index of the largest delay."""
    return fmean(_of_delay(row, siblings, "max"))


@metric("q2_max_delay")
def q2_max_delay(row: ResultRow, siblings: Siblings) -> float:
    """Quadratic index of the largest delay."""
    return fmean(error * error for error in _of_delay(row, siblings, "max"))


@metric("q1_p99_delay")
def q1_p99_delay(row: ResultRow, siblings: Siblings) -> float:
    """Linear index of the 99th percentile of delay."""
    return fmean(_of_delay(row, siblings, "p99"))


@metric("q2_p99_delay")
def q2_p99_delay(row: ResultRow, siblings: Siblings) -> float:
    """Quadratic index of the 99th percentile of delay."""
    return fmean(error * error for error in _of_delay(row, siblings, "p99"))


@change("q1_ratio", "q1_percent")
def q1_ratio(value: float, other: float) -> float:
    """Linear index of throughput over another's; infinite where only the other has no deviation at all."""
    if other == 0:
        return math.inf if value > 0 else 1.0
    return value / other
