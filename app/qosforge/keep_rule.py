"""When a change is kept after it was measured: the rules that an intent and a network may have."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

KeepRule = Literal["met", "no-worse", "ask"]
"""``met``: every objective is shown to be met. ``no-worse``: whatever is not shown to be met is shown to be better
than before the change, or not worse. ``ask``: an approver is asked about what is not shown to be met."""

_STRICTNESS: tuple[KeepRule, ...] = ("no-worse", "ask", "met")


def strictest(rules: Iterable[KeepRule | None]) -> KeepRule:
    """The rule that holds where several are given: the strictest of them; ``met`` where none is."""
    given = [rule for rule in rules if rule is not None]
    return max(given, key=_STRICTNESS.index, default="met")


def in_words(rule: KeepRule) -> str:
    """What a rule comes to, for who asks for a change."""
    return {
        "met": "kept only if every objective is shown to be met; else rolled back",
        "no-worse": "kept if what is not shown to be met is shown to be better than before, or not worse; else "
        "rolled back",
        "ask": "kept if every objective is shown to be met; else an approver is asked, and it is rolled back where "
        "nobody answers in time",
    }[rule]
