"""The report of a run as one self-contained HTML file.

It loads no script, style, font or picture from anywhere, says so in its content security policy, follows the
reader's light or dark preference and prints. Every text in it is escaped: names come from people and
configurations from devices.
"""

from __future__ import annotations

from datetime import datetime
from functools import cache
from itertools import groupby
from operator import attrgetter

from jinja2 import Environment, FunctionLoader, StrictUndefined, Template

from qosforge.device_names import name_devices
from qosforge.findings import Finding, Severity
from qosforge.reports.alike_devices import gather_devices
from qosforge.reports.delay_origin import not_recorded, run_origins
from qosforge.reports.evidence import evidence_words, interval, observed
from qosforge.reports.model import RunReport
from qosforge.reports.proofs import proof_lines, proofs
from qosforge.reports.row_table import row_table
from qosforge.reports.run_metadata import run_metadata
from qosforge.reports.table import COLUMNS, ComparisonGroup, comparison_table, format_bound
from qosforge.reports.trade_offs import accounts, side_texts, trade_off_text, trade_offs
from qosforge.reports.unjudged_trade_offs import trade_off_words
from qosforge.reports.verdict_rows import verdict_rows
from qosforge.resources import read_text
from qosforge.tester.measurement.judging import ClassVerdict
from qosforge.visible import visible_in_page

TEMPLATE = "qosforge/reports/run.html.j2"
"""The page, a Jinja2 template."""

_SYMBOLS = {"met": "✔", "broken": "✘", "inconclusive": "?"}
_SEVERITIES = tuple(Severity)


def render_run_report(report: RunReport) -> str:
    """Render a run as one self-contained HTML page."""
    # matplotlib takes a second to load, and whoever asks for a run loads this module.
    from qosforge.reports.figures import class_figures  # noqa: PLC0415

    sides = _sides(report)
    verdicts = [each for found in sides.values() for each in found]
    page = page_template().render(
        report=report,
        facts=run_metadata(report),
        columns=COLUMNS,
        scenarios=_by_scenario(comparison_table(report.before, report.after)),
        sides=tuple(sides),
        rows=verdict_rows(report),
        unjudged=[trade_off_words(one, report.judged_last) for one in report.unjudged_trade_offs],
        confidences=sorted({f"{each.verdict.confidence * 100:g} %" for each in verdicts}),
        evidence=evidence_words(report.verdicts_after or report.verdicts_before or report.verdicts_predicted),
        accounts=accounts(report.before, report.after),
        balances=trade_offs(report.before, report.after),
        side_texts=side_texts,
        in_words=trade_off_text,
        alike=gather_devices(report.devices),
        name_devices=name_devices,
        findings=_by_severity(report.findings),
        proofs=proof_lines(proofs(report.findings)),
        figures=class_figures(report),
        origins=run_origins(report),
        unrecorded=not_recorded((report.before, report.predicted, report.after)),
        last_side="after" if report.after else "predicted" if report.predicted else "before",
    )
    return page.lstrip()


@cache
def page_template() -> Template:
    """The page's template, compiled: that takes longer than most pages that are rendered with it."""
    environment = Environment(
        loader=FunctionLoader(read_text),
        autoescape=True,
        finalize=visible_in_page,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        amount=format_bound,
        observed=observed,
        interval=interval,
        moment=_moment,
        row_table=row_table,
        symbol=lambda outcome: _SYMBOLS.get(outcome, ""),
        change=_change,
    )
    return environment.get_template(TEMPLATE)


def _sides(report: RunReport) -> dict[str, tuple[ClassVerdict, ...]]:
    """The verdicts of every side of the push; a prediction only where there is one."""
    sides = {
        "before": report.verdicts_before,
        "predicted": report.verdicts_predicted,
        "after": report.verdicts_after,
    }
    return {name: found for name, found in sides.items() if found or name != "predicted"}


def _by_scenario(groups: tuple[ComparisonGroup, ...]) -> list[list[ComparisonGroup]]:
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
