"""Rates, loss and counts of one subject."""

from __future__ import annotations

from statistics import fmean

from qosforge.experiments.metrics.base import LoadAggregate, Siblings, fact, metric, require
from qosforge.experiments.rows import ResultRow


@metric("throughput_mbps")
def throughput_mbps(row: ResultRow, _: Siblings) -> float:
    """Delivered bits a second of the row's layer, Mb/s."""
    return require(row.throughput_mbps, "throughput", row)


@metric("throughput_kbps")
def throughput_kbps(row: ResultRow, _: Siblings) -> float:
    """Delivered bits a second of the row's layer, kb/s."""
    return require(row.throughput_mbps, "throughput", row) * 1000


@metric("throughput_per_sender_mbps")
def throughput_per_sender_mbps(row: ResultRow, _: Siblings) -> float:
    """Throughput over the number of flows, Mb/s."""
    return require(row.throughput_mbps, "throughput", row) / len(row.per_flow_mbps)


def _sender_mbps(row: ResultRow, number: int) -> float:
    rates = row.per_flow_mbps
    return require(rates[number] if number < len(rates) else None, f"sender {number + 1}", row)


@metric("first_sender_mbps")
def first_sender_mbps(row: ResultRow, _: Siblings) -> float:
    """Throughput of the subject's first flow, Mb/s."""
    return _sender_mbps(row, 0)


@metric("second_sender_mbps")
def second_sender_mbps(row: ResultRow, _: Siblings) -> float:
    """Throughput of the subject's second flow, Mb/s."""
    return _sender_mbps(row, 1)


@metric("offered_mbps")
def offered_mbps(row: ResultRow, _: Siblings) -> float:
    """Sent bits a second of the row's layer, Mb/s."""
    return require(row.offered_mbps, "offered load", row)


@metric("offered_kbps")
def offered_kbps(row: ResultRow, _: Siblings) -> float:
    """Sent bits a second of the row's layer, kb/s."""
    return require(row.offered_mbps, "offered load", row) * 1000


@metric("offered_percent")
def offered_percent(row: ResultRow, _: Siblings) -> float:
    """Sent bits in per cent of the link."""
    return 100 * require(row.offered_mbps, "offered load", row) / fact(row, "link_mbps")


@metric("loss_ratio")
def loss_ratio(row: ResultRow, _: Siblings) -> float:
    """Lost over sent packets, 0 to 1."""
    return require(row.loss_ratio, "loss", row)


@metric("loss_per_sender_mbps")
def loss_per_sender_mbps(row: ResultRow, _: Siblings) -> float:
    """Offered less delivered over the number of flows, Mb/s."""
    lost = require(row.offered_mbps, "offered load", row) - require(row.throughput_mbps, "throughput", row)
    return lost / len(row.per_flow_mbps)


@metric("packets")
def packets(row: ResultRow, _: Siblings) -> float:
    """Packets sent in one trial's measured time."""
    return row.packets / row.trials


@metric("delivered_packets")
def delivered_packets(row: ResultRow, _: Siblings) -> float:
    """Packets delivered in one trial's measured time."""
    return row.delivered / row.trials


@metric("wasted_mbps")
def wasted_mbps(row: ResultRow, _: Siblings) -> float:
    """Link rate less delivered bits, framing and idle time together, Mb/s."""
    return fact(row, "link_mbps") - require(row.throughput_mbps, "throughput", row)


@metric("wasted_percent")
def wasted_percent(row: ResultRow, siblings: Siblings) -> float:
    """``wasted_mbps`` in per cent of the link rate."""
    return 100 * wasted_mbps(row, siblings) / fact(row, "link_mbps")


@metric("idle_kbps")
def idle_kbps(row: ResultRow, _: Siblings) -> float:
    """Line time that carried nothing, as a rate, kb/s."""
    return require(row.unused_mbps, "port", row)["idle"] * 1000


@metric("utilisation")
def utilisation(row: ResultRow, _: Siblings) -> float:
    """Share of the line's time in use, 0 to 1."""
    return 1 - require(row.unused_mbps, "port", row)["idle"] / fact(row, "link_mbps")


@metric("drop_ratio")
def drop_ratio(row: ResultRow, _: Siblings) -> float:
    """Dropped over arrived packets of the subject's queues, 0 to 1."""
    arrived = sum(queue.packets_in for queue in row.queues)
    left = sum(float(queue.packets_out) for queue in row.queues)
    return 1 - left / require(float(arrived) or None, "queue", row)


@metric("buffer_frames", over=LoadAggregate.LARGEST)
def buffer_frames(row: ResultRow, _: Siblings) -> float:
    """Frames that the subject's queue held at most."""
    depth = max((float(queue.max_depth) for queue in row.queues), default=None)
    return require(depth, "queue", row)


@metric("largest_throughput_kbps", over=LoadAggregate.LARGEST)
def largest_throughput_kbps(row: ResultRow, siblings: Siblings) -> float:
    """Delivered bits a second, kb/s; the largest of all loads."""
    return throughput_kbps(row, siblings)


@metric("largest_utilisation", over=LoadAggregate.LARGEST)
def largest_utilisation(row: ResultRow, siblings: Siblings) -> float:
    """Share of the line's time in use, 0 to 1; the largest of all loads."""
    return utilisation(row, siblings)


@metric("line_kbps")
def line_kbps(row: ResultRow, siblings: Siblings) -> float:
    """What the line carried, its framing included, kb/s."""
    return utilisation(row, siblings) * fact(row, "link_mbps") * 1000


@metric("burstiness")
def burstiness(row: ResultRow, _: Siblings) -> float:
    """Index of dispersion of the bits that leave the port in equal intervals: variance over mean, bits."""
    ratios = []
    for sent in row.series:
        bits = sent.astype(float) * 8
        ratios.append(float(bits.var() / require(float(bits.mean()) or None, "traffic", row)))
    return fmean(require(ratios or None, "series", row))
