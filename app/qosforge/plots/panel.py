"""One panel of a ΔQ plot: the distribution functions, or their tails on a logarithmic scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import NDArray

from qosforge.deltaq.intervals import cdf_band
from qosforge.deltaq.objective import Objective, quantile_of
from qosforge.plots.curve import LEAST_MS, PS_PER_MS, Curve, names, steps
from qosforge.plots.hover_data import HoverAxes
from qosforge.plots.style import COLOURS, INK, MARKERS, SIDE_COLOURS, SIDE_MARKERS, drawing, svg
from qosforge.plots.ticks import between, log_ticks

_WIDTH, _HEIGHT = 4.1, 2.4
_LEFT, _RIGHT, _TOP, _BOTTOM = 0.8, 0.14, 0.1, 0.52
"""Inches: of the whole and of the axes, and the margins around those. Both panels have the same."""
_LINE = 0.19
_PT = 72
_HIGHEST, _HIGHEST_LATE = 1.03, 1.15

_STROKES: dict[str, tuple[Any, float]] = {
    "before": ((0, (4, 2)), 1.4),
    "predicted": ((0, (1, 1.2)), 1.9),
    "after": ("-", 1.8),
}
"""Of a side of the push, and their width."""
_MARKS = ("v", "^", "<", ">")
"""Of the bounds on delay, from the lowest quantile."""
_FORBIDDEN: dict[str, Any] = {
    "facecolor": "none",
    "edgecolor": INK,
    "hatch": "////",
    "linewidth": 0.7,
    "alpha": 0.45,
}
_GRID: dict[str, Any] = {"color": INK, "alpha": 0.16, "linewidth": 0.6}
_LOSS: dict[str, Any] = {"linestyle": (0, (6, 2, 1, 2)), "linewidth": 1.0, "color": INK}
_BOUND: dict[str, Any] = {"linestyle": "none", "markersize": 6, "color": INK}


@dataclass(frozen=True, slots=True)
class Edges:
    """What both panels share: the ends of the delay axis in ms, and the lowest share of the tail."""

    left_ms: float
    right_ms: float
    floor: float


@dataclass(frozen=True, slots=True)
class CdfPanel:
    """One of the two panels of a plot: ``late`` where it shows what is later or lost."""

    curves: Sequence[Curve]
    objective: Objective | None
    edges: Edges
    late: bool

    @property
    def hover_axes(self) -> HoverAxes:
        """Where its axes stand in the picture."""
        return HoverAxes(
            x=(_LEFT * _PT, (_WIDTH - _RIGHT) * _PT),
            y=((_TOP + _HEIGHT) * _PT, _TOP * _PT),
            delay_ms=(self.edges.left_ms, self.edges.right_ms),
            share=(self.edges.floor, _HIGHEST_LATE) if self.late else (0.0, _HIGHEST),
            late=self.late,
        )

    def draw(self, confidence: float) -> str:
        """The panel as an SVG document."""
        handles = self._keys()
        columns = _columns([str(handle.get_label()) for handle in handles])
        bottom = _BOTTOM + _LINE * math.ceil(len(handles) / columns)
        height = _TOP + _HEIGHT + bottom
        with drawing(_WIDTH, height) as figure:
            axes = figure.add_axes(
                (_LEFT / _WIDTH, bottom / height, (_WIDTH - _LEFT - _RIGHT) / _WIDTH, _HEIGHT / height)
            )
            self._scale(axes)
            for number in range(len(self.curves)):
                self._band(axes, number, confidence)
            if self.objective is not None:
                self._bounds(axes, self.objective)
            for number in range(len(self.curves)):
                self._line(axes, number)
            _legend(figure, handles, columns)
            return svg(figure)

    def _height(self, arrived: NDArray[np.float64]) -> NDArray[np.float64]:
        """Where a share that arrived stands; a tail without end leaves the axes at their floor."""
        return np.maximum(1 - arrived, self.edges.floor / 10) if self.late else arrived

    def _look(self, number: int) -> dict[str, Any]:
        """Colour and marker of a curve: one per class; with a single class, one per side of the push."""
        labels = list(dict.fromkeys(curve.label for curve in self.curves))
        when = self.curves[number].when
        stroke, width = _STROKES[when]
        colour, marker = SIDE_COLOURS[when], SIDE_MARKERS[when]
        if len(labels) > 1:
            place = labels.index(self.curves[number].label) % len(COLOURS)
            colour, marker = COLOURS[place], MARKERS[place]
        return {
            "color": colour,
            "linestyle": stroke,
            "linewidth": width,
            "marker": marker,
            "markersize": 3.5,
        }

    def _line(self, axes: Axes, number: int) -> None:
        """One distribution function, from edge to edge."""
        distribution = self.curves[number].distribution
        delays, shares = steps(distribution)
        axes.plot(
            np.append(np.insert(delays, 0, self.edges.left_ms), self.edges.right_ms),
            self._height(np.append(np.insert(shares, 0, 0.0), distribution.delivered)),
            drawstyle="steps-post",
            markevery=0.18,
            **self._look(number),
        )

    def _band(self, axes: Axes, number: int, confidence: float) -> None:
        curve = self.curves[number]
        if curve.sample is None:
            return
        band = cdf_band(curve.sample, confidence)
        at = np.maximum(np.array(band.delays_ps) / PS_PER_MS, max(self.edges.left_ms, LEAST_MS))
        low, high = self._height(np.array(band.low)), self._height(np.array(band.high))
        axes.fill_between(at, low, high, color=self._look(number)["color"], alpha=0.18, linewidth=0)

    def _bounds(self, axes: Axes, objective: Objective) -> None:
        """Hatch what the objective forbids; in the tail, where they stand apart, mark its bounds."""
        requested = np.array([seconds * 1e3 for seconds in objective.delay.values()])
        shares = np.array([quantile_of(label) for label in objective.delay])  # they rise with the delays
        if requested.size:
            reach, edge = np.append(requested, self.edges.right_ms), self._height(np.append(shares, shares[-1]))
            axes.fill_between(reach, edge, 1.0 if self.late else 0.0, step="post", **_FORBIDDEN)
        if not self.late:
            return
        for mark, at, share in zip(_marks(objective), requested, shares, strict=True):
            axes.plot([at], [1 - share], marker=mark, **_BOUND)
        least = self.curves[-1].distribution.delays_ps[:1] / PS_PER_MS
        if objective.variation is not None and least.size:
            at, share = least[0] + objective.variation * 1e3, 1 - objective.variation_quantile
            axes.plot([at], [share], marker="D", **_BOUND | {"markersize": 5})
        if objective.loss is not None:
            axes.axhline(objective.loss, **_LOSS)

    def _keys(self) -> list[Line2D | Patch]:
        """What the legend has: the curves with what they lost, and beside the tail the bounds."""
        handles: list[Line2D | Patch] = []
        for number, (name, curve) in enumerate(zip(names(self.curves), self.curves, strict=True)):
            loss = curve.distribution.loss
            told = f" ({loss * 100:.2g} % lost)" if loss > 1e-9 and not self.late else ""
            handles.append(Line2D([], [], label=name + told, **self._look(number)))
        requested = self.objective
        if requested is None:
            return handles
        if not self.late:
            return [*handles, Patch(label="not allowed", **_FORBIDDEN)] if requested.delay else handles
        for mark, (label, seconds) in zip(_marks(requested), requested.delay.items(), strict=True):
            handles.append(Line2D([], [], marker=mark, label=f"{label} ≤ {seconds * 1e3:g} ms", **_BOUND))
        if requested.variation is not None:
            text = f"jitter ≤ {requested.variation * 1e3:g} ms"
            handles.append(Line2D([], [], marker="D", label=text, **_BOUND | {"markersize": 5}))
        if requested.loss is not None:
            text = f"loss ≤ {requested.loss * 100:.3g} %"
            handles.append(Line2D([], [], label=text, **_LOSS))
        return handles

    def _scale(self, axes: Axes) -> None:
        """Scales, limits, labels and grid. Ticks of matplotlib's own take longer than all the rest."""
        left, right = self.edges.left_ms, self.edges.right_ms
        axes.set_xscale("log")
        axes.set_xlim(left, right)
        delays = log_ticks(left, right)
        axes.set_xticks(delays, [f"{delay:g}" for delay in delays])
        axes.vlines(between(left, right), 0, 1, transform=axes.get_xaxis_transform(), **_GRID | {"alpha": 0.07})
        axes.set_xlabel("one-way delay (ms)")
        if self.late:
            axes.set_yscale("log")
            axes.set_ylim(self.edges.floor, _HIGHEST_LATE)
            shares = [10.0**power for power in range(round(math.log10(self.edges.floor)), 1)]
            axes.set_ylabel("later than that, or lost")
        else:
            axes.set_ylim(0, _HIGHEST)
            shares = [0, 0.2, 0.4, 0.6, 0.8, 1.0]
            axes.set_ylabel("arrived by then")
        axes.set_yticks(shares, [f"{share * 100:g} %" for share in shares])
        axes.minorticks_off()
        axes.grid(visible=True, which="major", **_GRID)
        axes.spines[["top", "right"]].set_visible(False)


def _marks(objective: Objective) -> list[str]:
    return [_MARKS[number % len(_MARKS)] for number in range(len(objective.delay))]


def _columns(labels: Sequence[str]) -> int:
    """How many columns of a legend have room for its longest text."""
    longest = max(map(len, labels))
    return max(1, min(3, len(labels), int((_WIDTH - 0.2) * _PT / (longest * 5.1 + 40))))


def _legend(figure: Figure, handles: Sequence[Line2D | Patch], columns: int) -> None:
    """Below the axes, where it covers no curve; read in rows as it is in the list."""
    rows = math.ceil(len(handles) / columns)
    # Matplotlib fills columns first.
    by_columns = [
        handles[row * columns + column]
        for column in range(columns)
        for row in range(rows)
        if row * columns + column < len(handles)
    ]
    figure.legend(
        handles=by_columns,
        loc="lower left",
        bbox_to_anchor=(0.02, 0),
        ncols=columns,
        frameon=False,
        fontsize=8.5,
        borderpad=0.1,
        labelspacing=0.45,
        handlelength=2.6,
    )
