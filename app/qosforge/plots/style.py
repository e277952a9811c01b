"""What all plots share: colours, strokes, type, and how one is drawn."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

from matplotlib import rc_context
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

INK = "#010203"
"""Stands for the text colour while drawing; no curve uses it."""

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#c0669a", "#a87400")
"""After Okabe and Ito's palette, told apart by the colour-blind; at least 3:1 beside white and dark paper."""
SIDE_COLOURS = {"before": "#808080", "predicted": "#9a7fe0", "after": "#7a4fd0"}
"""The colour of a side of a push where colours do not tell classes apart: none of those that stand for a class on
the page around.
"""
SIDE_MARKERS = {"before": "s", "predicted": "D", "after": "o"}
MARKERS = ("o", "s", "^", "D", "v")

POINTS = 72
"""In an inch."""

FONTS = ("DejaVu Sans", "Verdana", "Arial", "sans-serif")
"""Text is laid out by the first; the others stand in where it is missing."""

_STYLE: dict[str, Any] = {
    "svg.hashsalt": "qosforge",
    "svg.fonttype": "none",
    "text.parse_math": False,
    "font.family": "sans-serif",
    "font.sans-serif": FONTS,
    "font.size": 9,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "xtick.color": INK,
    "ytick.color": INK,
    "hatch.linewidth": 0.4,
}
# Matplotlib's settings belong to the process: one drawing at a time.
_DRAWING = Lock()


@contextmanager
def drawing(width: float, height: float) -> Iterator[Figure]:
    """An empty figure of this size in inches, in the common style; only one is drawn at a time."""
    with _DRAWING, rc_context(_STYLE):
        yield Figure(figsize=(width, height))


def svg(figure: Figure) -> str:
    """The figure as an SVG document: a function of its content, no date in it."""
    out = io.StringIO()
    FigureCanvasSVG(figure).print_svg(out, metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    return out.getvalue()
