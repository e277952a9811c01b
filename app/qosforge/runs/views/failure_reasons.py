"""Why a run did not keep its change, in sentences."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from qosforge.findings import Severity
from qosforge.reports.evidence import observed
from qosforge.reports.model import RunReport
from qosforge.reports.table import format_bound
from qosforge.run_outcome import OutcomeReason
from qosforge.runs.record.end_log import error_texts
from qosforge.runs.record.stages import Stage


def failure_reasons(
    stages: Sequence[Stage], report: RunReport, told: Collection[OutcomeReason] = ()
) -> tuple[str, ...]:
    """What stages say went wrong, findings that stood against the change, and bounds that were not met.

    Errors that are ``told`` already, as reasons of its outcome, are left out.
    """
    return tuple(dict.fromkeys([*error_texts(stages, told), *_findings(report), *_bounds(report)]))


def _findings(report: RunReport) -> Iterator[str]:
    if report.status == "rejected":
        for finding in report.findings:
            if finding.severity is Severity.ERROR:
                yield f"{finding.where}: {finding.message}" if finding.where else finding.message


def _bounds(report: RunReport) -> Iterator[str]:
    for each in report.verdicts_after:
        for bound in each.verdict.bounds:
            if bound.outcome != "met":
                path = f" {each.path}" if each.path else ""
                requested, seen = format_bound(bound.requested, bound.kind), observed(bound)
                word = "is" if bound.outcome == "broken" else "cannot be told yet: it seems to be"
                yield f"{each.traffic_class}{path}: {bound.label} {word} {seen}, requested is at most {requested}"
