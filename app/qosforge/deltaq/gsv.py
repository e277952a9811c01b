"""What delay is made of: G + S + V (Broadband Forum TR-452.1).

The least delays of packets of several sizes lie on a line. **G** is its height at size 0, what distance and
processing take of any packet; **S** its slope, what every further byte takes on all links together; **V** what a
packet waited beyond the line, and its loss. G and S change with the path, V with the load.

A finite sample need not hold a packet of each size that waited for nobody. The line is therefore the highest one
below all least delays, on average over the sizes: an edge of their lower convex hull. Neither G nor S is negative.

How far the least delay of a size may lie above that of a packet that waits for nobody follows from how near the
second least lies, of independent replications (:func:`least_without_waiting`); all lines that fit give an interval
of G (:func:`g_interval_ps`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from qosforge.deltaq.distribution import DeltaQ, mixture

PS_PER_SECOND = 10**12
"""Picoseconds in a second."""


@dataclass(frozen=True, slots=True)
class Decomposition:
    """ΔQ over packet sizes, taken apart.

    ``g_ps`` is in picoseconds, ``s_ps_per_byte`` in picoseconds a byte, both exact; ``variable`` holds V by size in
    bytes. A size adds up again by :meth:`total`.
    """

    g_ps: Fraction
    s_ps_per_byte: Fraction
    variable: dict[int, DeltaQ]

    @property
    def rate_bps(self) -> float:
        """Rate in bits per second of one link with this S; of several, 1 over the sum of 1 over their rates.

        ``math.inf`` where size makes no difference.
        """
        return 8 * PS_PER_SECOND / float(self.s_ps_per_byte) if self.s_ps_per_byte else math.inf

    def fixed_ps(self, size: int) -> int:
        """G + S of a packet of ``size`` bytes, in whole picoseconds."""
        return math.floor(self.g_ps + self.s_ps_per_byte * size)

    def total(self, size: int, variable: DeltaQ | None = None) -> DeltaQ:
        """ΔQ of packets of ``size`` bytes: G + S and V convolved.

        ``variable`` stands in for the measured V, as it must for a size that was not measured: ``KeyError`` else.
        """
        return (self.variable[size] if variable is None else variable).shift(self.fixed_ps(size))

    def pool(self, packets: Mapping[int, int]) -> DeltaQ:
        """V of all sizes together, each as often as ``packets`` by size; ``ValueError`` when those are none."""
        sent = sum(packets.values())
        if sent < 1:
            raise ValueError("no packet of any size: give how many of each were sent")
        return mixture([(count / sent, self.variable[size]) for size, count in packets.items()])


def decompose(by_size: Mapping[int, DeltaQ]) -> Decomposition:
    """Split ΔQ by packet size in bytes into G, S and V.

    Sizes must be of one layer; S is then that layer's, and G holds the overhead of the layers below. A size of
    which nothing arrived has no part in the line. Raises ``ValueError`` unless packets of two sizes arrived.
    """
    if any(size < 1 for size in by_size):
        raise ValueError(f"a packet has at least one byte: sizes {sorted(by_size)}")
    least = sorted((size, int(part.delays_ps[0])) for size, part in by_size.items() if part.delays_ps.size)
    if len(least) < 2:
        seen = f"packets of {least[0][0]} bytes alone" if least else "no packets"
        raise ValueError(
            f"{seen} arrived, and one size cannot tell distance from serialisation: send two or more sizes"
        )
    slope = _slope(least)
    intercept = min(delay - slope * size for size, delay in least)
    line = Decomposition(intercept, slope, {})
    variable = {size: part.shift(-line.fixed_ps(size)) for size, part in by_size.items()}
    return Decomposition(intercept, slope, variable)


def least_without_waiting(least: float, second: float, hops: int, error: float) -> float:
    """The lower limit of the delay without waiting, from the two least of independent delays.

    Waiting at one hop has a density where it begins, or packets that do not wait at all; a sum over hops begins as
    the power ``hops - 1``. The ratio of what the least and the second least exceed the end by, to the power
    ``hops``, is then uniform (de Haan, "Estimation of the minimum of a function using order statistics", Journal of
    the American Statistical Association 76, 1981; for one hop Robson and Whitlock, "Estimation of a truncation
    point", Biometrika 51, 1964). ``error`` is how often the limit lies too high; it is never below 0.

    Raises:
        ValueError: the second is less than the least, there is no hop, or the error is no probability.
    """
    if not 0 <= least <= second or hops < 1 or not 0 < error < 1:
        raise ValueError(f"no limit from {least} and {second} over {hops} hops at an error of {error}")
    ratio: float = (1 - error) ** (1 / hops)
    return max(0.0, least - (second - least) * ratio / (1 - ratio))


def g_interval_ps(ranges: Mapping[int, tuple[float, float]]) -> tuple[float, float] | None:
    """Limits of G in ps over all lines of G and S, neither negative, that meet the range of each size in bytes.

    ``None`` where no line does, to the picosecond: size does not act alone, as where packets go in ATM cells.
    Raises ``ValueError`` for fewer than two sizes.
    """
    sizes = sorted(ranges)
    if len(sizes) < 2:
        raise ValueError("one size cannot tell distance from serialisation: give two or more")
    flattest, steepest = 0.0, min(ranges[size][1] / size for size in sizes)
    for first, one in enumerate(sizes):
        for other in sizes[first + 1 :]:
            flattest = max(flattest, (ranges[other][0] - ranges[one][1] - 1) / (other - one))
            steepest = min(steepest, (ranges[other][1] - ranges[one][0] + 1) / (other - one))
    if flattest > steepest:
        return None
    low = max(0.0, *(ranges[size][0] - steepest * size for size in sizes))
    return low, min(ranges[size][1] - flattest * size for size in sizes)


def lower_hull(least: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Those of the points ``(size, delay)``, given by rising size, on which a line below all of them can lie."""
    hull: list[tuple[int, int]] = []
    for size, delay in least:
        while len(hull) > 1 and _falls(hull[-2], hull[-1], (size, delay)):
            hull.pop()
        hull.append((size, delay))
    return hull


def _slope(least: list[tuple[int, int]]) -> Fraction:
    """Slope of the highest line below all points ``(size, delay)``, on average over their sizes.

    Its height there is a concave function of the slope, so what keeps G and S from falling below zero only cuts
    off the ends.
    """
    hull = lower_hull(least)
    middle = Fraction(sum(size for size, _ in least), len(least))
    edge = next(position for position in range(1, len(hull)) if hull[position][0] >= middle)
    (low, lower), (high, upper) = hull[edge - 1 : edge + 1]
    steepest = min(Fraction(delay, size) for size, delay in least)
    return max(Fraction(0), min(Fraction(upper - lower, high - low), steepest))


def _falls(first: tuple[int, int], second: tuple[int, int], third: tuple[int, int]) -> bool:
    """Whether the second point lies on or above the line from the first to the third."""
    rise, run = second[1] - first[1], second[0] - first[0]
    return rise * (third[0] - first[0]) >= (third[1] - first[1]) * run
