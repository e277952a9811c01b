"""Plots in a browser: what a strict security policy leaves of them."""

from __future__ import annotations

import io
import json
import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from numpy.typing import NDArray
from PIL import Image
from playwright.sync_api import Browser, Page, expect

from qosforge.deltaq.distribution import LOST, DeltaQ
from qosforge.deltaq.objective import Objective
from qosforge.deltaq.sample import Sample
from qosforge.plots import Curve, delta_q_cdf, plot_table
from qosforge.plots.curve import When
from qosforge.plots.element import embeddable
from qosforge.plots.style import INK, drawing, svg
from qosforge.reports.figures import Figure
from qosforge.web.assets import asset
from tests.web.browser import PHONE, Tab

PAGE = """<!doctype html><html lang="en"><head><title>plot</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'{policy}"></head>
<body text="{ink}">{plot}</body></html>"""


def document() -> str:
    """Whatever plots draw: text, rotated too, dashes, markers, bands, bars, hatches, a grid."""
    with drawing(5.0, 3.0) as figure:
        lines, bars = figure.subplots(1, 2)
        lines.plot([1, 10, 100], [0.2, 0.6, 0.9], linestyle=(0, (4, 2)), marker="^", color="#b34700", label="one")
        lines.fill_between([1, 10, 100], [0.1, 0.5, 0.8], [0.3, 0.7, 1.0], alpha=0.18, linewidth=0)
        lines.fill_between(
            [20, 100], [0, 0], [0.4, 0.4], facecolor="none", edgecolor="#c33", hatch="////", alpha=0.6
        )
        lines.set(xscale="log", xlabel="delay (ms)", ylabel="arrived")
        lines.grid(visible=True, alpha=0.15)
        lines.legend(frameon=False)
        lines.text(2, 0.5, "bold", weight="bold", style="italic", fontsize=7)
        bars.bar(["a", "b"], [3, 5], facecolor="none", edgecolor="#0072b2", hatch="..")
        return svg(figure)


def pixels(page: Page) -> NDArray[np.int16]:
    """What the page looks like."""
    return np.asarray(Image.open(io.BytesIO(page.screenshot())), dtype=np.int16)


def test_a_plot_looks_the_same_where_no_style_may_be_inline(chromium_browser: Browser) -> None:
    drawn = document()
    raw = drawn[drawn.index("<svg") :].replace(' width="360pt" height="216pt"', "")
    page = chromium_browser.new_page(viewport={"width": 800, "height": 500})
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    pictures = []
    for plot, policy in ((raw, "; style-src 'unsafe-inline'"), (embeddable(drawn, "t", "d"), "")):
        page.set_content(PAGE.format(plot=plot, policy=policy, ink=INK))
        pictures.append(pixels(page))
    page.set_content(PAGE.format(plot=raw, policy="", ink=INK))
    without_style = pixels(page)
    page.close()
    assert np.abs(pictures[0] - pictures[1]).max() < 64  # coordinates are rounded
    assert np.abs(pictures[0] - without_style).max() == 255
    assert "style-src" in said[-1]


def test_curves_can_be_read_with_the_pointer_and_with_keys(tab: Callable[..., Tab]) -> None:
    """A page of the site, with the figures that pages show put into it."""
    ann = tab()
    ann.page.goto("/login")
    curves = [delayed("before", 40, lost=8), delayed("predicted", 20), delayed("after", 10)]
    plot = delta_q_cdf(curves, Objective(delay={"p95": 0.025}), title="ΔQ of voice")
    figure = Figure(
        "figure-1", "deltaq", "wan", "WAN", "Voice", plot.svgs, plot_table(curves), readings=plot.hover_data
    )
    ann.page.evaluate(PUT_IN, [shown(figure), [asset("plots.css"), asset("plots.js")]])
    slider = ann.page.get_by_label("Read the curves at a delay")
    slider.wait_for()
    output = ann.page.locator("output")
    slider.focus()
    ann.page.keyboard.press("Home")
    expect(output).to_contain_text("before 0 %, predicted 0 %, after 0 %")
    ann.page.keyboard.press("End")
    expect(output).to_contain_text("before 92 %, predicted 100 %, after 100 %")
    assert str(slider.get_attribute("aria-valuetext")).endswith(" ms")
    # Between the last packet after the push, at 19 ms, and the first before it.
    panel = json.loads(plot.hover_data)["panels"][0]
    left, right = panel["x"]
    least, longest = panel["delay"]
    at = left + math.log(30 / least) / math.log(longest / least) * (right - left)
    width = float(ET.fromstring(plot.svgs[0]).attrib["viewBox"].split()[2])
    for picture in ann.page.locator(".panels svg").all():
        box = picture.bounding_box()
        assert box is not None
        ann.page.mouse.move(box["x"] + at / width * box["width"], box["y"] + box["height"] / 3)
        expect(output).to_have_text(re.compile("^Arrived within 30.*before 0 %, predicted 100 %, after 100 %"))
    ann.require_sound()
    ann.page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    ann.require_sound()
    # Each row of the numbers is a card: its name in a line, and below it the figures, each with what it is.
    name, figure_of = ann.page.locator(".numbers tbody th").first, ann.page.locator(".numbers tbody td").first
    expect(name).to_be_visible()
    above, below = name.bounding_box(), figure_of.bounding_box()
    assert above is not None
    assert below is not None
    assert above["width"] > PHONE["width"] / 2
    assert below["y"] >= above["y"] + above["height"] - 1
    label = figure_of.evaluate("cell => getComputedStyle(cell, '::before').content")
    assert label == f'"{plot_table(curves).headings[1]}"'


PUT_IN = """([figure, [style, script]]) => {
  document.getElementById("main").innerHTML = figure;
  const sheet = Object.assign(document.createElement("link"), {rel: "stylesheet", href: style});
  const module = Object.assign(document.createElement("script"), {type: "module", src: script});
  document.head.append(sheet, module);
}"""


def delayed(when: When, least_ms: int, lost: int = 0) -> Curve:
    """A hundred packets, a tenth of a millisecond apart."""
    delays = [LOST if number < lost else least_ms * 10**9 + number * 10**8 for number in range(100)]
    return Curve("voice", when, DeltaQ.from_delays(delays), Sample.single(list(enumerate(delays))))


def shown(figure: Figure) -> str:
    """As pages show it, under the heading of a page."""
    environment = Environment(
        loader=PackageLoader("qosforge.web"),
        autoescape=True,
        extensions=["jinja2.ext.i18n"],
        undefined=StrictUndefined,
    )
    environment.install_null_translations(newstyle=True)  # type: ignore[attr-defined]
    macros: Any = environment.get_template("figures.html.j2").module
    return f"<h1>Run</h1>{macros.figure(figure)}"
