"""What each class got and lost: bars of every side of a push, with what was expected or allowed as a line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from qosforge.plots.curve import When, percent
from qosforge.plots.element import embeddable
from qosforge.plots.style import INK, SIDE_COLOURS, drawing, svg
from qosforge.plots.table import Table, TableCell, TableRow

_WIDTH = 4.1
_LEFT, _RIGHT, _TOP, _BOTTOM = 0.15, 0.2, 0.05, 0.75
_NAME, _BAR, _GAP = 0.2, 0.13, 0.1
"""Inches: of the whole, the margins around the axes, and per class the line of its name, each bar, the space."""
# Of straight lines alone: a pattern of dots takes as much as all the rest of a page.
_HATCHES: dict[When, str] = {"before": "////", "predicted": "||||", "after": ""}
_EXPECTED: dict[str, Any] = {"color": INK, "linewidth": 2.0}


@dataclass(frozen=True, slots=True)
class Bar:
    """What a class got on one side of a push: kb/s, and a share lost; ``None`` where it is not known.

    What was expected is one number, or from that to ``expected_most_kbps``.
    """

    when: When
    observed_kbps: float
    expected_kbps: float | None = None
    loss: float | None = None
    expected_most_kbps: float | None = None

    @property
    def expected_ends(self) -> tuple[float, ...]:
        """What was expected: nothing known, a number, or the least and the most."""
        return tuple(end for end in (self.expected_kbps, self.expected_most_kbps) if end is not None)


@dataclass(frozen=True, slots=True)
class ClassBars:
    """The bars of a class, the load that it was offered, and the share that it may lose at most."""

    name: str
    bars: tuple[Bar, ...]
    offered_kbps: float | None = None
    allowed_loss: float | None = None


@dataclass(frozen=True, slots=True)
class _Quantity:
    """What one picture is of: its axis, its bars, and where a bar's lines stand with the name of that."""

    title: str
    axis: str
    line: str
    value: Callable[[Bar], float | None]
    reference: Callable[[ClassBars, Bar], tuple[float, ...]]


_QUANTITIES = (
    _Quantity(
        "throughput",
        "throughput (kb/s)",
        "expected",
        lambda bar: bar.observed_kbps,
        lambda _, bar: bar.expected_ends,
    ),
    _Quantity(
        "loss",
        "packets lost (%)",
        "allowed at most",
        lambda bar: None if bar.loss is None else bar.loss * 100,
        lambda of, _: () if of.allowed_loss is None else (of.allowed_loss * 100,),
    ),
)


def class_bars(classes: Sequence[ClassBars], *, title: str) -> tuple[str, str]:
    """Draw throughput beside what was expected, and loss beside what is allowed. Returns two ``<svg>`` elements.

    Raises ``ValueError`` without a bar.
    """
    if not any(one.bars for one in classes):
        raise ValueError("a plot needs at least one bar")
    first, second = (
        embeddable(_picture(classes, quantity), f"{title}: {quantity.title}", _describe(classes, quantity))
        for quantity in _QUANTITIES
    )
    return first, second


def bars_table(classes: Sequence[ClassBars]) -> Table:
    """The numbers of the bars, one row for a class on one side."""
    rows = [
        TableRow(
            f"{one.name}, {bar.when}",
            (
                TableCell(_number(one.offered_kbps)),
                TableCell(_numbers(bar.expected_ends)),
                TableCell(_number(bar.observed_kbps)),
                TableCell(
                    "–" if bar.loss is None else percent(bar.loss),
                    above=None not in (bar.loss, one.allowed_loss) and (bar.loss or 0) > (one.allowed_loss or 0),
                ),
                TableCell("" if one.allowed_loss is None else f"≤ {percent(one.allowed_loss)}"),
            ),
            group=one.name,
        )
        for one in classes
        for bar in one.bars
    ]
    headings = ("", "offered (kb/s)", "expected (kb/s)", "observed (kb/s)", "loss (%)", "requested")
    return Table(headings, tuple(rows))


