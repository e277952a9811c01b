"""Plots: complete, deterministic, safe to embed, and honest about loss."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from app.deltaq.distribution import DeltaQ
from app.deltaq.objective import Objective
from app.plots import Curve, delta_q_cdf

SVG = "{http://www.w3.org/2000/svg}"
MS = 10**9
OBJECTIVE = Objective(delay={"p95": 0.04, "p99": 0.06}, variation=0.03, loss=0.001)


def curve(label: str = "voice", when: str = "after", loss: float = 0.0, samples: bool = True) -> Curve:
    generator = np.random.default_rng(1)
    delays = [-1 if generator.random() < loss else int(d) for d in generator.gamma(3, 4 * MS, 800)]
    kept = tuple((number, delay) for number, delay in enumerate(delays)) if samples else ()
    return Curve(label, when, DeltaQ.from_delays(delays), kept)  # type: ignore[arg-type]


def test_it_is_well_formed_and_described() -> None:
    svg = delta_q_cdf([curve(when="before", loss=0.07), curve()], OBJECTIVE, title="ΔQ of voice")
    root = ET.fromstring(svg)
    assert root.tag == f"{SVG}svg"
    assert root.get("role") == "img"
    named = {each.get("id"): each.text or "" for each in root}
    title, description = (named[name] for name in (root.get("aria-labelledby") or "").split())
    assert title == "ΔQ of voice"
    assert "voice before: p50" in description
    assert "p95 never" in description
    assert "Asked: p95 at most 40 ms, p99 at most 60 ms, variation at most 30 ms, loss at most 0.1 %" in description


def test_the_same_input_gives_the_same_bytes() -> None:
    curves = [curve(when="before", loss=0.02), curve()]
    assert delta_q_cdf(curves, OBJECTIVE, title="t") == delta_q_cdf(curves, OBJECTIVE, title="t")


def test_two_plots_in_one_page_share_no_identifier() -> None:
    first, second = (delta_q_cdf([curve()], OBJECTIVE, title=title) for title in ("one", "two"))
    ids = [set(re.findall(r'\bid="([^"]+)"', svg)) for svg in (first, second)]
    assert not ids[0] & ids[1]
    used = set(re.findall(r'(?:href="#|url\(#)([^")]+)', first))
    assert used
    assert used <= ids[0]


def test_nothing_is_loaded_and_no_style_leaks() -> None:
    svg = delta_q_cdf([curve()], OBJECTIVE, title="t")
    assert "style" not in svg
    assert "font-size=" in svg
    assert "<image" not in svg
    assert "<script" not in svg
    assert not re.search(r'href="(?!#)', svg)
    assert "currentColor" in svg


def test_names_are_escaped_and_never_formulas() -> None:
    svg = delta_q_cdf([curve(label="<b>&$x^$")], title='</title><script>alert("x")</script>')
    assert "<script" not in svg
    assert "<b>" not in svg
    ET.fromstring(svg)


def test_loss_is_drawn_and_written() -> None:
    svg = delta_q_cdf([curve(loss=0.25)], title="t")
    assert re.search(r"voice: 2\d\.\d\d% lost after", svg)
    assert "lost after" not in delta_q_cdf([curve()], title="t")


def test_before_and_after_differ_in_more_than_colour() -> None:
    svg = delta_q_cdf([curve(when="before"), curve()], title="t")
    assert "stroke-dasharray" in svg
    assert "stroke-dasharray" not in delta_q_cdf([curve()], title="t")


def test_the_objective_is_drawn_in() -> None:
    drawn = delta_q_cdf([curve()], OBJECTIVE, title="t")
    for text in ("p95 ≤ 40 ms", "p99 ≤ 60 ms", "variation ≤ 30 ms", "loss ≤ 0.1 %"):
        assert text in drawn
    assert "≤" not in delta_q_cdf([curve()], title="t")


def test_a_sample_adds_a_band() -> None:
    assert len(delta_q_cdf([curve()], title="t")) > len(delta_q_cdf([curve(samples=False)], title="t"))


@pytest.mark.parametrize("distribution", [DeltaQ.lost(), DeltaQ.identity(), DeltaQ.from_delays([MS])])
@pytest.mark.parametrize("objective", [None, OBJECTIVE])
def test_the_simplest_distributions_can_be_drawn(distribution: DeltaQ, objective: Objective | None) -> None:
    ET.fromstring(delta_q_cdf([Curve("x", "after", distribution)], objective, title="t"))


def test_many_classes_can_share_a_plot() -> None:
    svg = delta_q_cdf([curve(label=f"class {number}") for number in range(7)], title="t")
    assert "class 6, after" in svg


def test_no_curve_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one curve"):
        delta_q_cdf([], title="t")
