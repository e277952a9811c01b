"""What all plots share: colours, strokes, and an SVG element that fits into any page."""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from threading import Lock
from typing import Any

from matplotlib import rc_context
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

INK = "#010203"
"""Stands for the text colour while drawing; no curve uses it."""

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00")
"""Okabe and Ito's palette without its lightest: told apart by the colour-blind, legible on white and on black."""
MARKERS = ("o", "s", "^", "D", "v")

_STYLE: dict[str, Any] = {
    "svg.hashsalt": "qosforge",
    "svg.fonttype": "none",
    "text.parse_math": False,
    "font.family": "sans-serif",
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


def embeddable(document: str, title: str, description: str) -> str:
    """Cut an SVG document down to an element that can stand beside others in one page."""
    element = document[document.index("<svg") :].strip()
    mark = hashlib.sha256(f"{title}\n{description}\n{element}".encode()).hexdigest()[:10]
    # Matplotlib's style sheet would apply to the whole page; the same two settings fit into the element.
    element = re.sub(r"<style.*?</style>", "", element, flags=re.DOTALL)
    element = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>q{mark}-", element).replace(INK, "currentColor")
    head, rest = element.split(">", 1)
    head = re.sub(r' (?:width|height)="[^"]*"', "", head)
    names = f'stroke-linejoin="round" stroke-linecap="butt" role="img" aria-labelledby="q{mark}-title q{mark}-desc"'
    words = f'<title id="q{mark}-title">{escape(title)}</title><desc id="q{mark}-desc">{escape(description)}</desc>'
    return f"{head} {names}>{words}{rest}\n"
