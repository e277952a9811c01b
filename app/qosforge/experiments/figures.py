"""The plots of an experiment: what the paper's figures show, with the expected values dashed beside."""

from __future__ import annotations

from dataclasses import replace

from qosforge.errors import InputError
from qosforge.experiments.metrics.evaluation import MetricQuery, aggregate, evaluate_at
from qosforge.experiments.model import Experiment, Plot
from qosforge.experiments.running import ExperimentOutcome
from qosforge.plots import Panel, Series, series_plot

_UNITS = {"mbps": "Mb/s", "kbps": "kb/s", "us": "µs", "ms": "ms", "percent": "%"}
_LONG_US = 10_000
"""From here on an axis is in milliseconds."""


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
    """The plots of an experiment, an ``<svg>`` element each: pages set them side by side where there is room."""
    plots = outcome.experiment.plots
    return tuple(series_plot((_panel(outcome, plot),), title=plot.title) for plot in plots)


def _panel(outcome: ExperimentOutcome, plot: Plot) -> Panel:
    series: list[Series] = []
    for subject in plot.subjects:
        for label, metric, dashed in ((subject, plot.metric, False), (f"{subject}, expected", "expected", True)):
            points = _points(outcome, plot, subject, metric)
            if points:
                series.append(Series(label, points, dashed=dashed))
    if not series:
        raise InputError(f"the plot {plot.title!r} of {outcome.experiment.name} has no points")
    metric = plot.metric
    if metric.endswith("_us") and max(y for one in series for _, y in one.points) >= _LONG_US:
        series = [replace(one, points=tuple((x, y / 1000) for x, y in one.points)) for one in series]
        metric = f"{metric.removesuffix('_us')}_ms"
    return Panel(plot.title, _axis(outcome, plot), _label(metric), tuple(series), plot.logarithmic)


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
