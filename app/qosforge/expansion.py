"""Combinations of lists: counted by arithmetic first, and made only where they are few enough.

All that grows as the product of what people write goes through here; `itertools.product` is not used elsewhere.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterator
from typing import Any

from qosforge.errors import InputError

MOST_COMBINATIONS = 65_536
"""How many combinations are made at once: what a device can hold is bounded far below, and said better there."""


def count_combinations(*lists: Collection[object]) -> int:
    """How many combinations of one entry of each list there are."""
    return math.prod(map(len, lists))


def combine(*lists: Collection[Any]) -> Iterator[tuple[Any, ...]]:
    """Every combination of one entry of each list, the last list's entries changing first.

    Raises:
        InputError: they are more than `MOST_COMBINATIONS`; none is made.
    """
    count = count_combinations(*lists)
    if count > MOST_COMBINATIONS:
        lengths = " × ".join(f"{len(entries):,}" for entries in lists)
        raise InputError(
            f"lists of {lengths} entries come to {count:,} combinations",
            hint=f"ask for at most {MOST_COMBINATIONS:,}: write ranges or prefixes instead of single values",
        )
    return itertools.product(*lists)
