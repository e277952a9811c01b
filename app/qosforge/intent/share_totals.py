"""Totals of the shares that the classes of each level request, also while some classes are invalid."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from qosforge.intent.conflict_rules import RequestedShares, levels
from qosforge.intent.conflicts import branches
from qosforge.intent.yaml_source import Path_


@dataclass(frozen=True)
class LevelTotals:
    """The sums of one level of classes, those at ``path``; a class that is wrong is not in them.

    Percents of ``left`` are of the link (below another class: of that class), percents of ``remaining_left`` of
    what priority leaves. Both are below zero where too much is asked for. ``wrong`` are positions left out.
    """

    path: Path_
    requested: RequestedShares
    wrong: tuple[int, ...]

    @property
    def left(self) -> int:
        """Percent that neither priority nor bandwidth asks for."""
        return 100 - self.requested.priority_percent - self.requested.bandwidth_percent

    @property
    def remaining_left(self) -> int:
        """Percent of what priority leaves that nobody asks for."""
        return 100 - self.requested.remaining_percent


def total_shares(data: Any) -> Iterator[LevelTotals]:
    """The sums of every level of the classes in an intent's data, with its parameters resolved."""
    for path, level in levels(("classes",), branches(data)):
        treatments = [branch.treatment for branch in level]
        wrong = tuple(at for at, treatment in enumerate(treatments) if treatment is None)
        yield LevelTotals(
            path, RequestedShares.by([treatment for treatment in treatments if treatment is not None]), wrong
        )
