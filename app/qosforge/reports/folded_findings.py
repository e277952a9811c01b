"""Many findings of one code, each with a message of its own, under what the code means: for pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Generic

from qosforge.reports.grouped_findings import F, FindingGroup

MOST_SINGLE = 4
"""Groups of one code that are listed one by one; more stand folded under what the code means."""


@dataclass(frozen=True)
class FindingFold(Generic[F]):
    """Groups of one code, variant and severity. One group stands alone."""

    groups: tuple[FindingGroup[F], ...]

    @property
    def finding(self) -> F:
        """The first finding: its code, variant and severity are those of all."""
        return self.groups[0].finding

    @property
    def is_folded(self) -> bool:
        """Whether there are several groups."""
        return len(self.groups) > 1

    @property
    def shares_hint(self) -> bool:
        """Whether all groups have the same hint."""
        return len({group.finding.hint for group in self.groups}) == 1


def fold_findings(groups: Sequence[FindingGroup[F]]) -> Iterator[FindingFold[F]]:
    """Fold the groups of each code of which there are more than `MOST_SINGLE`, where the first of them stood."""
    of_code: dict[tuple[object, ...], list[FindingGroup[F]]] = {}
    for group in groups:
        of_code.setdefault(_kind(group), []).append(group)
    for group in groups:
        alike = of_code[_kind(group)]
        if len(alike) <= MOST_SINGLE:
            yield FindingFold((group,))
        elif alike[0] is group:
            yield FindingFold(tuple(alike))


def _kind(group: FindingGroup[F]) -> tuple[object, ...]:
    return group.finding.code, group.finding.variant, group.finding.severity
