"""Service curves of the leaves of link-sharing trees: ``tree`` (start-time fair queuing) and ``htb``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from qosforge.calculus.bounds import NOTHING, RateLatency, TokenBucket, delay_bound, strict_priority, weighted_fair
from qosforge.calculus.line_traffic import QueueTraffic, together
from qosforge.calculus.priority_curves import admitted
from qosforge.calculus.queue_curves import Curves, behind_own_bucket, bucket_of, leaves_bucket
from qosforge.calculus.shaping_bounds import guaranteed_by_rate
from qosforge.calculus.stages import EgressLine
from qosforge.twin.schedulers import HtbClassSpec, HtbScheduler, ShapeSpec, TreeNodeSpec, TreeScheduler

_LAST = 1 << 16
"""Priority of a class that has none."""


def tree_curves(
    line: EgressLine, queue: int, queues: Mapping[int, QueueTraffic], root: RateLatency
) -> Curves | None:
    """The curves of a leaf of a tree, from the root down, each node being the server of its children.

    Start-time fair queuing has the fairness of self-clocked fair queueing, ``Lᵢ/wᵢ + Lⱼ/wⱼ``, on a server of
    whatever rate (Goyal, Vin and Cheng 1997, theorem 1), so that its curve holds at every node. A ceiling is a
    bucket in front of the node; children of a better priority are bounded by their ceilings, or by what leaves
    their leaves.
    """
    assert isinstance(line.discipline, TreeScheduler)
    return _descend(line, line.discipline.children, queue, queues, root)


def _descend(
    line: EgressLine,
    children: Sequence[TreeNodeSpec],
    queue: int,
    queues: Mapping[int, QueueTraffic],
    service: RateLatency,
) -> Curves | None:
    node = next((child for child in children if queue in _leaves(child)), None)
    if node is None:
        return None
    inner = _of_node(line, children, node, queues, service)
    if inner is None:
        return None
    strict = in_order = inner
    if node.ceil_bps:
        # Its children are one queue to the ceiling.
        in_order, strict = behind_own_bucket(inner, node.ceil_bps, node.burst_bytes, _all(node, queues))
    if node.queue is None:
        return _descend(line, node.children, queue, queues, strict)
    return Curves(in_order, strict, _arriving(line, node.police, queues[node.queue]))


def _of_node(
    line: EgressLine,
    siblings: Sequence[TreeNodeSpec],
    node: TreeNodeSpec,
    queues: Mapping[int, QueueTraffic],
    service: RateLatency,
) -> RateLatency | None:
    """What a node is served of its parent's ``service``, its own ceiling apart."""
    here = [child for child in siblings if any(queue in queues for queue in _leaves(child))]
    ahead = NOTHING
    for child in here:
        if _order(child) < _order(node):
            sent = _leaving(line, siblings, child, queues, service)
            if sent is None:
                return None
            ahead += sent
    others = [child for child in here if _order(child) != _order(node)]
    # A packet of theirs may be under way: one after the node's, or one whose bucket let it go before.
    blocking = max((_all(child, queues).largest for child in others), default=Fraction(0))
    left = strict_priority(service, ahead, blocking)
    if left is None:
        return None
    equal = [child for child in here if _order(child) == _order(node)]
    traffic = [_all(child, queues) for child in equal]
    at = next(place for place, child in enumerate(equal) if child is node)
    weights = [
        Fraction(child.weight or child.rate_bps or 1) * (each.lean if place == at else each.ratio)
        for place, (child, each) in enumerate(zip(equal, traffic, strict=True))
    ]
    return weighted_fair(left, weights, [each.largest for each in traffic], at)


def _leaving(
    line: EgressLine,
    siblings: Sequence[TreeNodeSpec],
    node: TreeNodeSpec,
    queues: Mapping[int, QueueTraffic],
    service: RateLatency,
) -> TokenBucket | None:
    """What a node sends in any time: no more than its ceiling, or what came in that time and its delay before."""
    if node.ceil_bps:
        return leaves_bucket(node.ceil_bps, node.burst_bytes, _all(node, queues))
    total = NOTHING
    for queue in _leaves(node):
        if queue not in queues:
            continue
        curves = _descend(line, siblings, queue, queues, service)
        if curves is None or curves.arrivals is None or queue in line.fair:
            return None
        delay = delay_bound(curves.arrivals, curves.in_order)
        if delay is None:
            return None
        total += TokenBucket(curves.arrivals.burst + curves.arrivals.rate * delay, curves.arrivals.rate)
    return total


def _arriving(line: EgressLine, police: ShapeSpec | None, traffic: QueueTraffic) -> TokenBucket | None:
    return traffic.arrivals if police is None else admitted(police, traffic, line)


def _order(node: TreeNodeSpec) -> int:
    return _LAST if node.priority is None else node.priority


def _leaves(node: TreeNodeSpec) -> Iterator[int]:
    if node.queue is not None:
        yield node.queue
    for child in node.children:
        yield from _leaves(child)


def _all(node: TreeNodeSpec, queues: Mapping[int, QueueTraffic]) -> QueueTraffic:
    found = [queues[queue] for queue in _leaves(node) if queue in queues]
    total = found[0]
    for each in found[1:]:
        total = together(total, each)
    return total


def htb_curves(
    line: EgressLine, queue: int, queues: Mapping[int, QueueTraffic], whole: RateLatency
) -> Curves | None:
    """The curves of a leaf of a hierarchical token bucket: its own rate, whatever it may borrow.

    While a leaf is within its rate only those compete that are within theirs, of whatever priority and quantum; the
    ceilings above it do not count.
    """
    assert isinstance(line.discipline, HtbScheduler)
    leaves = {leaf.queue: leaf for leaf in line.discipline.classes if leaf.queue is not None}
    own, traffic = leaves[queue], queues[queue]
    others = sum((_within_rate(leaves[n], each) for n, each in queues.items() if n != queue), NOTHING)
    ceiling, ceiling_burst = own.ceil_bps or own.rate_bps, own.cburst_bytes
    rate, burst = own.rate_bps, own.burst_bytes
    # A ceiling like the rate is in debt only when that is.
    apart = (ceiling, ceiling_burst) != (rate, burst)
    inner = guaranteed_by_rate(
        whole,
        others,
        max(each.largest for each in queues.values()),
        (traffic.smallest, traffic.largest),
        bucket_of(ceiling, 0, traffic)[0] if apart else None,
    )
    if inner is None:
        return None
    return Curves(*behind_own_bucket(inner, rate, burst, traffic), traffic.arrivals)


def _within_rate(leaf: HtbClassSpec, traffic: QueueTraffic) -> TokenBucket:
    return leaves_bucket(leaf.rate_bps, leaf.burst_bytes, traffic)
