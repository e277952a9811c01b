"""What came of a run's objectives, side by side: before the change, predicted, and after it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from qosforge.deltaq.objective import Evidence, weakest
from qosforge.reports.model import RunReport
from qosforge.reports.verdict_rows import VerdictRow, verdict_rows
from qosforge.tester.measurement.document import When
from qosforge.web.views.run_steps import Judged

SIDES: tuple[When, ...] = ("before", "predicted", "after")


class UnmetBefore(NamedTuple):
    """Of the bounds that are not met after the change: how many there are, and what they were before it."""

    unmet: int
    broken_before: int
    met_before: int


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
        the others.
        """
        last = self.sides[-1] if self.sides else "after"
        rows = [row for row in self.rows if row.traffic_class == traffic_class]
        worst: dict[str, VerdictRow] = {}
        for row in (row for row in rows if last in row.sides):
            best = worst.setdefault(row.bound.label, row)
            if _observed(row, last) > _observed(best, last):
                worst[row.bound.label] = row
        chosen = [*worst.values(), *(row for row in rows if last in row.sides and row.sides[last].outcome != "met")]
        seen = {id(row) for row in chosen}  # rows that are alike are rows of their own
        return [row for row in rows if id(row) in seen], [row for row in rows if id(row) not in seen]

    @property
    def sides(self) -> list[When]:
        """The sides on which anything was judged, in their order."""
        judged = {side for row in self.rows for side in row.sides}
        return [side for side in SIDES if side in judged]

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

    def by_step(self, no_changes: bool) -> dict[str, Judged]:
        """What was not shown to be met by the measurement that decides on the run, by the name of its step.

        It is the one after the change, or before it where there was nothing to change.
        """
        side: When = "before" if no_changes else "after"
        seen = [row.sides[side].outcome for row in self.rows if side in row.sides]
        return {f"measure-{side}": Judged(seen.count("broken"), seen.count("inconclusive"))} if seen else {}

    @property
    def unmet_before(self) -> UnmetBefore | None:
        """What was known before the change of the bounds that are not met after it; ``None`` where nothing was."""
        unmet = [row for row in self.rows if "after" in row.sides and row.sides["after"].outcome != "met"]
        before = [row.sides["before"].outcome for row in unmet if "before" in row.sides]
        return UnmetBefore(len(unmet), before.count("broken"), before.count("met")) if before else None


def _observed(row: VerdictRow, side: When) -> tuple[float, float]:
    """What was seen of a bound on a side; of two that are alike there, before the change."""
    before = row.sides.get("before")
    return row.sides[side].observed.number() or 0.0, (before.observed.number() or 0.0) if before else 0.0
