"""JUnit XML: what fails in it is what stands against the change."""

from __future__ import annotations

from xml.etree.ElementTree import Element, fromstring

import pytest

from qosforge.findings import Finding, Severity
from qosforge.reports.checks import CheckReport
from qosforge.reports.junit import check_junit, run_junit

from .test_run_report import report

ERROR = Finding(
    code="scope-empty", severity=Severity.ERROR, message="wrong <&> \x1b[31m", file="p.yaml", line=4, device="r1"
)
WARNING = Finding(code="class-replaced", severity=Severity.WARNING, message="beware", device="r2")
CHECK = CheckReport("voice", "p.yaml", "campus", "", (ERROR, WARNING))


def failed(document: Element) -> list[str | None]:
    return [case.get("name") for case in document.iter("testcase") if case.find("failure") is not None]


@pytest.mark.parametrize(("strict", "expected"), [(False, ["r1"]), (True, ["r1", "r2"])])
def test_a_device_with_an_error_finding_is_a_failed_case(strict: bool, expected: list[str]) -> None:
    document = fromstring(check_junit(CHECK, strict=strict))

    assert failed(document) == expected
    (suite,) = document
    assert [case.get("name") for case in suite] == ["voice", "r1", "r2"]
    assert (suite.get("tests"), suite.get("failures")) == ("3", str(len(expected)))
    failure = next(suite.iter("failure"))
    assert failure.get("message") == "error scope-empty r1, p.yaml:4: wrong <&> \ufffd[31m"


def test_what_does_not_fail_is_reported() -> None:
    document = fromstring(check_junit(CHECK))
    assert "beware" in (document.findtext(".//testcase[@name='r2']/system-out") or "")


def test_each_bound_of_a_run_is_a_case() -> None:
    made = report()
    document = fromstring(run_junit(made))

    suite = next(s for s in document if s.get("name") == "verdicts after the push")
    bounds = [bound for judged in made.verdicts_after for bound in judged.verdict.bounds]
    assert [case.get("name") for case in suite] == [bound.label for bound in bounds]
    assert not set(failed(suite))
    assert failed(document) == ["campus"]  # the report's error finding, of the device of that name


def test_broken_bounds_and_a_run_that_was_rolled_back_fail() -> None:
    made = report()
    made = made.model_copy(
        update={"verdicts_after": made.verdicts_before, "status": "rolled_back", "findings": (), "devices": ()}
    )
    document = fromstring(run_junit(made))

    broken = [b.label for v in made.verdicts_after for b in v.verdict.bounds if b.outcome != "met"]
    assert broken
    assert failed(document) == [made.intent, *broken]
    assert "rolled back" in next(document.iter("failure")).get("message", "")
