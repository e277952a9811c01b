"""Random early detection: what ``tc`` makes of the words of a ``red`` queue, and the words that a queue had.

The kernel is told the weight of its average as an exponent, and a table for idle times. ``tc`` reckons the first
from ``min``, ``avpkt`` and ``burst`` (``tc_red_eval_ewma`` in iproute2's tc/tc_red.c, after section 6 of Floyd and
Jacobson, "Random Early Detection Gateways for Congestion Avoidance", 1993), and the second from ``avpkt`` and
``bandwidth`` (``tc_red_eval_idle_damping``). It shows the exponent and how coarse the table is, and none of these
words. So one choice of them stands for each exponent.
"""

from __future__ import annotations

import math
from functools import cache

PACKET_BYTES = 1000
"""``avpkt``, where the lower threshold is above it: tc-red(8) calls it a good value."""
LEAST_PROBABILITY = 10_000
"""Packets of which one is dropped at least: of more, ``tc`` shows too few digits."""
MOST_WEIGHT = 16
FIXED_POINT_BITS = 31
"""Bits of a threshold and of the weight's exponent together (``red_check_params`` in include/net/red.h)."""
_HIGHEST_PROBABILITY = "0.99999"
"""A probability of 1 is 2^32, which the 32 bits that it is sent in do not hold (``max_P`` in tc/q_red.c)."""
_MOST_BANDWIDTH = 32_000_000_000
"""Bits per second: ``bandwidth`` is sent in 32 bits of bytes."""
_TICKS = 15_625_000
"""Ticks of the kernel's packet scheduler in a second (/proc/net/psched: 64 ns each)."""
_QUOTIENTS = (1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64)
"""``min`` in packets of ``avpkt`` that are tried: small ones make an average quick, large ones slow."""
_MOST_BURST = 100_000
"""Packets above ``min`` that are tried."""


def weight_of(minimum: int, burst: int, packet_bytes: int) -> int | None:
    """The exponent n of the average's weight 2^-n that ``tc`` reckons; None where it refuses the words."""
    need = burst + 1 - minimum / packet_bytes
    if need < 1:
        return None
    weight = 0.5
    for exponent in range(1, 32):
        if need <= (1 - (1 - weight) ** burst) / weight:
            return exponent
        weight /= 2
    return None


def usual_packet(minimum: int) -> int:
    """``avpkt`` of a queue whose lower threshold is so many bytes: that has to be more than one packet."""
    return max(min(PACKET_BYTES, minimum * 2 // 3), 1)


def usual_burst(minimum: int, maximum: int) -> int:
    """``burst`` of tc-red(8): (min + min + max) / (3 * avpkt), which has to be above min / avpkt.

    Whole numbers of both can be below that where the thresholds are less than three packets apart.
    """
    packet = usual_packet(minimum)
    return max((2 * minimum + maximum) // (3 * packet), -(-minimum // packet))


def usual_weight(minimum: int, maximum: int) -> int:
    """The exponent that ``tc`` reckons from what tc-red(8) advises for these thresholds (bytes).

    Where ``tc`` refuses that, or the kernel has no room for it, it is the greatest that the kernel has room for.
    """
    advised = weight_of(minimum, usual_burst(minimum, maximum), usual_packet(minimum))
    return min(advised or MOST_WEIGHT, FIXED_POINT_BITS - maximum.bit_length(), MOST_WEIGHT)


@cache
def average_words(minimum: int, maximum: int, weight: int) -> tuple[int, int] | None:
    """``avpkt`` and ``burst`` that give an average this weight's exponent; None where none do."""
    packet, burst = usual_packet(minimum), usual_burst(minimum, maximum)
    if weight_of(minimum, burst, packet) == weight:
        return packet, burst
    for packet in packets_tried(minimum)[1:]:
        found = burst_for(minimum, packet, weight)
        if found is not None:
            return packet, found
    return None


def packets_tried(minimum: int) -> tuple[int, ...]:
    """The ``avpkt`` that are tried for a lower threshold (bytes), the usual one first."""
    return (usual_packet(minimum), *(max(int(minimum / quotient), 1) for quotient in _QUOTIENTS))


def burst_for(minimum: int, packet: int, weight: int) -> int | None:
    """The least ``burst`` that gives an average this weight's exponent; None where none does."""
    burst = _least_burst(minimum, packet, weight)
    return burst if weight_of(minimum, burst, packet) == weight else None


def _least_burst(minimum: int, packet: int, weight: int) -> int:
    """The least burst that takes an exponent of at least ``weight``; they grow together."""
    low, high = minimum // packet + 1, minimum // packet + _MOST_BURST
    while low < high:
        middle = (low + high) // 2
        found = weight_of(minimum, middle, packet)
        low, high = (low, middle) if found is None or found >= weight else (middle + 1, high)
    return low


def cell(weight: int, packet_bytes: int, rate: int) -> int:
    """How coarse the table of idle times is (``Scell_log``), for a bandwidth of ``rate`` bits per second."""
    ticks = int(int(1e6 * packet_bytes / (min(rate, _MOST_BANDWIDTH) // 8)) * _TICKS / 1e6)
    longest = 31 * ticks / -math.log(1 - 0.5**weight)
    return next((log for log in range(32) if longest / (1 << log) < 512), 31)


def red_words(
    *, limit: int, minimum: int, maximum: int, weight: int, denominator: int, ecn: bool, rate: int
) -> str:
    """The words of a queue: sizes in bytes, a probability of one in ``denominator``, ``rate`` in bits per second.

    Raises:
        ValueError: no words give an average this weight.
    """
    average = average_words(minimum, maximum, weight)
    if average is None:
        raise ValueError(f"no average of weight 2^-{weight} begins at {minimum} bytes")
    packet, burst = average
    words = f"red limit {limit}b min {minimum}b max {maximum}b avpkt {packet}b burst {burst}"
    chance = chance_words(denominator)
    return f"{words} probability {chance} bandwidth {held_bandwidth(rate)}bit{' ecn' if ecn else ''}"


def chance_words(denominator: int) -> str:
    """A probability of one packet in ``denominator``."""
    return f"{1 / denominator:.6g}" if denominator > 1 else _HIGHEST_PROBABILITY


def held_bandwidth(rate: int) -> int:
    """The ``bandwidth`` of a class that sends ``rate`` bits per second."""
    return min(rate, _MOST_BANDWIDTH)


def denominator_of(probability: float) -> int | None:
    """The packets of which a probability drops one; None where it is no part of a whole number of them."""
    if probability == float(_HIGHEST_PROBABILITY):
        return 1
    found = round(1 / probability) if probability > 0 else 0
    known = 1 < found <= LEAST_PROBABILITY and math.isclose(probability, float(f"{1 / found:.6g}"), rel_tol=1e-5)
    return found if known else None
