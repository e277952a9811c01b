"""Totals of the classes' shares, as bars."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from qosforge.intent.policy_analysis import PolicyAnalysis, PolicyProblem
from qosforge.intent.share_totals import LevelTotals, total_shares
from qosforge.intent.yaml_source import Path_
from qosforge.units import format_rate
from qosforge.web.views.class_view import ClassView
from qosforge.web.views.form_edits import way_of
from qosforge.web.views.form_fields import at

_OF_LINK = (("priority", "percent"), ("bandwidth", "percent"))
_OF_REST = (("bandwidth", "remaining_percent"),)


@dataclass(frozen=True)
class Segment:
    """A class's part of a bar: where it begins, and how wide it is, in percent."""

    name: str
    colour: int
    x: int
    width: int


@dataclass(frozen=True)
class ShareBar:
    """Requested percents of 100; ``left`` is negative where they exceed it."""

    of_remaining: bool
    total: int
    left: int
    segments: tuple[Segment, ...]

    @property
    def width(self) -> int:
        """Percents that the bar shows: 100, or more where more is asked for."""
        return max(100, self.total)


@dataclass(frozen=True)
class ShareTotals:
    """The totals of the classes that share one link or the class ``name``, without the invalid ones (``wrong``)."""

    name: str
    bars: tuple[ShareBar, ...]
    rates: str
    wrong: tuple[str, ...]


def share_totals(merged: Any, views: Sequence[ClassView]) -> Iterator[ShareTotals]:
    """The totals of each level that requests shares."""
    for level in total_shares(merged):
        name, siblings = _level(level.path, views)
        entries = at(merged, level.path)
        treatments = [at(entry, ("treatment",)) for entry in (entries if isinstance(entries, list) else ())]
        bars = tuple(_bars(level, treatments, siblings))
        rate = level.requested.priority_rate + level.requested.bandwidth_rate
        wrong = tuple(siblings[at].name for at in level.wrong if at < len(siblings))
        if bars or rate or wrong:
            yield ShareTotals(name, bars, format_rate(rate) if rate else "", wrong)


def blame_touched(reading: PolicyAnalysis, touched: Path_) -> tuple[PolicyProblem, ...]:
    """The problems of a policy, those of sums over 100 % at the share that was entered last where it is in the sum.

    ``touched`` is the path of its treatment; the language tells such a sum at the share that exceeds it.
    """
    for level in reading.share_totals:
        entries = at(reading.merged, level.path)
        count = len(entries) if isinstance(entries, list) else 0
        own = {n: reading.origin((*level.path, n))[1] for n in range(count) if n not in level.wrong}
        position = next((n for n, path in own.items() if path == touched[:-1]), None)
        if position is None:
            continue
        way = tuple(way_of("service", at(reading.merged, (*level.path, position, "treatment"))).split("."))
        for keys, left in ((_OF_LINK, level.left), (_OF_REST, level.remaining_left)):
            if way in keys and left < 0:
                summed = {(*path, "treatment", *key) for path in own.values() if path for key in keys}
                return tuple(
                    replace(one, path=(*touched, *way)) if one.path in summed else one for one in reading.problems
                )
    return reading.problems


def _bars(level: LevelTotals, treatments: Sequence[Any], views: Sequence[ClassView]) -> Iterator[ShareBar]:
    requested = level.requested
    of_link = requested.priority_percent + requested.bandwidth_percent
    if of_link:
        parts = tuple(_segments(level, treatments, views, _OF_LINK))
        yield ShareBar(False, of_link, level.left, parts)
    if requested.remaining_percent:
        parts = tuple(_segments(level, treatments, views, _OF_REST))
        yield ShareBar(True, requested.remaining_percent, level.remaining_left, parts)


def _segments(
    level: LevelTotals, treatments: Sequence[Any], views: Sequence[ClassView], keys: Sequence[Path_]
) -> Iterator[Segment]:
    x = 0
    for position, treatment in enumerate(treatments):
        if position in level.wrong or position >= len(views):
            continue
        for key in keys:
            width = at(treatment, key)
            if isinstance(width, int) and not isinstance(width, bool):
                yield Segment(views[position].name, views[position].colour, x, width)
                x += width


def _level(path: Path_, views: Sequence[ClassView]) -> tuple[str, Sequence[ClassView]]:
    """The class that a level divides (empty: none) and the views of the level."""
    if len(path) == 1:
        return "", views
    position, inner = int(path[1]), path[4:]  # after classes, position, treatment, children
    if position >= len(views):
        return "", ()
    view = views[position]
    return _level(("children", *inner), view.children) if inner else (view.name, view.children)
