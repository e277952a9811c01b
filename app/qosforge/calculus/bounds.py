"""Delay and backlog bounds of packet schedulers by network calculus.

What arrives is bounded by a token bucket, what a scheduler gives by rate-latency curves that hold in any busy
period (strict service curves), so that one may be the server of the next: a link, what priority leaves of it, a
class's part of that, a part of the class. Times are seconds, amounts bits, rates bits per second; everything is a
fraction and exact. Delay counts from arrival in the queue to the end of transmission.

Sources: Le Boudec and Thiran, Network Calculus (LNCS 2050), chapters 1 and 2; Cruz 1991; Bouillard, Boyer and Le
Corronc, Deterministic Network Calculus (2018), chapters 5 to 8.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

Number = int | Fraction


@dataclass(frozen=True, slots=True)
class TokenBucket:
    """Arrival curve ``burst + rate·t``: what comes in any time ``t``, whole packets arriving at once."""

    burst: Fraction
    rate: Fraction

    @classmethod
    def of(cls, burst: Number, rate: Number) -> TokenBucket:
        """A bucket of ``burst`` bits filled at ``rate``.

        Raises:
            ValueError: one of them is negative.
        """
        if burst < 0 or rate < 0:
            raise ValueError(f"a token bucket of {burst} bits at {rate} b/s: give 0 or more")
        return cls(Fraction(burst), Fraction(rate))

    def __add__(self, other: TokenBucket) -> TokenBucket:
        """Both streams together."""
        return TokenBucket(self.burst + other.burst, self.rate + other.rate)


NOTHING = TokenBucket(Fraction(0), Fraction(0))
"""The arrival curve of a silent class."""


@dataclass(frozen=True, slots=True)
class RateLatency:
    """Service curve ``rate·(t − latency)``, nothing before ``latency``: the least that a busy class is served."""

    rate: Fraction
    latency: Fraction

    @classmethod
    def of(cls, rate: Number, latency: Number = 0) -> RateLatency:
        """A server of ``rate`` after ``latency`` seconds.

        Raises:
            ValueError: the rate is not above 0, or the latency below it.
        """
        if rate <= 0 or latency < 0:
            raise ValueError(
                f"a server of {rate} b/s after {latency} s: give a rate above 0 and a latency of 0 or more"
            )
        return cls(Fraction(rate), Fraction(latency))


def delay_bound(arrivals: TokenBucket, service: RateLatency) -> Fraction | None:
    """Largest delay, the horizontal deviation ``T + σ/R`` (Le Boudec and Thiran, theorem 1.4.2); None: none."""
    return service.latency + arrivals.burst / service.rate if arrivals.rate <= service.rate else None


def backlog_bound(arrivals: TokenBucket, service: RateLatency) -> Fraction | None:
    """Largest backlog in bits, the vertical deviation ``σ + ρT`` (theorem 1.4.1); None: unbounded."""
    return arrivals.burst + arrivals.rate * service.latency if arrivals.rate <= service.rate else None


def departures(arrivals: TokenBucket, service: RateLatency) -> TokenBucket | None:
    """Arrival curve at the next hop, ``α ⊘ β`` (theorem 1.4.3); None: unbounded."""
    backlog = backlog_bound(arrivals, service)
    return None if backlog is None else TokenBucket(backlog, arrivals.rate)


def full_queue_delay(limit: Number, service: RateLatency) -> Fraction:
    """Largest delay of a packet that a drop-tail queue of ``limit`` bits takes, whatever arrives.

    The backlog on its arrival, itself included, is at most the limit, and a strict service curve clears it in
    ``T + limit/R``.
    """
    return service.latency + Fraction(limit) / service.rate


def concatenation(services: Sequence[RateLatency], packet: Number) -> RateLatency:
    """One server for a path of store-and-forward hops: ``β₁ ⊗ β₂ ⊗ …``, so that a burst is paid once.

    Latencies add, the least rate holds (Le Boudec and Thiran, section 1.4.3). Every hop but the last hands on whole
    packets: a packetiser, which takes ``packet`` bits off its curve (theorem 1.7.1).

    Raises:
        ValueError: there is no hop.
    """
    if not services:
        raise ValueError("a path without a hop: give at least one server")
    whole = sum((Fraction(packet) / service.rate for service in services[:-1]), Fraction(0))
    latency = sum((service.latency for service in services), whole)
    return RateLatency(min(service.rate for service in services), latency)


def held_back(service: RateLatency, blocking: Number) -> RateLatency:
    """Service behind ``blocking`` bits that nothing overtakes: the frame on the wire, those of a transmit FIFO."""
    return RateLatency(service.rate, service.latency + Fraction(blocking) / service.rate)


def strict_priority(service: RateLatency, above: TokenBucket, largest_below: Number) -> RateLatency | None:
    """What a class of a non-preemptive strict order is served; None where those above it may take everything.

    ``above`` is what those served before it send, ``largest_below`` the bits of the largest packet of those after
    it (Le Boudec and Thiran, proposition 1.3.4): rate ``R − ρ``, latency ``(RT + σ + L)/(R − ρ)``.
    """
    rate = service.rate - above.rate
    if rate <= 0:
        return None
    return RateLatency(rate, (service.rate * service.latency + above.burst + largest_below) / rate)


def weighted_fair(
    service: RateLatency, weights: Sequence[Number], packets: Sequence[Number], chosen: int
) -> RateLatency:
    """Service of one class of self-clocked fair queueing (IOS CBWFQ, and the flows of its WFQ).

    Between two backlogged classes the service per weight differs by at most ``Lᵢ/wᵢ + Lⱼ/wⱼ`` (Golestani 1994),
    ``packets`` being the largest of each class in bits; summed over the others this gives rate ``wᵢR/W`` and
    latency ``T + ((W − wᵢ)Lᵢ/wᵢ + Σⱼ Lⱼ)/R``. WFQ that follows the fluid system exactly is never worse.
    """
    own, others = _checked(weights, packets, chosen)
    total = sum(map(Fraction, weights), Fraction(0))
    wait = (total - own) * packets[chosen] / own + sum(packets[i] for i in others)
    return _part(service, own / total, wait)


def deficit_round_robin(
    service: RateLatency, quanta: Sequence[Number], packets: Sequence[Number], chosen: int
) -> RateLatency:
    """Service of one class of deficit round robin (Shreedhar and Varghese 1996), ``quanta`` in bits per turn.

    Rate ``QᵢR/F`` and latency ``T + ((F − Qᵢ)(1 + Lᵢ/Qᵢ) + Σⱼ Lⱼ)/R``, ``F`` being the sum of the quanta and ``L``
    the largest packets (Boyer, Stea and Sofack 2012; tighter than Stiliadis and Varma 1998, ``(3F − 2Qᵢ)/R``,
    where quanta are above the packets).
    """
    own, others = _checked(quanta, packets, chosen)
    total = sum(map(Fraction, quanta), Fraction(0))
    wait = (total - own) * (1 + packets[chosen] / own) + sum(packets[i] for i in others)
    return _part(service, own / total, wait)


def weighted_round_robin(
    service: RateLatency,
    weights: Sequence[Number],
    packets: Sequence[Number],
    smallest: Number,
    chosen: int,
) -> RateLatency:
    """Service of one class of round robin by packets: ``weights`` packets per turn.

    A turn gives the class ``qᵢ = wᵢ·lᵢ`` bits, ``smallest`` being its smallest packet, and the others together at
    most ``O = Σ wⱼLⱼ``; ``k`` turns of it lie between ``k + 1`` of theirs: rate ``qᵢR/(qᵢ + O)``, latency
    ``T + O/R`` (a latency-rate server of Stiliadis and Varma 1998; Bouillard et al., chapter 8).
    """
    own, others = _checked(weights, packets, chosen)
    turn = own * smallest
    if turn <= 0:
        raise ValueError(f"smallest packet of {smallest} bits: give one above 0")
    rest = sum((Fraction(weights[i]) * packets[i] for i in others), Fraction(0))
    return _part(service, turn / (turn + rest), rest)


def leaking_priority(
    service: RateLatency, packets: int, out_of: int, smallest: Number, below: Number
) -> RateLatency:
    """Service of the first level where ``packets`` of ``out_of`` turns go to those after it.

    Of ``N`` turns at most ``N·p/o + 1`` leak, so ``k`` packets of the level, of ``smallest`` bits or more, meet
    ``(kp + o)/(o − p)`` of ``below`` bits or fewer, and one on the wire before.

    Raises:
        ValueError: every turn leaks, or a packet has no bits.
    """
    if not 0 <= packets < out_of or smallest <= 0:
        raise ValueError(
            f"{packets} of {out_of} turns leak, packets of {smallest} bits: give fewer turns, more bits"
        )
    least, kept = Fraction(smallest), Fraction(out_of - packets)
    rate = service.rate * least / (least + packets * below / kept)
    return RateLatency(rate, service.latency + 2 * out_of * below / kept / service.rate)


def policed(burst: Number, rate: Number, packet: Number, unmetered: int = 1) -> TokenBucket:
    """Arrival curve behind a policer of ``burst`` bits and ``rate``.

    An LLQ's spends no tokens on a packet that finds room in the hardware: ``unmetered`` packets, those that the
    transmit FIFO takes, come on top of its burst in any busy period.
    """
    return TokenBucket.of(burst + Fraction(packet) * unmetered, rate)


def shaped(service: RateLatency, rate: Number, burst: Number, packet: Number) -> RateLatency:
    """Service of a class that a token bucket shapes: no more than its rate, whoever else is silent.

    A greedy shaper whose bucket holds a whole ``packet`` adds no latency to what is offered at its rate; one whose
    bucket does not waits for it to fill (Le Boudec and Thiran, sections 1.5 and 1.7).
    """
    limit = RateLatency.of(rate)
    missing = max(Fraction(packet) - burst, Fraction(0))
    return RateLatency(min(service.rate, limit.rate), service.latency + missing / limit.rate)


def _part(service: RateLatency, share: Fraction, wait: Number) -> RateLatency:
    return RateLatency(service.rate * share, service.latency + Fraction(wait) / service.rate)


def _checked(weights: Sequence[Number], packets: Sequence[Number], chosen: int) -> tuple[Fraction, list[int]]:
    """The chosen class's weight, and the positions of the others.

    Raises:
        ValueError: a weight is not above 0, or there is not one packet size for each.
    """
    if len(weights) != len(packets):
        raise ValueError(
            f"{len(weights)} weights and {len(packets)} packet sizes: give one of each for every class"
        )
    for position, weight in enumerate(weights):
        if weight <= 0:
            raise ValueError(f"weight {weight} of class {position}: give one above 0")
    return Fraction(weights[chosen]), [i for i in range(len(weights)) if i != chosen]
