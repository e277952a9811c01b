"""Sums of the classes' shares as bars."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from qosforge.intent.sums import Sums, sums
from qosforge.intent.yaml_source import Path_
from qosforge.units import format_rate
from qosforge.web.views.class_cards import ClassCard
from qosforge.web.views.spots import at


@dataclass(frozen=True)
class Segment:
    """A class's part of a bar: where it begins, and how wide it is, in percent."""

    name: str
    colour: int
    x: int
    width: int


@dataclass(frozen=True)
class Bar:
    """Percents asked for of 100; ``left`` is below zero where it is too much."""

    of_remaining: bool
    total: int
    left: int
    segments: tuple[Segment, ...]

    @property
    def width(self) -> int:
        """Percents that the bar shows: 100, or more where more is asked for."""
        return max(100, self.total)


@dataclass(frozen=True)
class LevelSums:
    """The sums of classes that share one link, or one class (then ``name`` is that); without those in ``wrong``."""

    name: str
    bars: tuple[Bar, ...]
    rates: str
    wrong: tuple[str, ...]


def level_sums(merged: Any, cards: Sequence[ClassCard]) -> Iterator[LevelSums]:
    """The sums of each level in which something is asked for."""
    for level in sums(merged):
        name, siblings = _level(level.path, cards)
        entries = at(merged, level.path)
        treatments = [at(entry, ("treatment",)) for entry in (entries if isinstance(entries, list) else ())]
        bars = tuple(_bars(level, treatments, siblings))
        rate = level.requested.priority_rate + level.requested.bandwidth_rate
        wrong = tuple(siblings[at].name for at in level.wrong if at < len(siblings))
        if bars or rate or wrong:
            yield LevelSums(name, bars, format_rate(rate) if rate else "", wrong)


def _bars(level: Sums, treatments: Sequence[Any], cards: Sequence[ClassCard]) -> Iterator[Bar]:
    asked = level.requested
    of_link = asked.priority_percent + asked.bandwidth_percent
    if of_link:
        parts = tuple(_segments(level, treatments, cards, (("priority", "percent"), ("bandwidth", "percent"))))
        yield Bar(False, of_link, level.left, parts)
    if asked.remaining_percent:
        parts = tuple(_segments(level, treatments, cards, (("bandwidth", "remaining_percent"),)))
        yield Bar(True, asked.remaining_percent, level.remaining_left, parts)


def _segments(
    level: Sums, treatments: Sequence[Any], cards: Sequence[ClassCard], keys: Sequence[Path_]
) -> Iterator[Segment]:
    x = 0
    for position, treatment in enumerate(treatments):
        if position in level.wrong or position >= len(cards):
            continue
        for key in keys:
            width = at(treatment, key)
            if isinstance(width, int) and not isinstance(width, bool):
                yield Segment(cards[position].name, cards[position].colour, x, width)
                x += width


def _level(path: Path_, cards: Sequence[ClassCard]) -> tuple[str, Sequence[ClassCard]]:
    """The class that a level divides (empty: none) and the cards of the level."""
    if len(path) == 1:
        return "", cards
    position, inner = int(path[1]), path[4:]  # after classes, position, treatment, children
    if position >= len(cards):
        return "", ()
    card = cards[position]
    return _level(("children", *inner), card.children) if inner else (card.name, card.children)
