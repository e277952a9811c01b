"""What only a sweep over the load shows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from qosforge.experiments.metrics.base import NotMeasured, fact, require, sweep
from qosforge.experiments.rows import ResultRow

LOSES = 1e-4
"""Loss from which a subject counts as losing; below it a single packet in a run's beginning would do."""


@sweep("knee_load_mbps")
def knee_load_mbps(rows: Sequence[ResultRow]) -> float:
    """Largest load per sender without loss: where the line through the first losses meets zero, Mb/s.

    Beyond the knee the loss in Mb/s grows in proportion to the load, so the two first losing loads show where it
    began; without the second, the middle between the last good and the first losing load.
    """
    if len(rows) < 2:
        raise NotMeasured("a knee needs a sweep over the load")
    losing = [n for n, row in enumerate(rows) if require(row.loss_ratio, "loss", row) > LOSES]
    if not losing:
        raise NotMeasured(f"{rows[0].subject} loses nowhere in the sweep")
    first = losing[0]
    load = [require(row.load, "load", row) for row in rows]
    if first == 0:
        return load[0]
    if first + 1 < len(rows):
        lost = [_lost_mbps(row) for row in rows[first : first + 2]]
        slope = (lost[1] - lost[0]) / (load[first + 1] - load[first])
        if slope > 0:
            return min(max(load[first] - lost[0] / slope, load[first - 1]), load[first])
    return (load[first - 1] + load[first]) / 2


def _lost_mbps(row: ResultRow) -> float:
    return require(row.offered_mbps, "offered load", row) - require(row.throughput_mbps, "throughput", row)


@sweep("loss_linearity_error")
def loss_linearity_error(rows: Sequence[ResultRow]) -> float:
    """Largest distance of loss against load from the least-squares line, 0 to 1."""
    if len(rows) < 3:
        raise NotMeasured("a line needs three loads")
    load = np.array([require(row.load, "load", row) for row in rows])
    loss = np.array([require(row.loss_ratio, "loss", row) for row in rows])
    slope, start = np.polyfit(load, loss, 1)
    return float(np.max(np.abs(loss - (slope * load + start))))


@sweep("calls_on_link")
def calls_on_link(rows: Sequence[ResultRow]) -> float:
    """Largest load in calls up to which none loses a packet or takes longer than the fact ``delay_bound_us``."""
    good = 0.0
    for row in rows:
        calls = require(row.load, "load", row)
        longest = require(row.delay_us, "delay: nothing was delivered", row)["max"]
        if require(row.loss_ratio, "loss", row) or longest > fact(row, "delay_bound_us"):
            return good
        good = calls
    raise NotMeasured(f"{rows[0].subject} breaks no bound in the sweep")
