"""Trials over all cores, and again with other draws where they seem to miss."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise

import numpy as np

from benchmarks.coverage_report import Promise, Row

AGAIN = 5
"""How many times as often a row is measured again that misses, with other draws: of many, some do by luck."""


def run_trials(
    pool: ProcessPoolExecutor,
    work: Callable[[range], list[object]],
    rows: Callable[[list[object]], list[Row]],
    trials: int,
) -> list[Row]:
    """The rows of so many trials; of those that come after and are more, where any of the first ones misses."""
    found = rows(_spread(pool, work, range(trials)))
    if all(row.met for row in found):
        return found
    return rows(_spread(pool, work, range(trials, (1 + AGAIN) * trials)))


def _spread(pool: ProcessPoolExecutor, work: Callable[[range], list[object]], seeds: range) -> list[object]:
    """Trials over all cores."""
    edges = np.linspace(seeds.start, seeds.stop, 9).round().astype(int)
    found = pool.map(work, [range(first, last) for first, last in pairwise(edges)])
    return [each for part in found for each in part]


def row_of_outcomes(promise: Promise, name: str, what: str, false: str, found: list[str]) -> list[Row]:
    """How often a verdict was the ``false`` one, and how often none."""
    part = {outcome: found.count(outcome) / len(found) for outcome in (false, "inconclusive")}
    return [Row(promise, name, what, (part[false],), part["inconclusive"], len(found))]
