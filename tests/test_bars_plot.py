"""Bars of what each class got and lost: what they say, and the table beside them."""

from __future__ import annotations

import re

import pytest

from qosforge.plots import Bar, ClassBars, bars_table, class_bars

VOICE = ClassBars(
    "voice",
    (Bar("before", 507.0, 505.7, 0.319), Bar("predicted", 966.4, 966.4, 0.0), Bar("after", 962.6, 966.4, 0.0)),
    offered_kbps=966.4,
    allowed_loss=0.001,
)
BACKGROUND = ClassBars("background", (Bar("before", 2000.0), Bar("after", 900.0)))


def test_there_is_a_picture_of_throughput_and_one_of_loss() -> None:
    throughput, loss = class_bars((VOICE, BACKGROUND), title="WAN")
    assert "WAN: throughput" in throughput
    assert "voice: before 507, expected 505.7; predicted 966.4, expected 966.4; after 962.6" in throughput
    assert "WAN: loss" in loss
    assert "voice: before 31.9, allowed at most 0.1;" in loss
    assert "background: before –; after –." in loss


def test_an_expectation_with_two_ends_is_drawn_and_told_with_both() -> None:
    wide = ClassBars("voice", (Bar("after", 500.0, 200.0, 0.0, expected_most_kbps=700.0),))
    narrow = ClassBars("voice", (Bar("after", 500.0, 200.0, 0.0),))

    assert "voice: after 500, expected 200–700." in class_bars((wide,), title="WAN")[0]
    assert [cell.text for cell in bars_table((wide,)).rows[0].cells][1] == "200–700"
    drawn = [class_bars((one,), title="WAN")[0].count("<path") for one in (wide, narrow)]
    assert drawn[0] > drawn[1]


def test_sides_differ_in_more_than_colour_and_bring_no_style() -> None:
    for svg in class_bars((VOICE,), title="WAN"):
        assert "style" not in svg
        assert len(set(re.findall(r'fill="url\(#([^)]+)\)', svg))) == 2
        assert all(f">{side}<" in svg for side in ("before", "predicted", "after"))
        assert len(svg) < 40_000


def test_what_is_not_known_is_not_in_the_legend() -> None:
    throughput, loss = class_bars((BACKGROUND,), title="WAN")
    for svg in (throughput, loss):
        assert ">predicted<" not in svg
        assert ">expected<" not in svg
        assert ">allowed at most<" not in svg


def test_the_same_input_gives_the_same_bytes() -> None:
    assert class_bars((VOICE, BACKGROUND), title="WAN") == class_bars((VOICE, BACKGROUND), title="WAN")


def test_names_are_never_markup() -> None:
    nasty = ClassBars("<script>alert(1)</script>$x$", VOICE.bars)
    assert "<script" not in "".join(class_bars((nasty,), title="<b>"))


def test_the_table_has_every_figure_and_marks_what_is_above_its_bound() -> None:
    table = bars_table((VOICE, BACKGROUND))
    assert [row.name for row in table.rows][::3] == ["voice, before", "background, before"]
    before = table.rows[0].cells
    assert [cell.text for cell in before] == ["966.4", "505.7", "507", "31.9", "≤ 0.1"]
    assert [cell.above for cell in before] == [False, False, False, True, False]
    assert [cell.text for cell in table.rows[3].cells] == ["–", "–", "2,000", "–", ""]
    assert not any(cell.above for row in table.rows[1:] for cell in row.cells)
    (group, rows), _ = table.groups
    assert (group, [row.name_in_group for row in rows]) == ("voice", ["before", "predicted", "after"])


@pytest.mark.parametrize("classes", [[], [ClassBars("voice", ())]])
def test_without_a_bar_there_is_no_plot(classes: list[ClassBars]) -> None:
    with pytest.raises(ValueError, match="at least one bar"):
        class_bars(classes, title="WAN")
