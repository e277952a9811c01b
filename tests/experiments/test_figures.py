"""Pictures of experiments: units of their axes, and what they refuse."""

from __future__ import annotations

import pytest

from qosforge.errors import InputError
from qosforge.experiments.cases import SubjectSelection
from qosforge.experiments.figures import captions, combined_figure

from .sample_rows import claim, experiment, point, row, session

PLOT = {"title": "Delay", "metric": "delay_mean_us", "subjects": ["device"], "scenario": "s"}


@pytest.mark.parametrize(
    ("longest", "says"),
    [
        (9_000.0, "delay mean (µs) over load. device: 20 at 1, 9000 at 2."),
        (30_000.0, "(ms) over load. device: 0.02 at 1, 30 at"),
    ],
)
def test_long_delays_are_in_milliseconds(longest: float, says: str) -> None:
    made = experiment(plots=[PLOT])
    rows = [row("device", load, delay_us={"mean": mean}) for load, mean in ((1.0, 20.0), (2.0, longest))]
    assert says in combined_figure(session(made, {"s": [point(one) for one in rows]}).outcome("made"))


def test_distributions_stand_beside_each_other() -> None:
    plot = {"title": "Delay", "metric": "delay_cdf", "subjects": ["voice"], "scenario": "s"}
    made = experiment(plots=[plot])
    curves = {"kernel": ((1.0, 0.1), (4.0, 95.0)), "twin": ((1.5, 0.1), (5.0, 99.0))}
    text = combined_figure(session(made, {"s": [point(row("voice", curves=curves))]}).outcome("made"))
    said = "came within (%) over delay (ms). voice, kernel: 0.1 at 1, 95 at 4; voice, twin: 0.1 at 1.5, 99 at 5."
    assert said in text
    with pytest.raises(InputError, match="'Delay' of made has no points"):
        combined_figure(session(made, {"s": [point(row("voice"))]}).outcome("made"))


def test_no_plot_is_refused() -> None:
    with pytest.raises(InputError, match="made has no plot"):
        combined_figure(session(experiment(), {}).outcome("made"))


def test_what_the_paper_gives_stands_beside_what_was_obtained() -> None:
    given = [
        claim(metric="delay_mean_us", value=25.0),
        claim(metric="delay_mean_us", type="below", value=90.0),
        claim(metric="delay_mean_us", value=70.0, scenario="t"),
        claim(value=80.0),
    ]
    made = experiment(*given, plots=[PLOT])
    rows = [row("device", load, delay_us={"mean": 20.0}) for load in (1.0, 2.0)]
    text = combined_figure(session(made, {"s": [point(one) for one in rows]}).outcome("made"))
    assert "20 at 2; device, published: 25; device, published, at most: 90." in text
    assert "device, published: 80" not in text, "another metric"
    assert "device, published: 70" not in text, "another scenario"


def test_captions_say_what_each_plot_draws() -> None:
    plots = [
        PLOT,
        PLOT | {"subjects": ["other"]},
        PLOT | {"subjects": ["other"], "scenarios": ["s"], "scenario": None},
        PLOT | {"metric": "delay_cdf", "subjects": ["voice"]},
    ]
    curves = {"kernel": ((1.0, 0.1), (4.0, 95.0)), "twin": ((1.5, 0.1), (5.0, 99.0))}
    rows = [
        row("device", delay_us={"mean": 20.0}),
        row("other", delay_us={"mean": 20.0}, selection=SubjectSelection(expected={"delay_mean_us": 21.0})),
        row("voice", curves=curves),
    ]
    outcome = session(experiment(plots=plots), {"s": [point(*rows)]}).outcome("made")
    assert captions(outcome) == (
        "Simulated here.",
        "Solid: simulated here. Dotted: expected by theory.",
        "Filled: simulated here. Hollow: expected by theory.",
        "Solid: measured on Linux. Dotted: simulated here.",
    )
