"""The plots of an experiment: what the paper's figures show, with the expected values dashed beside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from textwrap import fill
from typing import Any

from qosforge.errors import InputError
from qosforge.experiments.catalogue import experiment_labels
from qosforge.experiments.metrics.evaluation import MetricQuery, aggregate, evaluate_at
from qosforge.experiments.model import Experiment, Plot, Relation
from qosforge.experiments.running import ExperimentOutcome
from qosforge.plots import Bound, Panel, Published, Series, series_plot

_DELAY_CDF = "delay_cdf"
_UNITS = {"mbps": "Mb/s", "kbps": "kb/s", "us": "µs", "ms": "ms", "percent": "%"}
_LONG_US = 10_000
"""From here on an axis is in milliseconds."""
_BOUNDS = {
    Relation.APPROX: Bound.NEAR,
    Relation.EQUAL: Bound.NEAR,
    Relation.BELOW: Bound.AT_MOST,
    Relation.AT_MOST: Bound.AT_MOST,
    Relation.ABOVE: Bound.AT_LEAST,
    Relation.AT_LEAST: Bound.AT_LEAST,
}
"""Orders and ratios say nothing of one value."""
_TICK_LETTERS, _NARROW_LETTERS = 16, 38
"""Letters of a line below a group of bars, and below all groups of a narrow plot together."""


def require_plots(experiment: Experiment) -> None:
    """Refuse an experiment without plots.

    Raises:
        InputError: the experiment has none.
    """
    if not experiment.plots:
        raise InputError(f"{experiment.name} has no plot", hint="ask for its document with --json")


def combined_figure(outcome: ExperimentOutcome) -> str:
    """All plots of an experiment as one ``<svg>`` element.

    Raises:
        InputError: the experiment has none.
    """
    experiment = outcome.experiment
    require_plots(experiment)
    panels = tuple(_panel(outcome, plot) for plot in experiment.plots)
    return series_plot(panels, title=f"{experiment.title} ({experiment.paper.cited})")


def figures(outcome: ExperimentOutcome) -> tuple[str, ...]:
    """The plots of an experiment, an ``<svg>`` element each: as narrow as phones, pages set them in rows."""
    plots = outcome.experiment.plots
    panels = tuple(_panel(outcome, plot, _NARROW_LETTERS // max(1, len(plot.scenarios))) for plot in plots)
    return tuple(series_plot((one,), title=one.title, narrow=True) for one in panels)


def captions(outcome: ExperimentOutcome) -> tuple[str, ...]:
    """What the look of lines and bars means, for each plot of `figures`."""
    return tuple(_caption(_panel(outcome, plot), plot) for plot in outcome.experiment.plots)


def _caption(panel: Panel, plot: Plot) -> str:
    if plot.metric == _DELAY_CDF:
        return "Solid: measured on Linux. Dotted: simulated here."
    solid, dashed = ("Filled", "Hollow") if plot.scenarios else ("Solid", "Dotted")
    if any(one.dashed for one in panel.series):
        return f"{solid}: simulated here. {dashed}: expected by theory."
    return "Simulated here."


def _panel(outcome: ExperimentOutcome, plot: Plot, letters: int = _TICK_LETTERS) -> Panel:
    """A plot, with readers' words for the short names of the data: so many letters a line below a group of bars."""
    panel = _named_by_data(outcome, plot)
    names = _subject_names(plot.subjects)
    scenarios = {
        name: fill(experiment_labels().scenario(outcome.experiment.name, name), letters, break_long_words=False)
        for name in plot.scenarios
    }

    def words(label: str) -> str:
        subject = next((one for one in names if label == one or label.startswith(f"{one}, ")), "")
        return names[subject] + label[len(subject) :] if subject else label

    def at(x: float | str | None) -> Any:
        return scenarios.get(x, x) if isinstance(x, str) else x

    series = tuple(
        replace(
            one,
            label=words(one.label),
            points=tuple((at(x), y) for x, y in one.points),
            beside=words(one.beside) if one.beside else one.beside,
        )
        for one in panel.series
    )
    published = tuple(replace(one, label=words(one.label), group=at(one.group)) for one in panel.published)
    return replace(panel, series=series, published=published)


