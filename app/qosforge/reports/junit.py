"""Reports as JUnit XML, which pipelines show as tests.

There is no standard for it; elements and attributes are those that Jenkins' and GitLab's readers share. Of an
intent each device is a test case; of a run each bound of a verdict is one too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from qosforge.findings import Finding, Severity
from qosforge.reports.checks import CheckReport, findings_by_device
from qosforge.reports.evidence import observed, sentence
from qosforge.reports.model import RunReport
from qosforge.reports.row_table import rows_in_words
from qosforge.reports.table import format_bound
from qosforge.tester.measurement.judging import ClassVerdict

GOOD = frozenset({"kept", "no_changes"})
"""Statuses of a run whose change stands."""

_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 has no way to say."""


@dataclass(frozen=True, slots=True)
class _Case:
    """A test case; it failed where it has ``failures``. ``seconds`` as far as known."""

    group: str
    name: str
    failures: tuple[str, ...] = ()
    said: str = ""
    file: str = ""
    seconds: float = 0.0


def check_junit(check: CheckReport, *, strict: bool = False) -> str:
    """The check of an intent: a case for the intent, and one for each device.

    Error findings are failures; with ``strict`` warnings too.
    """
    cases = _finding_cases(check.findings, check.intent, check.device_names, strict, check.policy)
    return _document(_suite(f"{check.intent} on {check.network}" if check.network else check.intent, cases))


def run_junit(report: RunReport, page: str = "") -> str:
    """A run: how it ended, a case for each bound judged after the push, and one for each device.

    ``page`` is where a browser sees it.
    """
    seconds = (report.finished - report.started).total_seconds() if report.finished else 0.0
    state = f"run {report.id}: {report.stands}{f', see {page}' if page else ''}"
    how = _Case(
        "run",
        report.intent,
        () if report.status in GOOD else (state, *_stage_failures(report)),
        state,
        seconds=seconds,
    )
    judged = report.verdicts_after or report.verdicts_before
    when = "after" if report.verdicts_after else "before"
    devices = [device.name for device in report.devices]
    return _document(
        _suite(f"{report.intent} on {report.network}", [how]),
        _suite(f"verdicts {when} the push", [case for verdict in judged for case in _bound_cases(verdict)]),
        _suite("devices", _finding_cases(report.findings, report.intent, devices, strict=False, file="")),
    )


def _stage_failures(report: RunReport) -> Iterable[str]:
    return (f"{stage.name}: {stage.summary}" for stage in report.stages if stage.outcome == "failed")


def _bound_cases(judged: ClassVerdict) -> Iterable[_Case]:
    verdict = judged.verdict
    for bound in verdict.bounds:
        said = (
            f"{bound.label} {observed(bound)}, asked at most {format_bound(bound.requested, bound.kind)}: "
            f"{bound.outcome} at {verdict.confidence * 100:g} % confidence, evidence {verdict.evidence}: "
            f"{sentence(bound, judged)}"
        )
        yield _Case(
            f"{judged.scenario}.{judged.traffic_class}",
            " ".join(part for part in (judged.path, bound.label) if part),
            () if bound.outcome == "met" else (said,),
            said,
        )


def _finding_cases(
    findings: Sequence[Finding], intent: str, devices: Iterable[str], strict: bool, file: str
) -> list[_Case]:
    against = (Severity.ERROR, Severity.WARNING) if strict else (Severity.ERROR,)
    return [
        _Case(
            "devices" if name else "intent",
            name or intent,
            tuple(_line(f) for f in found if f.severity in against),
            "\n".join(_line(f) for f in found if f.severity not in against),
            next((f.file for f in found if f.file and f.severity in against), file) or "",
        )
        for name, found in findings_by_device(findings, devices).items()
    ]


def _line(finding: Finding) -> str:
    where = f"{finding.where}: " if finding.where else ""
    hint = f" ({finding.hint})" if finding.hint else ""
    about = rows_in_words(finding.rows)
    said = f"{finding.message}: {about}" if about else finding.message
    return f"{finding.severity.value} {finding.code} {where}{said}{hint}"


def _suite(name: str, cases: Sequence[_Case]) -> Element:
    failed = sum(bool(case.failures) for case in cases)
    suite = Element("testsuite", _attributes(name=name, tests=len(cases), failures=failed, errors=0, skipped=0))
    suite.set("time", f"{sum(case.seconds for case in cases):.3f}")
    for case in cases:
        entry = SubElement(suite, "testcase", _attributes(classname=case.group, name=case.name))
        entry.set("time", f"{case.seconds:.3f}")
        if case.file:
            entry.set("file", _legal(case.file))
        if case.failures:
            first = _legal(case.failures[0])
            more = len(case.failures) - 1
            message = f"{first} (and {more} more)" if more else first
            # One element for all: readers take the first of a case.
            SubElement(entry, "failure", message=message, type="finding").text = _legal("\n".join(case.failures))
        if case.said:
            SubElement(entry, "system-out").text = _legal(case.said)
    return suite


def _document(*suites: Element) -> str:
    filled = [suite for suite in suites if len(suite)]
    whole = Element("testsuites", name="qosforge")
    for count in ("tests", "failures", "errors"):
        whole.set(count, str(sum(int(suite.get(count, "0")) for suite in filled)))
    whole.extend(filled)
    indent(whole)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(whole, encoding="unicode") + "\n"


def _attributes(**values: object) -> dict[str, str]:
    return {name: _legal(str(value)) for name, value in values.items()}


def _legal(text: str) -> str:
    return _ILLEGAL.sub("\ufffd", text)
