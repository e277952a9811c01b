"""Lines over a load and bars over scenarios, in one or more panels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from textwrap import fill
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
from matplotlib.transforms import ScaledTranslation

from qosforge.plots.element import embeddable
from qosforge.plots.style import COLOURS, INK, MARKERS, POINTS, drawing, svg

_PER_ROW = 2
_FEW_DECADES = 2.5
_HIGH, _WIDE, _NARROW = 3.8, 4.7, 3.4
"""Inches of a panel: its height, its width beside another, and that of one that fills the screen of a phone,
with letters to be read."""
_LEGEND_PT, _LETTER_PT, _STROKE_PT = 7.5, 4.2, 32
"""Of the legend: its type, a letter of it on the average, and the stroke and the gaps beside a label."""
_MOST_COLUMNS = 3
_TITLE_LETTERS = 13
"""Of a line of a panel's title, for each inch."""
_FEW_LINES, _LINE_PT = 2, 11
"""Lines below the axes for which there is room above the legend, and the height of one."""
_FEW_ROWS, _ROW_INCHES = 4, 0.16
"""Rows of the legend for which a panel has room, and what a further one makes it higher."""
_DASHES: tuple[Any, ...] = ("-", (0, (4, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)))
_BARS = 0.8
"""The part of a group's width that its bars take."""


@dataclass(frozen=True, slots=True)
class Series:
    """One line or one bar in each group; ``dashed`` marks what is expected beside what was obtained.

    Those that stand ``beside`` one thing have one colour (empty: the label without ", expected").

    ``points`` are ``(x, y)`` with ``x`` a number, or the name of a group for bars.
    """

    label: str
    points: tuple[tuple[float | str, float], ...]
    dashed: bool = False
    beside: str = ""

    @property
    def shown(self) -> str:
        """What it has its colour for."""
        return self.beside or self.label.removesuffix(", expected")


class Bound(StrEnum):
    """How a value is to stand to a published one."""

    NEAR = "published"
    AT_MOST = "published, at most"
    AT_LEAST = "published, at least"


_MARKS = {Bound.NEAR: "D", Bound.AT_MOST: "v", Bound.AT_LEAST: "^"}


@dataclass(frozen=True, slots=True)
class Published:
    """A value that was published for what one label shows: of one group of bars, or of a whole line."""

    label: str
    value: float
    bound: Bound = Bound.NEAR
    group: str | None = None


@dataclass(frozen=True, slots=True)
class Panel:
    """One pair of axes with its lines."""

    title: str
    x: str
    y: str
    series: tuple[Series, ...]
    logarithmic: bool = False
    published: tuple[Published, ...] = ()
    logarithmic_x: bool = False


def series_plot(panels: Sequence[Panel], *, title: str, narrow: bool = False) -> str:
    """Draw panels, two in a row; one alone may be ``narrow``.

    Returns an ``<svg>`` element whose description has the ends of every line.

    Raises ``ValueError`` without a panel or for a panel without a point.
    """
    if not panels or any(not series.points for panel in panels for series in panel.series):
        raise ValueError("a plot needs at least one panel, and every line at least one point")
    rows = math.ceil(len(panels) / _PER_ROW)
    columns = min(len(panels), _PER_ROW)
    inches = _NARROW if narrow else _WIDE
    more = max(0, max(_legend_rows(panel, inches) for panel in panels) - _FEW_ROWS) * _ROW_INCHES
    with drawing(inches * columns + 0.4, (_HIGH + more) * rows) as figure:
        grid = figure.subplots(rows, columns, squeeze=False)
        for number, axes in enumerate(grid.flat):
            if number < len(panels):
                _panel(axes, panels[number], inches)
            else:
                axes.set_axis_off()
        _spread(figure)
        document = svg(figure)
    return embeddable(document, title, " ".join(_describe(panel) for panel in panels))


def _spread(figure: Figure) -> None:
    figure.tight_layout(pad=0.8, w_pad=1.8, h_pad=1.6)


