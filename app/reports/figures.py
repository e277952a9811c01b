"""The figures of a run: what pages, the HTML report and its PDF show of each class, with the numbers beside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.deltaq.comparison import compare_samples
from app.deltaq.objective import DEFAULT_CONFIDENCE, Objective
from app.plots import Curve, Table, delta_q_cdf, plot_table
from app.reports.model import RunReport
from app.reports.table import amount
from app.tester.judging import ClassVerdict
from app.tester.measurement import FlowResult, Measurement, pooled_deltaq

PS_PER_SECOND = 1e12
"""Picoseconds in a second."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of one scenario, plain data that any process can make and any template show.

    ``key`` is unique in its report and fit for an identifier. ``svgs`` are ``<svg>`` elements that stand side by
    side, or one below the other where there is no room. ``change`` says in words what the push changed, where
    the packets tell. ``readings`` is what a page's script shows of the curves under the pointer: JSON, empty where
    there is nothing to read. ``judged`` tells whether an objective is drawn in.
    """

    key: str
    scenario: str
    title: str
    heading: str
    svgs: tuple[str, ...]
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


def figures_of(measurements: Sequence[Measurement], verdicts: Sequence[ClassVerdict]) -> tuple[Figure, ...]:
    """The figures of measurements of the same scenarios, each with the objective that ``verdicts`` judge it by."""
    keys: dict[tuple[str, str, str], str] = {}
    for measurement in measurements:
        for scenario in measurement.scenarios:
            for flow in scenario.flows:
                if flow.traffic_class is not None and (flow.samples or flow.histogram):
                    keys.setdefault((scenario.name, flow.traffic_class, flow.path), scenario.title)
    figures = []
    for number, ((name, traffic_class, path), title) in enumerate(keys.items(), start=1):
        curves = [curve for each in measurements if (curve := _curve(each, name, traffic_class, path))]
        objective, confidence = _objective(verdicts, name, traffic_class, path)
        heading = f"{title}: {traffic_class}, {path}"
        plot = delta_q_cdf(curves, objective, title=f"ΔQ of {heading}", confidence=confidence)
        figures.append(
            Figure(
                key=f"figure-{number}",
                scenario=name,
                title=title,
                heading=heading,
                svgs=plot.svgs,
                table=plot_table(curves, objective),
                change=_change_in_words(curves, confidence),
                readings=plot.readings,
                judged=objective is not None,
            )
        )
    return tuple(figures)


def _change_in_words(curves: Sequence[Curve], confidence: float) -> str:
    """How ΔQ after the push stands to that before it; nothing where either has no samples."""
    sides = {curve.when: curve.samples for curve in curves if curve.samples}
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


def _objective(
    verdicts: Sequence[ClassVerdict], scenario: str, traffic_class: str, path: str
) -> tuple[Objective | None, float]:
    """Return the objective that a class was judged by in a scenario, and the confidence."""
    for each in verdicts:
        if (each.scenario, each.traffic_class) == (scenario, traffic_class) and each.path in (None, path):
            return each.objective, each.verdict.confidence
    return None, DEFAULT_CONFIDENCE
