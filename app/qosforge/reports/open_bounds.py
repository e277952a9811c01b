"""Bounds that are inconclusive, by what keeps them open: what a page says of all of them at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from qosforge.reports.evidence import OpenReason, open_reason
from qosforge.reports.verdict_rows import VerdictRow
from qosforge.tester.measurement.document import When


@dataclass(frozen=True, slots=True)
class OpenBounds:
    """So many bounds that stay open for one ``reason``; ``decidable`` where more packets would decide them.

    ``quantiles`` are those that too few packets were seen for, as texts; ``why`` is what keeps the whole verdict
    open.
    """

    reason: OpenReason
    count: int
    decidable: bool
    quantiles: tuple[str, ...] = ()
    why: str = ""


def open_bounds(rows: Iterable[VerdictRow], side: When) -> tuple[OpenBounds, ...]:
    """The inconclusive bounds of a side by reason, the most first."""
    counts: dict[tuple[OpenReason, bool, str], int] = {}
    quantiles: dict[bool, set[float]] = {True: set(), False: set()}
    for row in rows:
        bound = row.sides.get(side)
        if bound is None or bound.outcome != "inconclusive":
            continue
        why = row.undecided.get(side, "")
        reason: OpenReason = "undecided" if why else open_reason(bound)
        decidable = not why and bound.more_packets is not None
        counts[reason, decidable, why] = counts.get((reason, decidable, why), 0) + 1
        if reason == "few" and bound.quantile is not None:
            quantiles[decidable].add(bound.quantile)
    told = {each: tuple(f"{one * 100:.4g} %" for one in sorted(found)) for each, found in quantiles.items()}
    found = [
        OpenBounds(reason, count, decidable, told[decidable] if reason == "few" else (), why)
        for (reason, decidable, why), count in counts.items()
    ]
    return tuple(sorted(found, key=lambda one: -one.count))
