"""Why a run did not keep its change, in sentences."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from qosforge.device_names import MOST_NAMED, name_devices
from qosforge.findings import Finding, Severity
from qosforge.intent.includes import SHIPPED
from qosforge.reports.evidence import excess, observed
from qosforge.reports.grouped_findings import FindingGroup, group_findings
from qosforge.reports.model import RunReport
from qosforge.reports.table import format_bound
from qosforge.run_outcome import OutcomeReason
from qosforge.runs.record.end_log import error_texts
from qosforge.runs.record.stages import Stage


def failure_reasons(
    stages: Sequence[Stage], report: RunReport, told: Collection[OutcomeReason] = ()
) -> tuple[str, ...]:
    """What stages say went wrong, findings that stood against the change, and unmet bounds, the worst first.

    Errors that are ``told`` already, as reasons of its outcome, are left out.
    """
    return tuple(dict.fromkeys([*error_texts(stages, told), *_findings(report), *_bounds(report)]))


def _findings(report: RunReport) -> Iterator[str]:
    if report.status == "rejected":
        against = [finding for finding in report.findings if finding.severity is Severity.ERROR]
        for group in group_findings(against):
            where = places_of(group)
            yield f"{where}: {group.finding.message}" if where else group.finding.message


def places_of(group: FindingGroup[Finding]) -> str:
    """Where what a group says is so: few places each, of many devices their number, then the class and the line.

    A file of the shipped library is not told: nobody corrects it.
    """
    finding, devices = group.finding, group.devices
    if len(devices) > MOST_NAMED:
        where = f"{len(devices)} devices ({name_devices(devices)})"
    else:
        places = group.places or tuple(dict.fromkeys(place for row in group.rows for place in row.places))
        where = ", ".join(places) if len(places) <= MOST_NAMED else name_devices(devices)
    of_class = f"class {finding.traffic_class}" if finding.traffic_class else ""
    file = "" if not finding.file or finding.file.startswith(SHIPPED) else finding.file
    line = f"{file}:{finding.line}" if file and finding.line else file
    return ", ".join(filter(None, (where, of_class, line)))


def _bounds(report: RunReport) -> Iterator[str]:
    unmet = [
        (bound, each) for each in report.verdicts_after for bound in each.verdict.bounds if bound.outcome != "met"
    ]
    for bound, each in sorted(unmet, key=lambda found: excess(found[0]), reverse=True):
        path = f" {each.path}" if each.path else ""
        requested, seen = format_bound(bound.requested, bound.kind), observed(bound)
        word = "is" if bound.outcome == "broken" else "cannot be told yet: it seems to be"
        yield f"{each.traffic_class}{path}: {bound.label} {word} {seen}, requested is at most {requested}"
