"""Distribution functions of delay beside their tails, with the objective drawn in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
from numpy.typing import NDArray

from app.deltaq.distribution import DeltaQ
from app.deltaq.intervals import cdf_band
from app.deltaq.objective import DEFAULT_CONFIDENCE, Objective, quantile_of
from app.plots.curve import PS_PER_MS, Curve
from app.plots.element import embeddable
from app.plots.style import COLOURS, INK, MARKERS, drawing, svg

_FORBIDDEN = "#d43c33"
_POINTS = 300
_LEAST_MS = 1e-3
# Fixed: both panels always carry the same kinds of labels, and fitting them would draw everything twice.
_MARGINS = {"left": 0.07, "right": 0.985, "top": 0.97, "bottom": 0.24, "wspace": 0.24}


@dataclass(frozen=True, slots=True)
class _Frame:
    """What all parts of one drawing share: its two panels, the edges of the delay axis, the tail's floor."""

    body: Axes
    tail: Axes
    left_ms: float
    right_ms: float
    floor: float


def delta_q_cdf(
    curves: Sequence[Curve],
    objective: Objective | None = None,
    *,
    title: str,
    confidence: float = DEFAULT_CONFIDENCE,
) -> str:
    """Draw distribution functions of delay and, beside them, their tails, with the objective drawn in.

    Left: the part of packets that arrives within a delay; a curve that stops below 1 has lost the rest. Right:
    the part that is later or lost, on a logarithmic scale, where the bounds of an objective stand apart. No
    curve may enter the hatched regions. A diamond marks the bound on variation, counted from the smallest
    delay of the last curve. Bands are pointwise at ``confidence``. Returns an ``<svg>`` element.

    Raises ``ValueError`` without curves.
    """
    if not curves:
        raise ValueError("a plot needs at least one curve")
    with drawing(9.2, 3.8) as figure:
        body, tail = figure.subplots(1, 2, gridspec_kw=_MARGINS)
        left, right = _span(curves, objective)
        frame = _Frame(body, tail, left, right, _floor(curves, objective))
        for number, curve in enumerate(curves):
            _draw_curve(frame, curve, number, _colour(curves, number), confidence)
        if objective is not None:
            _draw_objective(frame, objective, curves[-1])
        _finish_axes(frame)
        handles, labels = body.get_legend_handles_labels()
        figure.legend(handles, labels, loc="lower center", ncols=4, frameon=False)
        document = svg(figure)
    return embeddable(document, title, _describe(curves, objective))


def _colour(curves: Sequence[Curve], number: int) -> int:
    """Index of a curve's colour and marker: one per label; with a single label, one per side of the push."""
    labels = list(dict.fromkeys(curve.label for curve in curves))
    if len(labels) == 1:
        return 0 if curves[number].when == "after" else 1
    return labels.index(curves[number].label) % len(COLOURS)


def _span(curves: Sequence[Curve], objective: Objective | None) -> tuple[float, float]:
    """Left and right edge of the delay axis in ms: all that is drawn, with a margin."""
    ends = [
        float(delays[end]) / PS_PER_MS
        for curve in curves
        if (delays := curve.distribution.delays_ps).size
        for end in (0, -1)
    ]
    if objective is not None:
        ends += [seconds * 1e3 for seconds in objective.delay.values()]
        ends += [objective.variation * 1e3] if objective.variation is not None else []
    ends = [max(end, _LEAST_MS) for end in ends] or [1.0]
    return min(ends) / 1.4, max(ends) * 1.8


def _floor(curves: Sequence[Curve], objective: Objective | None) -> float:
    """Lowest value of the tail axis: a decade below the smallest share that a curve or a bound can show."""
    shares = [float(curve.distribution.masses.min()) for curve in curves if curve.distribution.masses.size]
    if objective is not None:
        shares += [1 - quantile_of(label) for label in objective.delay]
        shares += [objective.loss] if objective.loss is not None else []
        shares += [1 - objective.variation_quantile] if objective.variation is not None else []
    return float(10 ** np.floor(np.log10(max(1e-6, min([*shares, 0.1]) * 0.9))))


def _draw_curve(frame: _Frame, curve: Curve, number: int, colour: int, confidence: float) -> None:
    """Draw one distribution function in both panels, to the right edge, and say what it lost."""
    delays, shares = _thinned(curve.distribution)
    edge = np.append(np.insert(delays, 0, frame.left_ms), frame.right_ms)
    level = np.append(np.insert(shares, 0, 0.0), curve.distribution.delivered)
    style: dict[str, Any] = {
        "color": COLOURS[colour],
        "linestyle": "-" if curve.when == "after" else (0, (4, 2)),
        "linewidth": 1.8 if curve.when == "after" else 1.3,
        "drawstyle": "steps-post",
        "marker": MARKERS[colour],
        "markersize": 3.5,
        "markevery": 0.18,
        "label": f"{curve.label}, {curve.when}",
    }
    frame.body.plot(edge, level, **style)
    frame.tail.plot(edge, np.maximum(1 - level, frame.floor / 10), **style)
    if curve.distribution.loss > 1e-9:
        corner = (0.98, 0.04 + 0.07 * number)
        text = f"{curve.label}: {curve.distribution.loss:.2%} lost {curve.when}"
        frame.body.text(
            *corner, text, transform=frame.body.transAxes, ha="right", fontsize=8, color=COLOURS[colour]
        )
    if curve.samples:
        band = cdf_band(curve.samples, confidence)
        at = np.maximum(np.array(band.delays_ps) / PS_PER_MS, frame.left_ms)
        low, high = np.array(band.low), np.array(band.high)
        fill: dict[str, Any] = {"color": COLOURS[colour], "alpha": 0.18, "linewidth": 0}
        frame.body.fill_between(at, low, high, **fill)
        frame.tail.fill_between(at, np.maximum(1 - high, frame.floor / 10), 1 - low, **fill)


