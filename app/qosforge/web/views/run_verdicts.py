"""What came of a run's objectives, side by side: before the change, predicted, and after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from qosforge.deltaq.objective import BoundVerdict, Evidence, Outcome, weakest
from qosforge.reports.evidence import excess
from qosforge.reports.model import RunReport
from qosforge.reports.open_bounds import OpenBounds, open_bounds
from qosforge.reports.verdict_rows import VerdictRow, verdict_rows
from qosforge.tester.measurement.document import When
from qosforge.web.views.run_steps import Judged

MOST_OPEN = 3
"""Rows that are open for one reason and seen at once; more stand folded under it."""
SIDES: tuple[When, ...] = ("before", "predicted", "after")


class Unmet(NamedTuple):
    """The bounds that are not met after the change: how many, of how many, the worst, and what they were before."""

    broken: int
    open: int
    judged: int
    worst: BoundVerdict
    broken_before: int
    met_before: int

    @property
    def all(self) -> int:
        """How many are not shown to be met."""
        return self.broken + self.open


@dataclass(frozen=True)
class RunVerdicts:
    """The verdicts of a run's report."""

    report: RunReport

    @cached_property
    def rows(self) -> tuple[VerdictRow, ...]:
        """Every bound that was judged, with what was seen of it on each side."""
        return verdict_rows(self.report)

    def shown(self, traffic_class: str) -> tuple[list[VerdictRow], list[VerdictRow]]:
        """The rows of a class that are seen at once, which are those not met and the worst path of each bound, and
        the others. Those seen at once begin with what exceeds its bound the most.
        """
        last = self.sides[-1] if self.sides else "after"
        rows = [row for row in self.rows if row.traffic_class == traffic_class]
        by_bound: dict[str, list[VerdictRow]] = {}
        for row in (row for row in rows if last in row.sides):
            by_bound.setdefault(row.bound.label, []).append(row)
        worst = [worst_row(found, last) for found in by_bound.values()]
        chosen = [*worst, *(row for row in rows if last in row.sides and row.sides[last].outcome != "met")]
        seen = {id(row) for row in chosen}  # rows that are alike are rows of their own
        first = [row for row in rows if id(row) in seen]
        first.sort(key=lambda row: excess(row.sides[last]), reverse=True)
        return first, [row for row in rows if id(row) not in seen]

    def are_met(self, rows: Sequence[VerdictRow]) -> bool:
        """Whether all of some rows are met on the side that was judged last."""
        last = self.sides[-1]
        return all(last in row.sides and row.sides[last].outcome == "met" for row in rows)

    def apart(
        self, rows: Sequence[VerdictRow]
    ) -> tuple[list[VerdictRow], list[tuple[OpenBounds, list[VerdictRow]]]]:
        """Rows that are seen at once, and where many are open alike these by what keeps them open."""
        last = self.sides[-1] if self.sides else "after"
        alike: dict[OpenBounds, list[VerdictRow]] = {}
        for row in rows:
            for reason in open_bounds([row], last):
                alike.setdefault(replace(reason, quantiles=()), []).append(row)
        many = [found for found in alike.values() if len(found) > MOST_OPEN]
        folded = {id(row) for found in many for row in found}
        groups = [(open_bounds(found, last)[0], found) for found in many]
        return [row for row in rows if id(row) not in folded], groups

    @property
    def sides(self) -> list[When]:
        """The sides on which anything was judged, in their order."""
        judged = {side for row in self.rows for side in row.sides}
        return [side for side in SIDES if side in judged]

    @property
    def open_bounds(self) -> tuple[OpenBounds, ...]:
        """What keeps bounds open on the side that was judged last."""
        return open_bounds(self.rows, self.sides[-1]) if self.sides else ()

    @property
    def _evidence(self) -> set[Evidence]:
        last = self.report.verdicts_after or self.report.verdicts_before
        return {each.verdict.evidence for each in last}

    @property
    def evidence(self) -> str:
        """What the verdicts judged last rest on; empty where there is none."""
        return weakest(self._evidence) or ""

    @property
    def weakest(self) -> str:
        """What the verdicts judged last rest on together, where their paths differ in it."""
        return self.evidence if len(self._evidence) > 1 else ""

    @property
    def confidences(self) -> str:
        """At what confidence the verdicts are given."""
        report = self.report
        verdicts = (*report.verdicts_before, *report.verdicts_predicted, *report.verdicts_after)
        return ", ".join(sorted({f"{each.verdict.confidence * 100:g} %" for each in verdicts}))

    @property
    def never_arrives(self) -> bool:
        """Whether a delay that was judged has no end, because too many packets were lost."""
        return any(bound.observed.infinite for row in self.rows for bound in row.sides.values())

    @property
    def predicted_broken(self) -> int:
        """How many bounds the prediction shows to be broken by the change."""
        return sum("predicted" in row.sides and row.sides["predicted"].outcome == "broken" for row in self.rows)

    def counts(self, side: When) -> dict[Outcome, int]:
        """How many bounds came to what on a side: broken first, nothing of which there is none."""
        seen = [row.sides[side].outcome for row in self.rows if side in row.sides]
        order: tuple[Outcome, ...] = ("broken", "inconclusive", "met")
        return {outcome: seen.count(outcome) for outcome in order if outcome in seen}

    def by_step(self, no_changes: bool) -> dict[str, Judged]:
        """What was not shown to be met by the measurement that decides on the run, by the name of its step.

        It is the one after the change, or before it where there was nothing to change.
        """
        side: When = "before" if no_changes else "after"
        seen = self.counts(side)
        return {f"measure-{side}": Judged(seen.get("broken", 0), seen.get("inconclusive", 0))} if seen else {}

    @property
    def unmet(self) -> Unmet | None:
        """What is not shown to be met after the change; ``None`` where all is."""
        after = {id(row): row.sides["after"] for row in self.rows if "after" in row.sides}
        rows = [row for row in self.rows if id(row) in after and after[id(row)].outcome != "met"]
        if not rows:
            return None
        outcomes = [after[id(row)].outcome for row in rows]
        before = [row.sides["before"].outcome for row in rows if "before" in row.sides]
        return Unmet(
            outcomes.count("broken"),
            outcomes.count("inconclusive"),
            len(after),
            max((after[id(row)] for row in rows), key=excess),
            before.count("broken"),
            before.count("met"),
        )


def worst_row(rows: Sequence[VerdictRow], side: When) -> VerdictRow:
    """Of the rows of one bound, all judged on a side, that of the path on which most was seen there."""
    return max(rows, key=lambda row: _observed(row, side))


def _observed(row: VerdictRow, side: When) -> tuple[float, float]:
    """What was seen of a bound on a side; of two that are alike there, before the change."""
    before = row.sides.get("before")
    return row.sides[side].observed.number() or 0.0, (before.observed.number() or 0.0) if before else 0.0