def _subject_names(subjects: Sequence[str]) -> dict[str, str]:
    """What readers call the subjects of a plot: where all are of one device, by their parts alone."""
    labels = experiment_labels()
    whole = {subject: labels.subject(subject) for subject in subjects}
    if len({subject.partition(".")[0] for subject in subjects}) > 1 or not all("." in one for one in subjects):
        return whole
    return {subject: words.partition(" of ")[0] for subject, words in whole.items()}


def _named_by_data(outcome: ExperimentOutcome, plot: Plot) -> Panel:
    if plot.metric == _DELAY_CDF:
        return _distributions(outcome, plot)
    series: list[Series] = []
    for subject in plot.subjects:
        for label, metric, dashed in ((subject, plot.metric, False), (f"{subject}, expected", "expected", True)):
            points = _points(outcome, plot, subject, metric)
            if points:
                series.append(Series(label, points, dashed=dashed))
    if not series:
        raise InputError(f"the plot {plot.title!r} of {outcome.experiment.name} has no points")
    metric = plot.metric
    published = list(_published(outcome.experiment, plot, series))
    if metric.endswith("_us") and max(y for one in series for _, y in one.points) >= _LONG_US:
        series = [replace(one, points=tuple((x, y / 1000) for x, y in one.points)) for one in series]
        published = [replace(one, value=one.value / 1000) for one in published]
        metric = f"{metric.removesuffix('_us')}_ms"
    return Panel(
        plot.title, _axis(outcome, plot), _label(metric), tuple(series), plot.logarithmic, tuple(published)
    )


def _distributions(outcome: ExperimentOutcome, plot: Plot) -> Panel:
    """What part of the packets came within a delay; all curves of a subject but the first are dashed."""
    series = tuple(
        Series(f"{subject}, {name}", points, dashed=number > 0, beside=subject)
        for subject in plot.subjects
        for point in outcome.at(plot.scenario or next(iter(outcome.points)), subject)
        for number, (name, points) in enumerate(point.pooled[subject].curves.items())
    )
    if not series:
        raise InputError(f"the plot {plot.title!r} of {outcome.experiment.name} has no points")
    return Panel(plot.title, "delay (ms)", "came within (%)", series, logarithmic_x=True)


def _published(experiment: Experiment, plot: Plot, series: Sequence[Series]) -> Iterator[Published]:
    """What the paper gives in figures for what a plot shows: of the same scenario and metric."""
    shown = {(one.label, x if plot.scenarios else None) for one in series for x, _ in one.points}
    scenarios = plot.scenarios or (plot.scenario or next(iter(experiment.scenarios)),)
    for claim in experiment.claims:
        bound = _BOUNDS.get(claim.type)
        if bound is None or claim.against or claim.metric != plot.metric or claim.scenario not in scenarios:
            continue
        assert isinstance(claim.value, float)
        group = claim.scenario if plot.scenarios else None
        for subject in experiment.subjects(claim.subject):
            if (subject, group) in shown:
                yield Published(subject, claim.value, bound, group)


def _points(
    outcome: ExperimentOutcome, plot: Plot, subject: str, metric: str
) -> tuple[tuple[float | str, float], ...]:
    found: list[tuple[float | str, float]] = []
    for scenario in plot.scenarios or (plot.scenario or next(iter(outcome.points)),):
        own: list[tuple[float | str, float]] = []
        for point in outcome.at(scenario, subject):
            if metric == "expected":
                value = point.pooled[subject].selection.expected.get(plot.metric)
            else:
                value = evaluate_at(point, MetricQuery(outcome.experiment.name, subject, scenario, metric))
            if value is not None:
                own.append((scenario if plot.scenarios or point.load is None else point.load, value))
        if plot.scenarios and own:
            # One bar for a scenario, however many loads or simulations it has.
            own = [(scenario, aggregate(plot.metric, [value for _, value in own]))]
        found += own
    return tuple(found)


def _axis(outcome: ExperimentOutcome, plot: Plot) -> str:
    return "" if plot.scenarios else outcome.experiment.load or plot.x


def _label(metric: str) -> str:
    name, _, unit = metric.rpartition("_")
    return f"{name.replace('_', ' ')} ({_UNITS[unit]})" if unit in _UNITS else metric.replace("_", " ")
