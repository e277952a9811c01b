"""Plots: complete, deterministic, safe to embed, and honest about loss."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from qosforge.deltaq.distribution import DeltaQ
from qosforge.deltaq.objective import Objective
from qosforge.deltaq.sample import Sample
from qosforge.plots import Curve, delta_q_cdf, plot_table
from qosforge.plots.style import COLOURS, SIDE_COLOURS

SVG = "{http://www.w3.org/2000/svg}"
MS = 10**9
OBJECTIVE = Objective(delay={"p95": 0.04, "p99": 0.06}, variation=0.03, loss=0.001)


def curve(label: str = "voice", when: str = "after", loss: float = 0.0, samples: bool = True) -> Curve:
    generator = np.random.default_rng(1)
    delays = [-1 if generator.random() < loss else int(d) for d in generator.gamma(3, 4 * MS, 800)]
    kept = Sample.single(list(enumerate(delays))) if samples else None
    return Curve(label, when, DeltaQ.from_delays(delays), kept)  # type: ignore[arg-type]


def drawn(*curves: Curve, objective: Objective | None = None, title: str = "t") -> str:
    return "".join(delta_q_cdf(curves, objective, title=title).svgs)


def words(svg: str) -> tuple[str, str]:
    """Title and description, as the element names them."""
    root = ET.fromstring(svg)
    assert root.tag == f"{SVG}svg"
    assert root.get("role") == "img"
    named = {each.get("id"): each.text or "" for each in root}
    title, description = (named[name] for name in (root.get("aria-labelledby") or "").split())
    return title, description


def test_both_pictures_are_well_formed_and_described() -> None:
    plot = delta_q_cdf([curve(when="before", loss=0.07), curve()], OBJECTIVE, title="ΔQ of voice")
    (title, description), (late, beyond) = map(words, plot.svgs)
    assert (title, late) == ("ΔQ of voice: arrived in time", "ΔQ of voice: late or lost")
    assert "voice before: p50" in description
    assert "p95 never" in description
    assert "Asked: p95 at most 40 ms, p99 at most 60 ms, jitter at most 30 ms, loss at most 0.1 %" in description
    assert re.search(r"Later than 40 ms or lost, at most 5 % asked: before \d\.?\d* %, after 0\.\d+ %\.", beyond)
    assert re.search(r"Lost, at most 0\.1 % asked: before \d\.?\d* %, after 0 %\.", beyond)


def test_the_same_input_gives_the_same_bytes() -> None:
    curves = [curve(when="before", loss=0.02), curve()]
    assert delta_q_cdf(curves, OBJECTIVE, title="t") == delta_q_cdf(curves, OBJECTIVE, title="t")


def test_no_two_pictures_in_a_page_share_an_identifier() -> None:
    svgs = [svg for title in ("one", "two") for svg in delta_q_cdf([curve()], OBJECTIVE, title=title).svgs]
    ids = [re.findall(r'\bid="([^"]+)"', svg) for svg in svgs]
    together = [each for svg in ids for each in svg]
    assert len(together) == len(set(together))
    for svg, own in zip(svgs, ids, strict=True):
        used = set(re.findall(r'(?:href="#|url\(#)([^")]+)', svg))
        assert used
        assert used <= set(own)


def test_nothing_is_loaded_and_no_style_leaks() -> None:
    svg = drawn(curve(), objective=OBJECTIVE)
    assert "style" not in svg
    assert "font-size=" in svg
    assert "<image" not in svg
    assert "<script" not in svg
    assert not re.search(r'href="(?!#)', svg)
    assert "currentColor" in svg


def test_names_are_escaped_and_never_formulas() -> None:
    svg = drawn(curve(label="<b>&$x^$"), curve(), title='</title><script>alert("x")</script>')
    assert "<script" not in svg
    assert "<b>" not in svg
    assert "$x^$, after" in svg


def test_loss_is_drawn_and_written() -> None:
    assert re.search(r"after \(2\d % lost\)", drawn(curve(loss=0.25)))
    assert "lost)" not in drawn(curve())


def test_sides_of_a_push_differ_in_more_than_colour() -> None:
    svg = drawn(curve(when="before"), curve(when="predicted"), curve())
    assert len(set(re.findall(r'stroke-dasharray="[^"]+"', svg))) == 2
    assert all(f">{side}<" in svg for side in ("before", "predicted", "after"))
    assert "stroke-dasharray" not in drawn(curve())


def test_every_colour_stands_out_on_white_and_on_dark_paper() -> None:
    for colour in (*COLOURS, *SIDE_COLOURS.values()):
        assert contrast(colour, "#ffffff") >= 3
        assert contrast(colour, "#14181d") >= 3


def contrast(one: str, other: str) -> float:
    """Contrast ratio of WCAG 2.2."""
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_the_objective_is_drawn_in() -> None:
    svg = drawn(curve(), objective=OBJECTIVE)
    for text in ("p95 ≤ 40 ms", "p99 ≤ 60 ms", "jitter ≤ 30 ms", "loss ≤ 0.1 %", "not allowed"):
        assert text in svg
    assert "≤" not in drawn(curve())


def test_no_two_texts_of_a_picture_touch() -> None:
    """Names and bounds stand below the axes, each in its own place."""
    curves = [curve(when="before", loss=0.07), curve(when="predicted"), curve()]
    for svg in delta_q_cdf(curves, OBJECTIVE, title="t").svgs:
        texts = [
            (float(each.get("x") or 0), float(each.get("y") or 0), len(each.text or ""))
            for each in ET.fromstring(svg).iter(f"{SVG}text")
            if each.get("text-anchor") == "start"
        ]
        for number, (x, y, length) in enumerate(texts):
            for other_x, other_y, _ in texts[:number]:
                assert abs(y - other_y) > 9 or abs(x - other_x) > length * 4


def test_a_sample_adds_a_band() -> None:
    assert len(drawn(curve())) > len(drawn(curve(samples=False)))


def test_a_script_can_read_the_curves() -> None:
    plot = delta_q_cdf([curve(when="before", loss=0.2), curve()], OBJECTIVE, title="t")
    read = json.loads(plot.hover_data)
    before, after = read["curves"]
    assert (before["name"], after["name"]) == ("before", "after")
    assert after["shares"][-1] == 1
    assert 0.7 < before["shares"][-1] < 0.9
    assert all(len(each["delays"]) == len(each["shares"]) for each in read["curves"])
    body, tail = read["panels"]
    assert (body["late"], tail["late"]) == (False, True)
    assert body["delay"] == tail["delay"]
    for svg, panel in zip(plot.svgs, read["panels"], strict=True):
        clip = next(each for each in ET.fromstring(svg).iter(f"{SVG}clipPath"))[0]
        left, top, width, height = (float(clip.get(name) or 0) for name in ("x", "y", "width", "height"))
        assert panel["x"] == pytest.approx([left, left + width], abs=0.1)
        assert panel["y"] == pytest.approx([top + height, top], abs=0.1)


@pytest.mark.parametrize("distribution", [DeltaQ.lost(), DeltaQ.identity(), DeltaQ.from_delays([MS])])
@pytest.mark.parametrize("objective", [None, OBJECTIVE])
def test_the_simplest_distributions_can_be_drawn(distribution: DeltaQ, objective: Objective | None) -> None:
    plot = delta_q_cdf([Curve("x", "after", distribution)], objective, title="t")
    assert all(words(svg)[1] for svg in plot.svgs)
    assert plot_table([Curve("x", "after", distribution)], objective).rows


def test_many_classes_can_share_a_plot() -> None:
    assert "class 6, after" in drawn(*(curve(label=f"class {number}") for number in range(7)))


def test_no_curve_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one curve"):
        delta_q_cdf([], title="t")


def test_the_table_has_every_figure_beside_its_bound() -> None:
    table = plot_table([curve(when="before", loss=0.07), curve()], OBJECTIVE)
    assert table.headings == (
        "",
        "p50 (ms)",
        "p95 (ms)",
        "p99 (ms)",
        "max (ms)",
        "jitter p99.9 (ms)",
        "loss (%)",
    )
    before, after, requested = table.rows
    assert (before.name, after.name, requested.name) == ("before", "after", "requested")
    assert [cell.text for cell in requested.cells] == ["", "≤ 40", "≤ 60", "", "≤ 30", "≤ 0.1"]
    assert [cell.above for cell in before.cells] == [False, True, True, False, True, True]
    assert before.cells[1].text == "∞"
    assert table.note.startswith("∞")
    assert not any(cell.above for cell in requested.cells)
    assert after.cells[-1].text == "0"


def test_a_table_without_an_objective_has_nothing_to_compare_with() -> None:
    table = plot_table([curve()])
    assert [row.name for row in table.rows] == ["after"]
    assert not any(cell.above for cell in table.rows[0].cells)
    assert table.note == ""


def test_other_quantiles_and_the_mean_have_columns_where_they_are_asked_for() -> None:
    table = plot_table([curve()], Objective(delay={"p99.9": 0.5}, mean=0.001))
    assert table.headings[4:7] == ("p99.9 (ms)", "mean (ms)", "max (ms)")
    assert [cell.above for cell in table.rows[0].cells] == [False, False, False, False, True, False, False]
