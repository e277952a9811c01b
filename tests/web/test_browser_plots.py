"""Plots in a browser: what a strict security policy leaves of them."""

from __future__ import annotations

import io

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from playwright.sync_api import Browser, Page

from app.plots.element import embeddable
from app.plots.style import INK, drawing, svg

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


def test_a_plot_looks_the_same_where_no_style_may_be_inline(browser: Browser) -> None:
    drawn = document()
    raw = drawn[drawn.index("<svg") :].replace(' width="360pt" height="216pt"', "")
    page = browser.new_page(viewport={"width": 800, "height": 500})
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