def _panel(axes: Axes, panel: Panel, inches: float) -> None:
    named = any(isinstance(x, str) for series in panel.series for x, _ in series.points)
    if named:
        _bars(axes, panel)
    else:
        for number, series in enumerate(panel.series):
            colour = _colour(panel, series)
            axes.plot(
                [float(x) for x, _ in series.points],
                [y for _, y in series.points],
                color=COLOURS[colour % len(COLOURS)],
                linestyle=(0, (1, 1.5)) if series.dashed else _DASHES[colour // len(COLOURS) % len(_DASHES)],
                linewidth=1.1 if series.dashed else 1.6,
                marker=None if series.dashed else MARKERS[colour % len(MARKERS)],
                markersize=3.5,
                markevery=max(1, len(series.points) // 12),
                label=series.label,
                zorder=2 if series.dashed else 3 + number / 100,
            )
    _published(axes, panel)
    axes.set_title(fill(panel.title, int(inches * _TITLE_LETTERS)), fontsize=9, loc="left")
    axes.set_xlabel(panel.x)
    axes.set_ylabel(panel.y)
    if panel.logarithmic:
        axes.set_yscale("log")
        if _decades(panel) < _FEW_DECADES:
            # Powers of ten alone would leave one label or none.
            axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.yaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    if panel.logarithmic_x:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axes.set_axisbelow(True)
    axes.grid(visible=True, which="major", axis="y" if named else "both", color=INK, alpha=0.15, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    # Below the axes: inside, it would cover a line sooner or later.
    # In points below them, as their height is what the legend leaves.
    below = (_FEW_LINES + max(0, _lines_below(panel) - _FEW_LINES) + 1) * _LINE_PT
    axes.legend(
        frameon=False,
        fontsize=_LEGEND_PT,
        ncols=_columns(axes.get_legend_handles_labels()[1], inches),
        columnspacing=1.2,
        loc="upper center",
        bbox_to_anchor=(0.5, 0),
        bbox_transform=axes.transAxes + ScaledTranslation(0, -below / POINTS, axes.figure.dpi_scale_trans),
    )


def _columns(labels: Sequence[str], inches: float) -> int:
    """Columns of a legend that a panel of this width has room for."""
    entry = _STROKE_PT + _LETTER_PT * max(map(len, labels))
    return min(max(int(inches * POINTS / entry), 1), _MOST_COLUMNS)


def _legend_rows(panel: Panel, inches: float) -> int:
    labels = [*(series.label for series in panel.series), *{one.bound.value for one in panel.published}]
    return math.ceil(len(labels) / _columns(labels, inches))


def _lines_below(panel: Panel) -> int:
    """Lines that the names of the groups of bars take; few where loads are numbers."""
    return max((group.count("\n") + 1 for group in _groups(panel)), default=0)


def _decades(panel: Panel) -> float:
    """Powers of ten that a panel's positive values span."""
    values = [y for series in panel.series for _, y in series.points if y > 0]
    return math.log10(max(values) / min(values)) if values else 0.0


def _colour(panel: Panel, series: Series) -> int:
    """What is expected has the colour of what was obtained under the same label."""
    return list(dict.fromkeys(one.shown for one in panel.series)).index(series.shown)


def _bars(axes: Axes, panel: Panel) -> None:
    groups = _groups(panel)
    for number, series in enumerate(panel.series):
        colour = COLOURS[_colour(panel, series) % len(COLOURS)]
        axes.bar(
            [_middle(panel, number, str(x)) for x, _ in series.points],
            [y for _, y in series.points],
            _BARS / len(panel.series) * 0.92,
            label=series.label,
            facecolor="none" if series.dashed else colour,
            edgecolor=colour if series.dashed else INK,
            linewidth=1.1 if series.dashed else 0.5,
            hatch=None if series.dashed else ("", "//", "||", "\\\\", "xx")[number % 5],
        )
    axes.set_xticks(range(len(groups)), groups, rotation=0 if len(groups) < 6 else 30)


def _groups(panel: Panel) -> list[str]:
    return list(dict.fromkeys(str(x) for series in panel.series for x, _ in series.points))


def _middle(panel: Panel, number: int, group: str) -> float:
    """Where the bar of a series in a group is."""
    return _groups(panel).index(group) + (number - (len(panel.series) - 1) / 2) * _BARS / len(panel.series)


def _published(axes: Axes, panel: Panel) -> None:
    """A hollow mark on a bar, a thin line with such marks at its ends beside a line."""
    labels = [series.label for series in panel.series]
    told: set[Bound] = set()
    for one in panel.published:
        number = labels.index(one.label)
        if one.group is not None:
            where = [_middle(panel, number, one.group)]
        else:
            loads = [float(x) for x, _ in panel.series[number].points]
            where = [min(loads), max(loads)]
        axes.plot(
            where,
            [one.value] * len(where),
            color=INK if one.group is not None else COLOURS[_colour(panel, panel.series[number]) % len(COLOURS)],
            linestyle=(0, (5, 1.5, 1, 1.5)),
            linewidth=0.9,
            marker=_MARKS[one.bound],
            markersize=5.5,
            markerfacecolor="white",
            label=None if one.bound in told else one.bound.value,
            zorder=4,
        )
        told.add(one.bound)


def _describe(panel: Panel) -> str:
    parts = []
    for series in panel.series:
        (first_x, first), (last_x, last) = series.points[0], series.points[-1]
        ends = f"{first:.4g} at {_text(first_x)}"
        if len(series.points) > 1:
            ends += f", {last:.4g} at {_text(last_x)}"
        parts.append(f"{series.label}: {ends}")
    for one in panel.published:
        place = f" at {one.group}" if one.group is not None else ""
        parts.append(f"{one.label}, {one.bound.value}: {one.value:.4g}{place}")
    return f"{panel.title}, {panel.y} over {panel.x}. {'; '.join(parts)}."


def _text(x: float | str) -> str:
    return x if isinstance(x, str) else f"{x:g}"
