"""Plots of lines and bars: what they say to those who cannot see them, and what they refuse."""

from __future__ import annotations

import re

import pytest

from qosforge.plots import Bound, Panel, Published, Series, series_plot

LINE = Series("switch.q3", ((100.0, 12.0), (600.0, 4000.0)))
MODEL = Series("switch.q3, expected", ((100.0, 12.0), (600.0, 4100.0)), dashed=True)


def plot(*series: Series, logarithmic: bool = False) -> str:
    return series_plot([Panel("Delay", "load (Mb/s)", "delay (µs)", series, logarithmic)], title="A study")


def test_the_description_has_the_ends_of_every_line() -> None:
    text = plot(LINE, MODEL)
    assert "<title" in text
    assert "switch.q3: 12 at 100, 4000 at 600; switch.q3, expected: 12 at 100, 4100 at 600." in text


def test_a_logarithmic_axis_is_labelled_with_numbers() -> None:
    text = plot(LINE, logarithmic=True)
    assert ">1,000<" in text
    assert "mathdefault" not in text


def test_a_logarithmic_axis_within_one_decade_has_several_labels() -> None:
    labels = set(re.findall(r">([\d.,]+)</text>", plot(Series("a", ((1.0, 1.2), (2.0, 6.0))), logarithmic=True)))
    assert labels >= {"2", "5"}


def test_large_figures_have_no_exponent() -> None:
    text = plot(Series("a", ((1.0, 12.0), (2.0, 2e6))), logarithmic=True)
    assert "1,000,000" in text
    assert "1e+06" not in text


def test_it_stands_in_a_page_that_allows_no_style() -> None:
    assert "style" not in plot(LINE, MODEL) + plot(Series("a", (("before", 1.0), ("after", 2.0))))


def test_named_groups_become_bars() -> None:
    text = plot(Series("a", (("before", 1.0), ("after", 2.0))), Series("b", (("before", 3.0), ("after", 4.0))))
    assert ">before<" in text
    assert "b: 3 at before, 4 at after" in text


def test_the_same_input_gives_the_same_bytes() -> None:
    assert plot(LINE, MODEL) == plot(LINE, MODEL)


@pytest.mark.parametrize("panels", [[], [Panel("Delay", "x", "y", (Series("a", ()),))]])
def test_without_a_point_there_is_no_plot(panels: list[Panel]) -> None:
    with pytest.raises(ValueError, match="at least one"):
        series_plot(panels, title="A study")


def test_what_was_published_is_drawn_beside_and_told() -> None:
    bars = (Series("a", (("before", 1.0), ("after", 2.0))), Series("b", (("after", 4.0),)))
    published = (
        Published("b", 4.5, group="after"),
        Published("a", 2.5, Bound.AT_MOST, group="after"),
        Published("a", 1.5, Bound.AT_MOST, group="before"),
    )
    text = series_plot([Panel("Delay", "", "delay (µs)", bars, published=published)], title="A study")
    assert "b, published: 4.5 at after; a, published, at most: 2.5 at after" in text
    assert re.findall(r">(published[^<]*)</text>", text) == ["published", "published, at most"]


def test_what_was_published_for_a_whole_line_goes_along_it() -> None:
    text = series_plot(
        [
            Panel(
                "Delay", "load", "delay (µs)", (LINE,), published=(Published("switch.q3", 3000.0, Bound.AT_LEAST),)
            )
        ],
        title="A study",
    )
    assert "switch.q3, published, at least: 3000." in text
