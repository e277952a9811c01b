"""The findings of a run, grouped and counted as its page shows them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from qosforge.findings import Finding, Severity
from qosforge.reports.folded_findings import FindingFold, fold_findings
from qosforge.reports.grouped_findings import FindingGroup, group_findings
from qosforge.reports.model import RunReport
from qosforge.reports.proofs import Proofs, proof_of, proofs


@dataclass(frozen=True)
class RunFindings:
    """The findings of a run's report."""

    report: RunReport

    @cached_property
    def groups(self) -> tuple[FindingGroup[Finding], ...]:
        """All of them, grouped as a preview does it, the gravest first; what the proofs tell already is no note."""
        told = [one for one in self.report.findings if one.severity is Severity.INFO and proof_of(one.code)]
        seen = {id(one) for one in told} if self.proofs else frozenset()
        return group_findings(one for one in self.report.findings if id(one) not in seen)

    @property
    def folds(self) -> tuple[FindingFold[Finding], ...]:
        """The same; many of one code, each with a message of its own, stand together."""
        return tuple(fold_findings(self.groups))

    @property
    def counted(self) -> list[Finding]:
        """One finding of each group, the gravest first: as they are counted."""
        return [group.finding for group in self.groups]

    @property
    def error_places(self) -> int:
        """At how many places of devices there are errors."""
        errors = [group for group in self.groups if group.finding.severity is Severity.ERROR]
        rows = (row.places for group in errors for row in group.rows)
        return len({place for places in (*(group.places for group in errors), *rows) for place in places})

    @cached_property
    def proofs(self) -> Proofs:
        """What the run's validation proved, refuted, and left open."""
        return proofs(self.report.findings)
