"""What a plot of ΔQ is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from app.deltaq.distribution import DeltaQ

PS_PER_MS = 1e9
"""Picoseconds in a millisecond."""

When = Literal["before", "predicted", "after"]
"""Which side of a push, in the order in which they are drawn."""


@dataclass(frozen=True, slots=True)
class Curve:
    """The ΔQ of one class at one time. With ``samples``, ``(sent_ps, delay_ps or -1)``, it gets a band."""

    label: str
    when: When
    distribution: DeltaQ
    samples: Sequence[tuple[int, int]] = ()
