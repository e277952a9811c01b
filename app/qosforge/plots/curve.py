"""What a plot of ΔQ is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from qosforge.deltaq.distribution import MASS_TOLERANCE, DeltaQ
from qosforge.deltaq.sample import Sample

PS_PER_MS = 1e9
"""Picoseconds in a millisecond."""

LEAST_MS = 1e-3
"""Where a delay of nothing stands on a logarithmic axis."""

_EVEN = 120
_LAST = 40

When = Literal["before", "predicted", "after"]
"""Which side of a push, in the order in which they are drawn."""


@dataclass(frozen=True, slots=True)
class Curve:
    """The ΔQ of one class at one time. With a ``sample`` it gets a band."""

    label: str
    when: When
    distribution: DeltaQ
    sample: Sample | None = None


def percent(share: float) -> str:
    """A share for people, in percent, without the rounding of a sum of masses."""
    return f"{share * 100:.3g}" if share > MASS_TOLERANCE else "0"


def names(curves: Sequence[Curve]) -> list[str]:
    """What each curve is called: its side of the push, and its class where there are several."""
    if len({curve.label for curve in curves}) == 1:
        return [curve.when for curve in curves]
    return [f"{curve.label}, {curve.when}" for curve in curves]


def steps(distribution: DeltaQ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Delays in ms and the shares that have arrived by them: a few hundred steps, with all of the far tail."""
    size = distribution.delays_ps.size
    even = np.linspace(0, size - 1, _EVEN).astype(int) if size else np.empty(0, dtype=int)
    chosen = np.unique(np.concatenate((even, np.arange(max(0, size - _LAST), size))))
    shares = np.minimum(np.cumsum(distribution.masses), 1.0)
    return np.maximum(distribution.delays_ps[chosen] / PS_PER_MS, LEAST_MS), shares[chosen]
