"""Verdicts side by side: each bound before the push, predicted, and after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from qosforge.deltaq.objective import BoundVerdict, Evidence
from qosforge.reports.changes import difference
from qosforge.reports.evidence import sentence
from qosforge.reports.model import RunReport
from qosforge.tester.measurement.changes import ClassChange
from qosforge.tester.measurement.document import When
from qosforge.tester.measurement.judging import ClassVerdict


@dataclass(frozen=True, slots=True)
class VerdictRow:
    """One bound of one class in one scenario, with its verdict on each judged side."""

    scenario: str
    traffic_class: str
    path: str | None
    sides: Mapping[When, BoundVerdict]
    evidence: Mapping[When, str]
    """The evidence of each side, as a sentence."""
    rests_on: Evidence
    """What the side rests on that was judged last."""
    change: str = ""
    """The comparison of after with before in words; empty where there is none."""
    undecided: Mapping[When, str] = field(default_factory=dict)
    """Of a side of which nothing is decided, whatever its figures say: why."""

    @property
    def bound(self) -> BoundVerdict:
        """The bound itself, which all sides share."""
        return next(iter(self.sides.values()))


def verdict_rows(report: RunReport) -> tuple[VerdictRow, ...]:
    """The bounds by scenario, class, path and label, in the order of judging."""
    return rows_by_side(
        {"before": report.verdicts_before, "predicted": report.verdicts_predicted, "after": report.verdicts_after},
        report.changes,
    )


def rows_by_side(
    judged: Mapping[When, Sequence[ClassVerdict]], changes: Sequence[ClassChange] = ()
) -> tuple[VerdictRow, ...]:
    """The bounds of verdicts by side, in the order of judging, with what is known of the change of each."""
    changed = {
        (each.scenario, each.traffic_class, each.path, bound.label): difference(bound)
        for each in changes
        for bound in each.bounds
    }
    found: dict[tuple[str, str, str | None, str], tuple[dict[When, BoundVerdict], dict[When, str]]] = {}
    rest_on: dict[tuple[str, str, str | None, str], Evidence] = {}
    undecided: dict[tuple[str, str, str | None, str], dict[When, str]] = {}
    for side, verdicts in judged.items():
        for each in verdicts:
            for bound in each.verdict.bounds:
                key = (each.scenario, each.traffic_class, each.path, bound.label)
                sides, evidence = found.setdefault(key, ({}, {}))
                rest_on[key] = each.verdict.evidence
                if each.verdict.undecided:
                    undecided.setdefault(key, {})[side] = each.verdict.undecided
                sides[side] = bound
                evidence[side] = sentence(bound, each)
    return tuple(
        VerdictRow(*key[:3], sides, evidence, rest_on[key], changed.get(key, ""), undecided.get(key, {}))
        for key, (sides, evidence) in found.items()
    )
