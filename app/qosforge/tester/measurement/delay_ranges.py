"""Ranges of the delays of the packets that arrived, and of the statistics they allow.

Packets that were looked at are known exactly, those between them lie somewhere from the smallest to the largest
delay, those of a histogram within their bin. No statistics: a figure lies outside only where no delays within the
ranges have it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

Limits = tuple[float, float]
"""The least and the most that a figure can be."""

_STEPS = 100
"""Of the search for the centre that the ranges can be nearest to: each leaves two thirds."""


@dataclass(frozen=True, slots=True)
class DelayRanges:
    """``count`` packets each with delays from ``low`` to ``high`` ps; at least one packet in all."""

    low: Floats
    high: Floats
    count: Floats

    @classmethod
    def of_samples(cls, delays: Sequence[int], others: int, most_ps: int) -> DelayRanges:
        """Packets with these delays, and so many others of which it is known that none took longer than that."""
        known = np.array(delays, dtype=np.float64)
        low, high, count = known, known, np.ones(known.size)
        if others:
            low, high, count = np.append(low, 0.0), np.append(high, float(most_ps)), np.append(count, float(others))
        return cls(low, high, count)

    @classmethod
    def of_histogram(cls, bins: Sequence[tuple[int, int]]) -> DelayRanges:
        """Packets of ``(upper edge, packets)`` with ascending edges."""
        edges, counts = np.array(bins, dtype=np.float64).T
        lower = np.concatenate(([0.0], edges[:-1]))
        held = counts > 0
        return cls(lower[held], edges[held], counts[held])

    @property
    def packets(self) -> float:
        """Packets in all."""
        return float(self.count.sum())

    def within(self, least: float | None, most: float | None) -> DelayRanges:
        """The same where no delay is below or above these; ``None`` for one that is not known."""
        low, high = (np.clip(each, least, most) if (least, most) != (None, None) else each for each in self._ends())
        return replace(self, low=low, high=high)

    def smallest(self) -> Limits:
        """What the smallest delay can be."""
        return float(self.low.min()), float(self.high.min())

    def largest(self) -> Limits:
        """What the largest delay can be."""
        return float(self.low.max()), float(self.high.max())

    def mean(self) -> Limits:
        """What the mean can be."""
        low, high = (float((each * self.count).sum()) / self.packets for each in self._ends())
        return low, high

    def deviation(self) -> Limits:
        """What the standard deviation can be, with n or n − 1 below the line."""
        known = self.low == self.high
        least = self._scatter(known) if known.any() else self._nearest()
        centre = float(((self.low + self.high) / 2 * self.count).sum()) / self.packets
        farthest = np.maximum(np.abs(self.low - centre), np.abs(self.high - centre))
        most = float((farthest**2 * self.count).sum())
        return math.sqrt(least / self.packets), math.sqrt(most / max(1.0, self.packets - 1))

    def quantile(self, probability: float, sent: int) -> Limits:
        """What a quantile of all packets ``sent`` can be, by any of the usual definitions (Hyndman and Fan, 1996);
        lost packets lie at infinity."""
        place = probability * sent
        first, last = max(1, math.floor(place - 0.5)), min(sent, math.ceil(place + 1))
        return self._ranked(self.low, first), self._ranked(self.high, last)

    def _ends(self) -> tuple[Floats, Floats]:
        return self.low, self.high

    def _ranked(self, ends: Floats, rank: int) -> float:
        order = np.argsort(ends, kind="stable")
        place = int(np.searchsorted(np.cumsum(self.count[order]), rank))
        return float(ends[order][place]) if place < ends.size else math.inf

    def _scatter(self, chosen: NDArray[np.bool_]) -> float:
        """Sum of the squared distances of chosen packets, whose delays are known, from their own mean."""
        delays, count = self.low[chosen], self.count[chosen]
        mean = float((delays * count).sum() / count.sum())
        return float(((delays - mean) ** 2 * count).sum())

    def _nearest(self) -> float:
        """The least sum of squared distances from one centre: a convex function of it, searched by thirds."""

        def away(centre: float) -> float:
            distance = np.maximum(0.0, np.maximum(self.low - centre, centre - self.high))
            return float((distance**2 * self.count).sum())

        first, last = self.smallest()[0], self.largest()[1]
        for _ in range(_STEPS):
            third = (last - first) / 3
            if away(first + third) <= away(last - third):
                last -= third
            else:
                first += third
        return away((first + last) / 2)