def _thinned(distribution: DeltaQ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """At most some ``_POINTS`` steps of a distribution function, in ms, with every step of its far tail."""
    size = distribution.delays_ps.size
    even = np.linspace(0, size - 1, _POINTS).astype(int) if size else np.empty(0, dtype=int)
    last = np.arange(max(0, size - 40), size)
    chosen = np.unique(np.concatenate((even, last)))
    shares = np.minimum(np.cumsum(distribution.masses), 1.0)
    return np.maximum(distribution.delays_ps[chosen] / PS_PER_MS, _LEAST_MS), shares[chosen]


def _draw_objective(frame: _Frame, objective: Objective, latest: Curve) -> None:
    """Hatch what the objective forbids, and mark its bounds."""
    ink: dict[str, Any] = {"color": _FORBIDDEN, "zorder": 3}
    for label, seconds in objective.delay.items():
        share, asked = quantile_of(label), seconds * 1e3
        _forbid(frame, asked, share)
        for panel, height in ((frame.body, share), (frame.tail, 1 - share)):
            panel.plot([asked], [height], marker="v", linestyle="none", markersize=6, **ink)
        frame.tail.annotate(
            f"{label} ≤ {asked:g} ms",
            (asked, 1 - share),
            xytext=(-5, 4),
            textcoords="offset points",
            ha="right",
            fontsize=8,
            color=INK,
        )
    if objective.variation is not None and latest.distribution.delays_ps.size:
        asked = float(latest.distribution.delays_ps[0]) / PS_PER_MS + objective.variation * 1e3
        share = objective.variation_quantile
        for panel, height in ((frame.body, share), (frame.tail, 1 - share)):
            panel.plot([asked], [height], marker="D", linestyle="none", markersize=5, **ink)
        frame.tail.annotate(
            f"variation ≤ {objective.variation * 1e3:g} ms",
            (asked, 1 - share),
            xytext=(6, -10),
            textcoords="offset points",
            fontsize=8,
            color=INK,
        )
    if objective.loss is not None:
        frame.tail.axhline(objective.loss, linestyle=":", linewidth=1.0, **ink)
        frame.tail.annotate(
            f"loss ≤ {objective.loss * 100:.3g} %",
            (1.0, objective.loss),
            xycoords=("axes fraction", "data"),
            xytext=(-3, 3),
            textcoords="offset points",
            ha="right",
            fontsize=8,
            color=INK,
        )


def _forbid(frame: _Frame, asked_ms: float, share: float) -> None:
    """Hatch the region later than ``asked_ms`` in which fewer than ``share`` have arrived."""
    reach = [asked_ms, frame.right_ms]
    region: dict[str, Any] = {
        "facecolor": "none",
        "edgecolor": _FORBIDDEN,
        "hatch": "////",
        "linewidth": 0.8,
        "alpha": 0.55,
    }
    frame.body.fill_between(reach, [0, 0], [share, share], **region)
    frame.tail.fill_between(reach, [1 - share, 1 - share], [1, 1], **region)


def _finish_axes(frame: _Frame) -> None:
    """Scales, limits, labels and grid of both panels."""
    for panel in (frame.body, frame.tail):
        panel.set_xscale("log")
        panel.set_xlim(frame.left_ms, frame.right_ms)
        panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        panel.xaxis.set_minor_formatter(NullFormatter())
        if frame.right_ms / frame.left_ms < 50:
            panel.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        panel.set_xlabel("one-way delay (ms)")
        panel.grid(visible=True, which="major", color=INK, alpha=0.15, linewidth=0.6)
        panel.spines[["top", "right"]].set_visible(False)
    frame.body.set_ylim(0, 1.03)
    frame.body.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0%}"))
    frame.body.set_ylabel("arrived by then")
    frame.tail.set_yscale("log")
    frame.tail.set_ylim(frame.floor, 1.0)
    frame.tail.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value * 100:g}%"))
    frame.tail.yaxis.set_minor_formatter(NullFormatter())
    frame.tail.set_ylabel("later than that, or lost")


def _describe(curves: Sequence[Curve], objective: Objective | None) -> str:
    """Say in words what the drawing shows."""
    parts = []
    for curve in curves:
        figures = []
        for label, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99)):
            delay = curve.distribution.quantile_ps(share)
            figures.append(f"{label} never" if np.isinf(delay) else f"{label} {delay / PS_PER_MS:.3g} ms")
        parts.append(f"{curve.label} {curve.when}: {', '.join(figures)}, loss {curve.distribution.loss:.2%}.")
    if objective is not None:
        bounds = [f"{label} at most {seconds * 1e3:g} ms" for label, seconds in objective.delay.items()]
        bounds += [f"mean at most {objective.mean * 1e3:g} ms"] if objective.mean else []
        bounds += [f"variation at most {objective.variation * 1e3:g} ms"] if objective.variation else []
        bounds += [f"loss at most {objective.loss * 100:.3g} %"] if objective.loss else []
        parts.append(f"Asked: {', '.join(bounds)}.")
    return " ".join(parts)
