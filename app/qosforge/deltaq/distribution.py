"""ΔQ as an improper distribution of one-way delay.

A packet either arrives after some delay or it never does. Both are one outcome of the same experiment, so
the distribution function climbs to ``1 - loss`` and stops there: loss is probability mass at infinite delay.
Lost packets are never dropped from the sample.

Delays are integer picoseconds (``_ps``), so that sums of delays, and with them the laws of the algebra, hold
exactly on the support; masses are floats that sum to at most 1 within ``MASS_TOLERANCE``.

The algebra (sequential composition by convolution, probabilistic choice by mixture, the order "delivers at
least as much by every deadline", and what :mod:`qosforge.deltaq.composition` adds) is the one of the Broadband
Forum's TR-452.1 and of Haeri, Thompson, Davies et al., "Mind Your Outcomes", Computers 11(3), 2022.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

LOST = -1
"""The delay of a packet that never arrived, in samples."""

MASS_TOLERANCE = 1e-9
"""Rounding that a sum of masses may carry; far below one packet of any measurement held here."""

MAX_PAIRS = 4_000_000
"""Largest intermediate result of a convolution: 64 MB of delays and masses."""

Order = Literal["less", "greater", "equal", "incomparable"]
"""How much quality one ΔQ attenuates beside another: less is better."""

Delays: TypeAlias = NDArray[np.int64]
Masses: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class DeltaQ:
    """A discrete improper distribution: atoms at ``delays_ps`` (strictly rising) with ``masses`` (positive).

    Build one with :meth:`from_delays`, :meth:`from_histogram`, :meth:`identity` or :meth:`lost`; the plain
    constructor checks its arguments and raises ``ValueError``.
    """

    delays_ps: Delays
    masses: Masses

    def __post_init__(self) -> None:
        """Refuse what is not an improper distribution, and freeze the arrays."""
        if self.delays_ps.ndim != 1 or self.delays_ps.shape != self.masses.shape:
            raise ValueError("delays and masses must be two vectors of the same length")
        if self.delays_ps.size and (self.delays_ps[0] < 0 or np.any(np.diff(self.delays_ps) <= 0)):
            raise ValueError("delays must be non-negative and strictly rising")
        if np.any(~np.isfinite(self.masses)) or np.any(self.masses <= 0):
            raise ValueError("every mass must be positive and finite")
        if float(self.masses.sum()) > 1 + MASS_TOLERANCE:
            raise ValueError(f"the masses sum to {float(self.masses.sum()):.12g}, more than 1")
        self.delays_ps.setflags(write=False)
        self.masses.setflags(write=False)

    @classmethod
    def from_delays(cls, delays_ps: Iterable[int]) -> DeltaQ:
        """Give every packet the same mass; a delay of ``LOST`` (-1) is a lost packet.

        Raises ``ValueError`` when there is no packet, or a delay is negative and not ``LOST``.
        """
        delays = np.fromiter(delays_ps, dtype=np.int64)
        if delays.size == 0:
            raise ValueError("no packet was sent: an empty sample has no distribution")
        if np.any(delays < LOST):
            raise ValueError("a delay is a non-negative number of picoseconds, or -1 for a lost packet")
        values, counts = np.unique(delays[delays != LOST], return_counts=True)
        return cls(values, counts / delays.size)

    @classmethod
    def from_histogram(cls, bins: Sequence[tuple[int, float]], lost: int) -> DeltaQ:
        """Take ``(upper edge in ps, packets)`` bins and ``lost`` packets; a bin counts as its upper edge.

        Where packets stand for others, their number may be fractional.

        The upper edge never flatters: the result delivers no packet earlier than the network did.
        Raises ``ValueError`` when there is no packet or a count is negative.
        """
        counts = np.array([count for _, count in bins], dtype=np.float64)
        total = float(counts.sum()) + lost
        if lost < 0 or np.any(counts < 0):
            raise ValueError("packet counts cannot be negative")
        if total == 0:
            raise ValueError("no packet was sent: an empty histogram has no distribution")
        edges = np.array([edge for edge, _ in bins], dtype=np.int64)
        return _gather(edges[counts > 0], counts[counts > 0] / total)

    @classmethod
    def identity(cls) -> DeltaQ:
        """Return the neutral element of convolution: everything arrives at once."""
        return cls(np.zeros(1, dtype=np.int64), np.ones(1))

    @classmethod
    def lost(cls) -> DeltaQ:
        """Return the absorbing element of convolution: nothing ever arrives."""
        return cls(np.empty(0, dtype=np.int64), np.empty(0))

    @property
    def delivered(self) -> float:
        """Probability that a packet arrives at all: the limit of the distribution function."""
        return min(1.0, float(self.masses.sum()))

    @property
    def loss(self) -> float:
        """Probability mass at infinite delay."""
        return 1.0 - self.delivered

    def cdf(self, delay_ps: float) -> float:
        """Probability that a packet arrives within ``delay_ps`` picoseconds."""
        atoms = int(np.searchsorted(self.delays_ps, delay_ps, side="right"))
        return min(1.0, float(self.masses[:atoms].sum()))

    def quantile_ps(self, probability: float) -> float:
        """Return the smallest delay within which ``probability`` of all packets arrive.

        ``math.inf`` when fewer than that ever arrive. Raises ``ValueError`` outside (0, 1].
        """
        if not 0 < probability <= 1:
            raise ValueError(f"a quantile lies in (0, 1], not {probability}")
        atom = int(np.searchsorted(np.cumsum(self.masses), probability - MASS_TOLERANCE))
        return int(self.delays_ps[atom]) if atom < self.delays_ps.size else math.inf

    def mean_delivered_ps(self) -> float:
        """Mean delay of the packets that arrive; ``math.inf`` when none does.

        The mean of the whole distribution is infinite as soon as one packet is lost: read it beside
        :attr:`loss`.
        """
        if not self.masses.size:
            return math.inf
        return float(np.average(self.delays_ps, weights=self.masses))

    def sd_delivered_ps(self) -> float:
        """Standard deviation of the delay of the packets that arrive; ``math.inf`` when none does."""
        if not self.masses.size:
            return math.inf
        # From the mean: squares of delays themselves would swallow a spread of microseconds.
        spread = np.average((self.delays_ps - self.mean_delivered_ps()) ** 2, weights=self.masses)
        return math.sqrt(float(spread))

    def given_delivery(self) -> DeltaQ:
        """Return the distribution of the packets that arrive, without loss; that of none stays :meth:`lost`."""
        return DeltaQ(self.delays_ps, self.masses / self.masses.sum()) if self.masses.size else self

    def shift(self, delay_ps: int) -> DeltaQ:
        """Add a constant delay to every packet; ``ValueError`` where that made one arrive before it was sent."""
        if self.delays_ps.size and self.delays_ps[0] + delay_ps < 0:
            raise ValueError(f"a shift by {delay_ps} ps puts a delay of {self.delays_ps[0]} ps below zero")
        return DeltaQ(self.delays_ps + delay_ps, self.masses)

    def convolve(self, other: DeltaQ) -> DeltaQ:
        """Compose in sequence: independent delays add, and a packet must survive both parts.

        Exact on the support; masses to rounding, where small parts are multiplied out, and to 10⁻¹⁵ an atom
        where large ones go through a Fourier transform. Raises ``ValueError`` when the result would pass
        ``MAX_PAIRS`` atoms: call :meth:`coarsen` on both parts first, or
        :func:`qosforge.deltaq.composition.along`, which does.
        """
        if not (self.masses.size and other.masses.size):
            return DeltaQ.lost()
        if self.masses.size * other.masses.size <= MAX_PAIRS:
            delays = np.add.outer(self.delays_ps, other.delays_ps).ravel()
            return _gather(delays, np.multiply.outer(self.masses, other.masses).ravel())
        return self._convolve_on_grid(other)

    def _convolve_on_grid(self, other: DeltaQ) -> DeltaQ:
        """Convolve two large distributions by FFT over their common grid."""
        step = lattice_ps([self, other])
        cells = sum(int(part.delays_ps[-1] - part.delays_ps[0]) for part in (self, other)) // step + 1
        if cells > MAX_PAIRS:
            raise ValueError(
                f"{cells} cells of {step} ps are more than {MAX_PAIRS}: coarsen both parts of the convolution"
            )
        return convolve_on_lattice([self, other], step)

    def coarsen(self, step_ps: int) -> DeltaQ:
        """Round every delay up to a multiple of ``step_ps``: never better than the original."""
        if step_ps < 1:
            raise ValueError(f"a step is at least 1 ps, not {step_ps}")
        return _gather(-(-self.delays_ps // step_ps) * step_ps, self.masses)

    def at_least_as_good_as(self, other: DeltaQ) -> bool:
        """Say whether this one delivers at least as much as ``other`` by every deadline.

        A partial order: of two distributions that cross, neither is at least as good.
        """
        deadlines = np.union1d(self.delays_ps, other.delays_ps)
        return bool(np.all(self.cdf_at(deadlines) >= other.cdf_at(deadlines) - MASS_TOLERANCE))

    def compare(self, other: DeltaQ) -> Order:
        """Say which of the two attenuates quality less, if either does: first-order stochastic dominance.

        Loss counts as delay without end. ``"incomparable"`` when each delivers more than the other by some
        deadline: which is better then depends on what it is for.
        """
        no_worse, no_better = self.at_least_as_good_as(other), other.at_least_as_good_as(self)
        if no_worse:
            return "equal" if no_better else "less"
        return "greater" if no_better else "incomparable"

    def cdf_at(self, delays_ps: Delays) -> Masses:
        """Evaluate the distribution function at every one of ``delays_ps`` (a vector; so is the result)."""
        below = np.concatenate(([0.0], np.cumsum(self.masses)))
        return np.asarray(below[np.searchsorted(self.delays_ps, delays_ps, side="right")])


def lattice_ps(parts: Sequence[DeltaQ]) -> int:
    """The largest step of which all that delays lie above the least one of their part are multiples; 0 if none do.

    Every part has a delay.
    """
    return int(np.gcd.reduce([np.gcd.reduce(part.delays_ps - part.delays_ps[0]) for part in parts]))


def convolve_on_lattice(parts: Sequence[DeltaQ], step_ps: int) -> DeltaQ:
    """Convolve all parts at once by FFT; their delays lie multiples of ``step_ps`` above the least ones.

    Exact on the support, masses to 10⁻¹⁵ an atom. Every part has a delay.
    """
    cells = [(part.delays_ps - part.delays_ps[0]) // step_ps for part in parts]
    size = sum(int(each[-1]) for each in cells) + 1
    fast = 1 << size.bit_length()
    spectrum = np.ones(fast // 2 + 1, dtype=np.complex128)
    for part, each in zip(parts, cells, strict=True):
        dense = np.zeros(fast)
        dense[each] = part.masses
        spectrum *= np.fft.rfft(dense)
    masses = np.fft.irfft(spectrum, fast)[:size]
    # What the transform leaves below one part in 10^15 is its own rounding, not mass.
    kept = np.flatnonzero(masses > 1e-15)
    # What arrives is known exactly: no chain of convolutions may turn rounding into loss.
    masses *= math.prod(part.delivered for part in parts) / float(masses[kept].sum())
    return _gather(sum(int(part.delays_ps[0]) for part in parts) + kept * step_ps, masses[kept])


def mixture(choices: Sequence[tuple[float, DeltaQ]]) -> DeltaQ:
    """Choose one of several outcomes with the given probabilities, which must sum to 1 (``ValueError``)."""
    weights = [weight for weight, _ in choices]
    if any(weight < 0 for weight in weights) or abs(math.fsum(weights) - 1) > MASS_TOLERANCE:
        raise ValueError(f"the probabilities of a choice are non-negative and sum to 1, not {weights}")
    return _gather(
        np.concatenate([part.delays_ps for _, part in choices]),
        np.concatenate([weight * part.masses for weight, part in choices]),
    )


def _gather(delays_ps: Delays, masses: Masses) -> DeltaQ:
    """Build a distribution of atoms in any order: those at one delay are added up, those without mass left out."""
    values, position = np.unique(delays_ps, return_inverse=True)
    sums: Masses = np.bincount(position, weights=masses, minlength=values.size).astype(np.float64)
    return DeltaQ(values[sums > 0], sums[sums > 0])
