"""Derive ``link_efficiency`` rules that give each observed output what it has, and nothing to the others."""

from __future__ import annotations

from collections.abc import Iterable

from qosforge.importing.to_intent import IntentData, rate

Link = tuple[str, int, IntentData]
"""Framing, rate in bits per second, and what the output holds."""


def rules(links: Iterable[Link]) -> tuple[IntentData, ...]:
    """The rules in their order: of every framing those of the slowest links first."""
    by_framing: dict[str, dict[int, IntentData]] = {}
    for framing, speed, efficiency in links:
        by_framing.setdefault(framing, {}).setdefault(speed, efficiency)
    found: list[IntentData] = []
    for framing, speeds in by_framing.items():
        rows = sorted(speeds.items())
        while rows and not rows[-1][1]:
            rows.pop()
        merged: list[tuple[int, IntentData]] = []
        for speed, efficiency in rows:
            if merged and merged[-1][1] == efficiency:
                merged.pop()  # the rule of the faster link holds for the slower one too
            merged.append((speed, efficiency))
        fastest = max(speeds)
        for speed, efficiency in merged:
            when: IntentData = {"framing": framing}
            if speed < fastest:
                when["rate_below"] = rate(speed + 1)
            found.append({"when": when, **efficiency})
    return tuple(found)
