"""Delay bounds behind token buckets, and of queues whose order of service is not known.

Units and terms are those of :mod:`qosforge.calculus.bounds`. A bucket here lets a packet begin while it is not in
debt, so that a packet may be larger than its burst; what it earns while a packet waits for the server it keeps up
to its burst. Sources: Le Boudec and Thiran, Network Calculus (LNCS 2050), sections 1.5 (greedy shapers), 1.7
(packets) and 6.2 (arbitrary multiplexing); Stiliadis and Varma 1998 (latency-rate servers).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from qosforge.calculus.bounds import Number, RateLatency, TokenBucket, deficit_round_robin


def bucket_departures(rate: Number, burst: Number, packet: Number) -> TokenBucket:
    """What begins to be sent through a bucket: the last packet, of ``packet`` bits at most, may overdraw it."""
    return TokenBucket.of(Fraction(burst) + packet, rate)


def behind_bucket(
    service: RateLatency, rate: Number, burst: Number, sizes: tuple[Number, Number], spread: Number = 1
) -> RateLatency:
    """Service of a queue in order of arrival whose head competes only while its bucket is not in debt.

    ``service`` is a strict curve of the queue while it competes, ``sizes`` its smallest and largest packets. A
    virtual line of the lesser rate begins a packet when it came and the one before is through; the head is out
    ``T + L/R`` after that at the latest, by induction over the packets, since all that competed in between began
    there no earlier. If that is more than the bucket's burst makes good, every packet loses the difference.
    ``spread`` is how much more line time than another a bit that the bucket counts may take.
    """
    smallest, largest = map(Fraction, sizes)
    slowest = min(Fraction(rate), service.rate / spread)
    lost = max(service.latency + largest / service.rate - Fraction(burst) / rate, Fraction(0))
    return RateLatency.of(smallest / (smallest / slowest + lost), service.latency)


def bucket_server(
    service: RateLatency, rate: Number, burst: Number, sizes: tuple[Number, Number], spread: Number = 1
) -> RateLatency:
    """The same as a strict service curve, for a class that divides it further or does not keep the order.

    Its busy period may begin with a bucket that one packet has overdrawn, and counts whole packets.
    """
    behind = behind_bucket(service, rate, burst, sizes, spread)
    largest = Fraction(sizes[1])
    return RateLatency(behind.rate, behind.latency + largest / rate + largest / behind.rate)


def busy_period(arrivals: TokenBucket, service: RateLatency) -> Fraction | None:
    """Longest busy period, ``(σ + RT)/(R − ρ)``: the largest delay in whatever order packets are served."""
    if arrivals.rate >= service.rate:
        return None
    return (arrivals.burst + service.rate * service.latency) / (service.rate - arrivals.rate)


def blocks_round_robin(
    service: RateLatency,
    weights: Sequence[Number],
    costs: Sequence[Number],
    gained: Sequence[Number],
    chosen: int,
) -> RateLatency:
    """Service of one class of deficit round robin that counts begun blocks: ``weights`` blocks a turn.

    ``costs`` are the blocks of each class's dearest packet, ``gained`` the bits that a block stands for: the fewest
    of the chosen class, the most of the others. In blocks it is deficit round robin.
    """
    quanta = [Fraction(weight) * bits for weight, bits in zip(weights, gained, strict=True)]
    packets = [Fraction(cost) * bits for cost, bits in zip(costs, gained, strict=True)]
    return deficit_round_robin(service, quanta, packets, chosen)


def guaranteed_by_rate(
    service: RateLatency,
    others: TokenBucket,
    blocking: Number,
    sizes: tuple[Number, Number],
    ceiling: Number | None = None,
) -> RateLatency | None:
    """Strict service of a class of a hierarchical token bucket while it is within its own rate; None: none.

    ``others`` is what the other classes may send within theirs, all of which may go first; who borrows comes after,
    one packet of ``blocking`` bits being under way. A ceiling holds the class back after each packet, and a packet
    may slip in then: a packet of ``L`` bits takes ``L/R + L/ceiling + blocking/R``.
    """
    left = service.rate - others.rate
    if left <= 0:
        return None
    latency = (service.rate * service.latency + others.burst + blocking) / left
    if ceiling is None:
        return RateLatency(left, latency)
    least, largest = map(Fraction, sizes)
    held = largest / ceiling
    each = least + service.rate * least / ceiling + blocking
    # Time is counted to the end of whole packets, the first of which may wait for the ceiling.
    rate = left * least / each
    return RateLatency(rate, latency + held * service.rate / left)
