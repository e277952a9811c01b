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

from app.deltaq.comparison import compare_samples
from app.deltaq.objective import DEFAULT_CONFIDENCE, BoundVerdict, Objective
from app.findings import Finding, Severity
from app.plots import Curve, delta_q_cdf
from app.reports.balance import accounts, in_words, side_texts, who_paid
from app.reports.facts import run_facts
from app.reports.model import RunReport
from app.reports.table import COLUMNS, Group, amount, comparison_table
from app.resources import read_text
from app.tester.judging import ClassVerdict
from app.tester.measurement import FlowResult, Measurement, pooled_deltaq

TEMPLATE = "app/reports/run.html.j2"
"""The page, a Jinja2 template."""

PS_PER_SECOND = 1e12
"""Picoseconds in a second."""

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


@dataclass(frozen=True, slots=True)
class Plot:
    """One drawing with what it shows, and in words what changed."""

    heading: str
    svg: str
    change: str = ""


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
        plots=class_plots(report),
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


def class_plots(report: RunReport) -> tuple[Plot, ...]:
    """Draw the ΔQ of every class, scenario and path of which packets were sent, before and after."""
    keys: dict[tuple[str, str, str], str] = {}
    for measurement in (report.before, report.after):
        for scenario in measurement.scenarios if measurement else ():
            for flow in scenario.flows:
                if flow.traffic_class is not None and (flow.samples or flow.histogram):
                    keys.setdefault((scenario.name, flow.traffic_class, flow.path), scenario.title)
    plots = []
    for (name, traffic_class, path), title in keys.items():
        curves = [
            curve
            for measurement in (report.before, report.after)
            if measurement and (curve := _curve(measurement, name, traffic_class, path))
        ]
        objective, confidence = _objective(report, name, traffic_class, path)
        heading = f"{title}: {traffic_class}, {path}"
        svg = delta_q_cdf(curves, objective, title=f"ΔQ of {heading}", confidence=confidence)
        plots.append(Plot(heading, svg, _change_in_words(curves, confidence)))
    return tuple(plots)


def _change_in_words(curves: list[Curve], confidence: float) -> str:
    """How ΔQ after the push stands to that before it; nothing where either has no samples."""
    if len(curves) != 2 or not all(curve.samples for curve in curves):
        return ""
    found = compare_samples(curves[0].samples, curves[1].samples, confidence)
    if found.order == "equal":
        return f"At {confidence * 100:g} % confidence, these packets do not tell before and after apart."
    parts = [
        f"{what} packets arrive by {_deadlines(*span)}"
        for what, span in (("more", found.better_ps), ("fewer", found.worse_ps))
        if span
    ]
    return f"After the push, {' and '.join(parts)} ({confidence * 100:g} % confidence)."


def _deadlines(first_ps: float, last_ps: float) -> str:
    """Deadlines between which two distributions differ, as people write them."""
    first, last = (amount(each / PS_PER_SECOND, "delay") for each in (first_ps, last_ps))
    return f"a deadline of {first}" if first == last else f"deadlines between {first} and {last}"


def _curve(measurement: Measurement, scenario: str, traffic_class: str, path: str) -> Curve | None:
    """ΔQ of a class on one path; ``None`` when the measurement has nothing of it."""
    flows: list[FlowResult] = [
        flow
        for each in measurement.scenarios
        if each.name == scenario
        for flow in each.flows
        if flow.traffic_class == traffic_class and flow.path == path and (flow.samples or flow.histogram)
    ]
    if not flows:
        return None
    ordered = all(flow.samples for flow in flows)
    samples = tuple(sorted(sample for flow in flows for sample in flow.samples)) if ordered else ()
    return Curve(traffic_class, measurement.when, pooled_deltaq(flows), samples)


def _objective(report: RunReport, scenario: str, traffic_class: str, path: str) -> tuple[Objective | None, float]:
    """Return the objective that a class was judged by in a scenario, and the confidence."""
    verdicts: tuple[ClassVerdict, ...] = (*report.verdicts_after, *report.verdicts_before)
    for each in verdicts:
        if (each.scenario, each.traffic_class) == (scenario, traffic_class) and each.path in (None, path):
            return each.objective, each.verdict.confidence
    return None, DEFAULT_CONFIDENCE


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
