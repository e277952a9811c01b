"""The figures of a run for pages, the HTML report and its PDF, with their numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from qosforge.deltaq.comparison import compare_samples
from qosforge.deltaq.objective import DEFAULT_CONFIDENCE, Objective
from qosforge.plots import Bar, ClassBars, Curve, Table, bars_table, class_bars, delta_q_cdf, plot_table
from qosforge.reports.model import RunReport
from qosforge.reports.table import format_bound
from qosforge.tester.measurement.document import FlowResult, Measurement, When, flows_sample
from qosforge.tester.measurement.judging import ClassVerdict
from qosforge.tester.measurement.pooling import ClassSummary, pooled_deltaq, summarise

PS_PER_SECOND = 1e12
"""Picoseconds in a second."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of one scenario: plain data that any process can make and any template show.

    ``key`` is unique in its report and fit for an identifier. ``kind`` is "traffic" where it shows what all classes
    of the scenario got and lost, "deltaq" where it is of one class on one path. ``svgs`` are ``<svg>`` elements
    that stand side by side, or one below the other where there is no room. ``change`` says in words what the push
    changed, where the packets tell. ``readings`` is what a page's script shows of the curves under the pointer:
    JSON, empty where there is nothing to read. ``judged`` tells whether an objective is drawn in.
    """

    key: str
    kind: Literal["traffic", "deltaq"]
    scenario: str
    title: str
    heading: str
    svgs: tuple[str, str]
    table: Table
    change: str = ""
    readings: str = ""
    judged: bool = False


def class_figures(report: RunReport) -> tuple[Figure, ...]:
    """The figures of a run, of every class, scenario and path of which packets were sent.

    It draws for seconds: on a service, in a process of its own.
    """
    measurements = [each for each in (report.before, report.predicted, report.after) if each]
    return figures_of(measurements, (*report.verdicts_after, *report.verdicts_predicted, *report.verdicts_before))


def figures_of(
    measurements: Sequence[Measurement], verdicts: Sequence[ClassVerdict], *, judged_only: bool = False
) -> tuple[Figure, ...]:
    """The figures of measurements of the same scenarios, each with the objective that ``verdicts`` judge it by.

    Of every scenario first what its classes got and lost, then ΔQ class by class; with ``judged_only`` that of the
    classes that have an objective.
    """
    titles = {scenario.name: scenario.title for each in measurements for scenario in each.scenarios}
    drawn: list[Figure] = []
    for name, title in titles.items():
        if classes := _bars(measurements, verdicts, name):
            heading = f"{title}: what each class got and lost"
            svgs = class_bars(classes, title=heading)
            drawn.append(Figure("", "traffic", name, title, heading, svgs, bars_table(classes)))
        drawn += [
            _delta_q(measurements, verdicts, scenario=name, title=title, traffic_class=traffic_class, path=path)
            for traffic_class, path in _distributions(measurements, name)
            if not judged_only or _objective(verdicts, name, traffic_class, path)[0] is not None
        ]
    return tuple(replace(one, key=f"figure-{number}") for number, one in enumerate(drawn, start=1))


def _flows(measurement: Measurement, scenario: str) -> list[FlowResult]:
    return [flow for each in measurement.scenarios if each.name == scenario for flow in each.flows]


def _bars(
    measurements: Sequence[Measurement], verdicts: Sequence[ClassVerdict], scenario: str
) -> tuple[ClassBars, ...]:
    """The throughput of every class in a scenario, all paths together; background traffic last."""
    names = dict.fromkeys(flow.traffic_class for each in measurements for flow in _flows(each, scenario))
    found = []
    for name in sorted(names, key=lambda name: name is None):
        sides: list[tuple[When, ClassSummary]] = []
        for each in measurements:
            flows = [flow for flow in _flows(each, scenario) if flow.traffic_class == name]
            if flows:
                sides.append((each.when, summarise(flows)))
        requested = [
            each.objective.loss
            for each in verdicts
            if (each.scenario, each.traffic_class) == (scenario, name) and each.objective.loss is not None
        ]
        bars = tuple(
            Bar(
                when,
                summary.throughput_bps / 1e3,
                _in_kbps(summary.expected_bps),
                summary.loss,
                _in_kbps(summary.expected_most_bps),
            )
            for when, summary in sides
        )
        offered = _in_kbps(sides[-1][1].offered_bps)
        found.append(ClassBars(name or "background", bars, offered, min(requested, default=None)))
    return tuple(found)


def _in_kbps(bps: int | None) -> float | None:
    return None if bps is None else bps / 1e3


def _distributions(measurements: Sequence[Measurement], scenario: str) -> dict[tuple[str, str], None]:
    """The classes and paths of a scenario of which some tester kept a distribution."""
    return dict.fromkeys(
        (flow.traffic_class, flow.path)
        for each in measurements
        for flow in _flows(each, scenario)
        if flow.traffic_class is not None and (flow.samples or flow.histogram)
    )


def _delta_q(
    measurements: Sequence[Measurement],
    verdicts: Sequence[ClassVerdict],
    *,
    scenario: str,
    title: str,
    traffic_class: str,
    path: str,
) -> Figure:
    curves = [curve for each in measurements if (curve := _curve(each, scenario, traffic_class, path))]
    objective, confidence = _objective(verdicts, scenario, traffic_class, path)
    heading = f"{title}: {traffic_class}, {path}"
    plot = delta_q_cdf(curves, objective, title=f"ΔQ of {heading}", confidence=confidence)
    return Figure(
        "",
        "deltaq",
        scenario,
        title,
        heading,
        plot.svgs,
        plot_table(curves, objective),
        change=_change_in_words(curves, confidence),
        readings=plot.hover_data,
        judged=objective is not None,
    )


def _change_in_words(curves: Sequence[Curve], confidence: float) -> str:
    """The comparison of ΔQ after and before the push in words; empty where either has no samples."""
    sides = {curve.when: curve.sample for curve in curves if curve.sample is not None}
    if not {"before", "after"} <= sides.keys():
        return ""
    found = compare_samples(sides["before"], sides["after"], confidence)
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
    first, last = (format_bound(each / PS_PER_SECOND, "delay") for each in (first_ps, last_ps))
    return f"a deadline of {first}" if first == last else f"deadlines between {first} and {last}"


def _curve(measurement: Measurement, scenario: str, traffic_class: str, path: str) -> Curve | None:
    """ΔQ of a class on one path; ``None`` when the measurement has nothing of it."""
    flows = [
        flow
        for flow in _flows(measurement, scenario)
        if flow.traffic_class == traffic_class and flow.path == path and (flow.samples or flow.histogram)
    ]
    if not flows:
        return None
    ordered = all(flow.samples for flow in flows)
    independent = measurement.is_independent(measurement.scenario(scenario, path))
    sample = flows_sample(flows, independent=independent) if ordered else None
    return Curve(traffic_class, measurement.when, pooled_deltaq(flows), sample)


def _objective(
    verdicts: Sequence[ClassVerdict], scenario: str, traffic_class: str, path: str
) -> tuple[Objective | None, float]:
    """Return the objective that a class was judged by in a scenario, and the confidence."""
    for each in verdicts:
        if (each.scenario, each.traffic_class) == (scenario, traffic_class) and each.path in (None, path):
            return each.objective, each.verdict.confidence
    return None, DEFAULT_CONFIDENCE
