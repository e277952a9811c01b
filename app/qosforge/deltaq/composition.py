"""Composition of independent outcomes: along a path, the first of several to finish, the last of them.

With sequential composition (:meth:`DeltaQ.convolve`) and probabilistic choice (:func:`mixture`) these are the
operators of ΔQ systems design (Haeri, Thompson, Davies et al., "Mind Your Outcomes", Computers 11(3), 2022):
F₁·F₂ for the last to finish, 1 − (1 − F₁)·(1 − F₂) for the first. All take their parts as independent. Queues
that one burst fills one after the other are not: their path is worse than composed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from qosforge.deltaq.distribution import Delays, DeltaQ, Masses, convolve_on_lattice, lattice_ps

EXACT_ATOMS = 100_000
"""Up to this many atoms a path is composed without rounding."""

CELLS = 1 << 17
"""Cells of the grid on which longer paths are composed: under 1 µs each for a path of 100 ms."""


@dataclass(frozen=True, slots=True)
class PathDeltaQ:
    """ΔQ along a path. No delay in it is too short, and none is too long by ``late_ps`` picoseconds or more."""

    deltaq: DeltaQ
    late_ps: int


def along(parts: Sequence[DeltaQ]) -> PathDeltaQ:
    """Compose the parts of a path: delays add, and a packet must survive every part.

    Exact (``late_ps`` 0) up to :data:`EXACT_ATOMS` combinations of delays, and where all delays lie on one lattice
    of at most :data:`CELLS` cells over the path. Beyond, every delay is first rounded up to a grid of so many.
    A path without parts is :meth:`DeltaQ.identity`.
    """
    if not all(part.delays_ps.size for part in parts):
        return PathDeltaQ(DeltaQ.lost(), 0)
    if math.prod(part.delays_ps.size for part in parts) <= EXACT_ATOMS:
        return PathDeltaQ(reduce(DeltaQ.convolve, parts, DeltaQ.identity()), 0)
    span = sum(int(part.delays_ps[-1] - part.delays_ps[0]) for part in parts)
    lattice = lattice_ps(parts)
    if span <= CELLS * lattice:
        return PathDeltaQ(convolve_on_lattice(parts, lattice), 0)
    step = -(-span // CELLS)
    # Only what varies is rounded: the smallest delay of each part stays as it is.
    floor = sum(int(part.delays_ps[0]) for part in parts)
    varying = [part.shift(-int(part.delays_ps[0])).coarsen(step) for part in parts]
    rounded = sum(part.delays_ps.size > 1 for part in parts)
    return PathDeltaQ(convolve_on_lattice(varying, step).shift(floor), step * rounded)


def first_to_finish(parts: Sequence[DeltaQ]) -> DeltaQ:
    """Delay until the first of several independent packets arrives; lost when all are.

    Of no packets none ever arrives: :meth:`DeltaQ.lost`.
    """
    support = _support(parts)
    missing = reduce(np.multiply, (1 - part.cdf_at(support) for part in parts), np.ones(support.size))
    return _from_cdf(support, 1 - missing)


def last_to_finish(parts: Sequence[DeltaQ]) -> DeltaQ:
    """Delay until the last of several independent packets has arrived; lost when any is.

    No packets have arrived at once: :meth:`DeltaQ.identity`.
    """
    if not parts:
        return DeltaQ.identity()
    support = _support(parts)
    return _from_cdf(support, reduce(np.multiply, (part.cdf_at(support) for part in parts)))


def _support(parts: Sequence[DeltaQ]) -> Delays:
    """Every delay at which any of the parts has mass, rising."""
    return np.unique(np.concatenate([np.empty(0, dtype=np.int64), *(part.delays_ps for part in parts)]))


def _from_cdf(support: Delays, reached: Masses) -> DeltaQ:
    """Turn values of a distribution function into masses; differences that are rounding alone are none."""
    masses = np.diff(reached, prepend=0.0)
    kept = masses > 1e-15
    return DeltaQ(support[kept], masses[kept])
