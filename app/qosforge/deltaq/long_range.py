"""Whether one realisation remembers for as long as it lasts: its means over longer and longer stretches.

The variance of means of m packets falls as 1/m where the memory is short against m, and as m^(2H − 2) where it has
no end: H is the Hurst index, 0.75 for bursts whose lengths have a tail of 1.5 (Leland, Taqqu, Willinger and Wilson,
"On the self-similar nature of Ethernet traffic", IEEE/ACM Transactions on Networking 2(1), 1994: the variance-time
plot). What such a realisation has not seen may be as large as all that it has, and nothing in it tells.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from qosforge.deltaq.sample import Sample

STRETCHES = (320, 160, 80, 40, 20)
"""Into how many stretches a realisation is cut: below twenty a variance is too uncertain."""
FLATTEST = -0.65
"""Slope of the variance over the length, both as logarithms, above which the memory is taken to have no end. That
of independent packets is -1, with an error of 0.13 from so few stretches; of a Hurst index of 0.75 it is -0.5."""


def remembers_throughout(exceeds: NDArray[np.bool_], sample: Sample) -> bool:
    """Whether means of this indicator over longer stretches vary nearly as much as over shorter ones.

    ``False`` where it does not vary, or packets are too few to tell.
    """
    if sample.size < 2 * STRETCHES[0]:
        return False
    counted = np.concatenate(([0.0], np.cumsum(sample.weights * exceeds)))
    weights = np.concatenate(([0.0], np.cumsum(sample.weights)))
    found = []
    for number in STRETCHES:
        edges = np.linspace(0, sample.size, number + 1).round().astype(np.int64)
        variance = float((np.diff(counted[edges]) / np.diff(weights[edges])).var(ddof=1))
        if variance <= 0:
            return False
        found.append((math.log(sample.size / number), math.log(variance)))
    lengths, variances = np.array(found).T
    return float(np.polyfit(lengths, variances, 1)[0]) > FLATTEST