def _picture(classes: Sequence[ClassBars], quantity: _Quantity) -> str:
    tall = sum(_NAME + _BAR * len(one.bars) + _GAP for one in classes)
    height = _TOP + tall + _BOTTOM
    with drawing(_WIDTH, height) as figure:
        axes = figure.add_axes(
            (_LEFT / _WIDTH, _BOTTOM / height, (_WIDTH - _LEFT - _RIGHT) / _WIDTH, tall / height)
        )
        axes.set_ylim(tall, 0)
        axes.set_xlim(0, _reach(classes, quantity))
        at = 0.0
        for one in classes:
            axes.text(0, at + _NAME - 0.05, one.name, fontsize=8.5, fontweight="bold")
            at += _NAME
            for bar in one.bars:
                _bar(axes, at, bar, quantity.value(bar), quantity.reference(one, bar))
                at += _BAR
            at += _GAP
        axes.set_yticks([])
        axes.xaxis.set_major_locator(MaxNLocator(5))
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
        axes.set_xlabel(quantity.axis)
        axes.set_axisbelow(True)
        axes.grid(visible=True, axis="x", color=INK, alpha=0.16, linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
        figure.legend(
            handles=_keys(classes, quantity),
            loc="lower left",
            bbox_to_anchor=(0.02, 0),
            ncols=4,
            frameon=False,
            fontsize=8.5,
            borderpad=0.1,
            handlelength=1.6,
            columnspacing=1.2,
        )
        return svg(figure)


def _bar(axes: Axes, at: float, bar: Bar, value: float | None, reference: tuple[float, ...]) -> None:
    """One bar and the line of what was expected of it, or its two ends joined; nothing where it is not known."""
    if value is not None:
        axes.barh(
            [at + _BAR / 2],
            [value],
            _BAR * 0.88,
            facecolor=SIDE_COLOURS[bar.when],
            edgecolor=INK,
            linewidth=0.5,
            hatch=_HATCHES[bar.when],
        )
    for end in reference:
        axes.plot([end, end], [at, at + _BAR], solid_capstyle="butt", clip_on=False, zorder=3, **_EXPECTED)
    if len(reference) > 1:
        axes.plot(reference, [at + _BAR / 2] * 2, solid_capstyle="butt", clip_on=False, zorder=3, **_EXPECTED)


def _keys(classes: Sequence[ClassBars], quantity: _Quantity) -> list[Line2D | Patch]:
    sides = {bar.when: None for one in classes for bar in one.bars}
    handles: list[Line2D | Patch] = [
        Patch(
            label=when,
            facecolor=SIDE_COLOURS[when],
            edgecolor=INK,
            linewidth=0.5,
            hatch=_HATCHES[when],
        )
        for when in _HATCHES
        if when in sides
    ]
    if any(quantity.reference(one, bar) for one in classes for bar in one.bars):
        mark: dict[str, Any] = {
            "linestyle": "none",
            "marker": "|",
            "markersize": 9,
            "markeredgewidth": 2.0,
            "color": INK,
        }
        handles.append(Line2D([], [], label=quantity.line, **mark))
    return handles


def _reach(classes: Sequence[ClassBars], quantity: _Quantity) -> float:
    """The right end of the axis: all that is drawn, and 1 where that is nothing."""
    ends = [
        read for one in classes for bar in one.bars for read in (quantity.value(bar), *quantity.reference(one, bar))
    ]
    return max((end for end in ends if end is not None), default=0.0) * 1.05 or 1.0


def _describe(classes: Sequence[ClassBars], quantity: _Quantity) -> str:
    """Say in words what the bars show."""
    parts = []
    for one in classes:
        told = []
        for bar in one.bars:
            reference = quantity.reference(one, bar)
            line = f", {quantity.line} {_numbers(reference)}" if reference else ""
            told.append(f"{bar.when} {_number(quantity.value(bar))}{line}")
        parts.append(f"{one.name}: {'; '.join(told)}.")
    return f"{quantity.axis}. {' '.join(parts)}"


def _numbers(ends: tuple[float, ...]) -> str:
    return "–".join(map(_number, ends)) or "–"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"
