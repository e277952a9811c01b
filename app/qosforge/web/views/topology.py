"""A network as a drawing: a card for each device with its end hosts in it, a line for each link. Pure geometry.

The same network always gives the same drawing. No card, badge or label lies on another one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from qosforge.web.views.graph_layout import Cell, lay_out
from qosforge.web.views.shapes import Point, Rectangle, hits

CARD_WIDTH = 132.0
HEAD_HEIGHT = 46.0
HOST_HEIGHT = 20.0
MOST_HOSTS = 4
"""End hosts that a card names; of more it names one less, and says how many others there are."""
BADGE_RADIUS = 12.0
LABEL_WIDTH, LABEL_HEIGHT = 62.0, 22.0

_CLEARANCE = 1.0
_GAP = 72.0
_MARGIN = 16.0
_PARALLEL = 14.0
_GROWTH = 1.4
_TRIES = 4
_MANY_LINKS = 60
"""More links than these are drawn once, with the most room."""


@dataclass(frozen=True)
class DrawnLink:
    """One link: its two ends at the borders of the cards, the badges near them, and the label where it has room."""

    a: Point
    b: Point
    badges: tuple[Rectangle, Rectangle]
    label: Rectangle | None


@dataclass(frozen=True)
class Drawing:
    """Cards in the order of the devices, lines in that of the links."""

    width: float
    height: float
    cards: tuple[Rectangle, ...]
    lines: tuple[DrawnLink, ...]


@lru_cache(maxsize=64)
def draw_network(hosts: tuple[int, ...], links: tuple[tuple[int, int], ...]) -> Drawing:
    """The drawing of devices, given by their numbers of end hosts, and links between two devices each.

    Where something would lie on something else the whole is drawn with more room.
    """
    cells = lay_out(len(hosts), links)
    growths = range(_TRIES) if len(links) <= _MANY_LINKS else (_TRIES - 1,)
    best: tuple[Drawing, int] | None = None
    for growth in growths:
        made = _draw(cells, hosts, links, _GAP * _GROWTH**growth)
        best = made if best is None else min(best, made, key=lambda drawn: drawn[1])
        if best[1] == 0:
            break
    assert best is not None
    return best[0]


def rows_of(hosts: int) -> int:
    """Lines that a card has for its end hosts."""
    return min(hosts, MOST_HOSTS)


def _draw(
    cells: Sequence[Cell], hosts: Sequence[int], links: Sequence[tuple[int, int]], gap: float
) -> tuple[Drawing, int]:
    cards = _cards(cells, hosts, gap)
    occupied = _Occupied(cards)
    lines: list[DrawnLink] = []
    clashes = 0
    beside = _beside(links)
    for (a, b), offset in zip(links, beside, strict=True):
        start, end = _ends(cards[a], cards[b], offset)
        if len(links) <= _MANY_LINKS:  # else it is drawn once, whatever lies where
            foreign = [card for n, card in enumerate(cards) if n not in (a, b)]
            clashes += any(hits(start, end, card) for card in foreign)
        badges: list[Rectangle] = []
        for spots in (list(_near(start, end)), list(_near(end, start))):
            badge = _clear(spots, occupied)
            clashes += badge is None
            badges.append(badge or spots[0])
            occupied.add(badges[-1])
        label = _clear(_along(start, end), occupied)
        clashes += label is None
        if label:
            occupied.add(label)
        lines.append(DrawnLink(start, end, (badges[0], badges[1]), label))
    right = max((r.x + r.width for r in occupied.all), default=0.0) + _MARGIN
    bottom = max((r.y + r.height for r in occupied.all), default=0.0) + _MARGIN
    left = min((r.x for r in occupied.all), default=0.0) - _MARGIN
    top = min((r.y for r in occupied.all), default=0.0) - _MARGIN
    return _shift(Drawing(right - left, bottom - top, cards, tuple(lines)), -left, -top), clashes


def _cards(cells: Sequence[Cell], hosts: Sequence[int], gap: float) -> tuple[Rectangle, ...]:
    heights = [HEAD_HEIGHT + HOST_HEIGHT * rows_of(n) + (6.0 if n else 0.0) for n in hosts]
    rows = sorted({row for _, row in cells})
    tallest = {row: max(h for h, (_, r) in zip(heights, cells, strict=True) if r == row) for row in rows}
    tops, top = {}, 0.0
    for row in range(rows[0] if rows else 0, rows[-1] + 1 if rows else 0):
        tops[row] = top
        top += tallest.get(row, 0.0) + gap
    # Centred in their rows: a line between neighbours is level.
    return tuple(
        Rectangle(column * (CARD_WIDTH + gap), tops[row] + (tallest[row] - height) / 2, CARD_WIDTH, height)
        for (column, row), height in zip(cells, heights, strict=True)
    )


def _beside(links: Sequence[tuple[int, int]]) -> list[float]:
    """How far links are moved aside: those between the same two devices lie beside one another."""
    pairs = [(min(link), max(link)) for link in links]
    among, before = Counter(pairs), Counter[tuple[int, int]]()
    offsets = []
    for pair in pairs:
        offsets.append((before[pair] - (among[pair] - 1) / 2) * 2 * _PARALLEL)
        before[pair] += 1
    return offsets


def _ends(a: Rectangle, b: Rectangle, offset: float) -> tuple[Point, Point]:
    (ax, ay), (bx, by) = a.middle, b.middle
    length = math.dist((ax, ay), (bx, by)) or 1.0
    # Aside by the same direction whichever end is named first.
    sign = 1 if (ax, ay) <= (bx, by) else -1
    dx, dy = -(by - ay) / length * offset * sign, (bx - ax) / length * offset * sign
    start, end = (ax + dx, ay + dy), (bx + dx, by + dy)
    return _border(start, end, a), _border(end, start, b)


def _border(inside: Point, towards: Point, card: Rectangle) -> Point:
    """Where the line leaves the card."""
    dx, dy = towards[0] - inside[0], towards[1] - inside[1]
    parts = []
    if dx:
        parts.append(((card.x + card.width if dx > 0 else card.x) - inside[0]) / dx)
    if dy:
        parts.append(((card.y + card.height if dy > 0 else card.y) - inside[1]) / dy)
    part = min((p for p in parts if p >= 0), default=0.0)
    return inside[0] + part * dx, inside[1] + part * dy


def _near(start: Point, end: Point) -> Iterator[Rectangle]:
    """Places of the badge at the start of a line: on the line, from the card outwards."""
    length = math.dist(start, end) or 1.0
    dx, dy = (end[0] - start[0]) / length, (end[1] - start[1]) / length
    # Along a slope the corner of the badge's square, not its side, is nearest to the card.
    away = BADGE_RADIUS * (abs(dx) + abs(dy)) + 3
    size = 2 * BADGE_RADIUS
    steps = max(0, int((length * 0.48 - away) / BADGE_RADIUS))
    for step in range(steps + 1):
        at = away + step * BADGE_RADIUS
        x, y = start[0] + dx * at, start[1] + dy * at
        yield Rectangle(x - BADGE_RADIUS, y - BADGE_RADIUS, size, size)


def _along(start: Point, end: Point) -> Iterator[Rectangle]:
    """Places of the label: on the line around its middle, then beside it."""
    length = math.dist(start, end) or 1.0
    dx, dy = (end[0] - start[0]) / length, (end[1] - start[1]) / length
    reach = BADGE_RADIUS + abs(dx) * LABEL_HEIGHT / 2 + abs(dy) * LABEL_WIDTH / 2 + 2
    for aside, part in product((0.0, -1.0, 1.0, -1.6, 1.6), (0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74)):
        x = start[0] + (end[0] - start[0]) * part - dy * reach * aside
        y = start[1] + (end[1] - start[1]) * part + dx * reach * aside
        yield Rectangle(x - LABEL_WIDTH / 2, y - LABEL_HEIGHT / 2, LABEL_WIDTH, LABEL_HEIGHT)


class _Occupied:
    """The shapes that are drawn already, indexed by squares of the sheet: only near ones are compared."""

    def __init__(self, drawn: Iterable[Rectangle]) -> None:
        self.all: list[Rectangle] = []
        self._near: dict[Cell, list[Rectangle]] = {}
        for one in drawn:
            self.add(one)

    def add(self, one: Rectangle) -> None:
        self.all.append(one)
        for square in self._squares(one):
            self._near.setdefault(square, []).append(one)

    def leaves(self, spot: Rectangle) -> bool:
        """Whether nothing is there yet, nor next to it."""
        near = (other for square in self._squares(spot) for other in self._near.get(square, ()))
        return not any(spot.overlaps(other, _CLEARANCE) for other in near)

    @staticmethod
    def _squares(one: Rectangle) -> Iterable[Cell]:
        first = int((one.x - _CLEARANCE) // CARD_WIDTH), int((one.y - _CLEARANCE) // CARD_WIDTH)
        last = (
            int((one.x + one.width + _CLEARANCE) // CARD_WIDTH),
            int((one.y + one.height + _CLEARANCE) // CARD_WIDTH),
        )
        return product(range(first[0], last[0] + 1), range(first[1], last[1] + 1))


def _clear(spots: Iterable[Rectangle], occupied: _Occupied) -> Rectangle | None:
    """The first free place."""
    return next((spot for spot in spots if occupied.leaves(spot)), None)


def _shift(made: Drawing, x: float, y: float) -> Drawing:
    def by(r: Rectangle) -> Rectangle:
        return Rectangle(round(r.x + x, 1), round(r.y + y, 1), r.width, r.height)

    def at(p: Point) -> Point:
        return round(p[0] + x, 1), round(p[1] + y, 1)

    lines = tuple(
        DrawnLink(
            at(one.a), at(one.b), (by(one.badges[0]), by(one.badges[1])), by(one.label) if one.label else None
        )
        for one in made.lines
    )
    return Drawing(round(made.width, 1), round(made.height, 1), tuple(by(card) for card in made.cards), lines)
