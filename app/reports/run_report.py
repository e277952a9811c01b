"""The report of a run: one HTML file that needs nothing beside itself.

It loads no script, style, font or picture from anywhere, says so in its content security policy, follows the
reader's light or dark preference and prints. Every text in it is escaped: names come from people and
configurations from boxes.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import attrgetter

from jinja2 import Environment, FunctionLoader, StrictUndefined

from app.deltaq.objective import BoundVerdict
from app.findings import Finding, Severity
from app.reports.balance import accounts, in_words, side_texts, who_paid
from app.reports.facts import run_facts
from app.reports.figures import class_figures
from app.reports.model import RunReport
from app.reports.table import COLUMNS, Group, amount, comparison_table
from app.resources import read_text

TEMPLATE = "app/reports/run.html.j2"
"""The page, a Jinja2 template."""

_SYMBOLS = {"met": "✔", "broken": "✘", "inconclusive": "?"}
_SEVERITIES = tuple(Severity)


@dataclass(frozen=True, slots=True)
class VerdictRow:
    """One bound of one class in one scenario, before and after the push."""

    scenario: str
    traffic_class: str
    path: str | None
    before: BoundVerdict | None
    after: BoundVerdict | None

    @property
    def either(self) -> BoundVerdict:
        """Return the bound itself, which both sides share."""
        bound = self.after or self.before
        if bound is None:
            raise ValueError("a row of the verdict table has at least one side")
        return bound


def render_run_report(report: RunReport) -> str:
    """Render a run as one self-contained HTML page."""
    environment = Environment(
        loader=FunctionLoader(read_text),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        amount=amount, moment=_moment, symbol=lambda outcome: _SYMBOLS.get(outcome, ""), change=_change
    )
    verdicts = (*report.verdicts_before, *report.verdicts_after)
    page = environment.get_template(TEMPLATE).render(
        report=report,
        facts=run_facts(report),
        columns=COLUMNS,
        scenarios=_by_scenario(comparison_table(report.before, report.after)),
        rows=verdict_rows(report),
        confidences=sorted({f"{each.verdict.confidence * 100:g} %" for each in verdicts}),
        evidences=sorted({each.verdict.evidence for each in verdicts}),
        accounts=accounts(report.before, report.after),
        balances=who_paid(report.before, report.after),
        side_texts=side_texts,
        in_words=in_words,
        findings=_by_severity(report.findings),
        figures=class_figures(report),
    )
    return page.lstrip()


def verdict_rows(report: RunReport) -> tuple[VerdictRow, ...]:
    """Pair the bounds judged before and after by scenario, class, path and label, in the order of judging."""
    sides: dict[tuple[str, str, str | None, str], dict[str, BoundVerdict]] = {}
    for side, verdicts in (("before", report.verdicts_before), ("after", report.verdicts_after)):
        for each in verdicts:
            for bound in each.verdict.bounds:
                key = (each.scenario, each.traffic_class, each.path, bound.label)
                sides.setdefault(key, {})[side] = bound
    return tuple(
        VerdictRow(key[0], key[1], key[2], pair.get("before"), pair.get("after")) for key, pair in sides.items()
    )


def _by_scenario(groups: tuple[Group, ...]) -> list[list[Group]]:
    """Groups of one scenario together; they already stand in the order of the scenarios."""
    return [list(members) for _, members in groupby(groups, key=attrgetter("scenario"))]


def _by_severity(findings: tuple[Finding, ...]) -> list[Finding]:
    """Errors first, otherwise in the order they were found."""
    return sorted(findings, key=lambda finding: _SEVERITIES.index(finding.severity))


def _moment(when: datetime | None) -> str:
    """Write a point in time to the second, with its zone if it has one."""
    return "–" if when is None else when.strftime("%Y-%m-%d %H:%M:%S %Z").strip()


def _change(line: str) -> str:
    """Return the style of a diff line: what was added, removed, or neither."""
    if line.startswith(("+++", "---", "@@")):
        return "note"
    return "add" if line.startswith("+") else "del" if line.startswith("-") else ""
