"""A network as a drawing: a card for each device with its end hosts in it, a line for each link. Pure geometry.

The same network always gives the same drawing. No card, badge or label lies on another one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import networkx as nx

CARD_WIDTH = 132.0
HEAD_HEIGHT = 46.0
HOST_HEIGHT = 20.0
MOST_HOSTS = 4
"""End hosts that a card names; of more it names one less, and says how many others there are."""
BADGE_RADIUS = 12.0
LABEL_WIDTH, LABEL_HEIGHT = 62.0, 22.0

_GAP = 72.0
_MARGIN = 16.0
_PARALLEL = 14.0
_GROWTH = 1.4
_TRIES = 4
_MANY_LINKS = 60
"""More links than these are drawn once, with the most room."""
_MOST_WORK = 1_000_000
"""Pairs of links and cards that are looked at to better a drawing: bounds the time of large networks."""
_DOWN = 1.4
"""What a step down costs of one aside."""
_WIDEST = 7
"""Cells of a row of separate parts before the next row begins."""
_CROSSING, _THROUGH = 6.0, 25.0
"""What a crossing, and a line behind a foreign card, cost beside the square of a link's length in cells."""
_CARD_PART = 0.36
"""Half a card, as a part of its cell, with room beside it."""

Cell = tuple[int, int]
Point = tuple[float, float]


@dataclass(frozen=True)
class Rectangle:
    """Left, top, width and height."""

    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> Point:
        """Its centre."""
        return self.x + self.width / 2, self.y + self.height / 2

    def overlaps(self, other: Rectangle, room: float = 0.0) -> bool:
        """Whether they have more than an edge in common, or are nearer than ``room``."""
        return (
            self.x < other.x + other.width + room
            and other.x < self.x + self.width + room
            and self.y < other.y + other.height + room
            and other.y < self.y + self.height + room
        )


@dataclass(frozen=True)
class Line:
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
    lines: tuple[Line, ...]


@lru_cache(maxsize=64)
def drawing(hosts: tuple[int, ...], links: tuple[tuple[int, int], ...]) -> Drawing:
    """The drawing of devices, given by their numbers of end hosts, and links between two devices each.

    Where something would lie on something else the whole is drawn with more room.
    """
    cells = _cells(len(hosts), links)
    growths = range(_TRIES) if len(links) <= _MANY_LINKS else (_TRIES - 1,)
    best: tuple[Drawing, int] | None = None
    for growth in growths:
        made = _drawn(cells, hosts, links, _GAP * _GROWTH**growth)
        best = made if best is None else min(best, made, key=lambda drawn: drawn[1])
        if best[1] == 0:
            break
    assert best is not None
    return best[0]


def rows_of(hosts: int) -> int:
    """Lines that a card has for its end hosts."""
    return min(hosts, MOST_HOSTS)


# -- where cards stand ------------------------------------------------------------------------------------------
def _cells(count: int, links: Sequence[tuple[int, int]]) -> tuple[Cell, ...]:
    """Columns and rows: each connected part for itself, parts beside one another."""
    graph = nx.Graph()
    graph.add_nodes_from(range(count))
    graph.add_edges_from((a, b) for a, b in links if a != b)
    found: dict[int, Cell] = {}
    left = top = lowest = 0
    for part in sorted((sorted(nodes) for nodes in nx.connected_components(graph)), key=lambda p: (-len(p), p)):
        own = _part(graph.subgraph(part), part)
        wide = max(column for column, _ in own.values()) + 1
        if left and left + wide > _WIDEST:
            left, top = 0, lowest
        found |= {node: (column + left, row + top) for node, (column, row) in own.items()}
        left += wide
        lowest = max(lowest, *(row + 1 for _, row in (found[node] for node in part)))
    return tuple(found[node] for node in range(count))


def _part(graph: nx.Graph, nodes: Sequence[int]) -> dict[int, Cell]:
    """Cells of a connected part: by the lengths of paths (Kamada and Kawai 1989), lying down, put on a grid."""
    if len(nodes) == 1:
        return {nodes[0]: (0, 0)}
    ring = {n: (math.cos(t), math.sin(t)) for i, n in enumerate(nodes) for t in [2 * math.pi * i / len(nodes)]}
    ordered = nx.Graph()
    ordered.add_nodes_from(nodes)
    ordered.add_edges_from(sorted(tuple(sorted(edge)) for edge in graph.edges))
    raw = nx.kamada_kawai_layout(ordered, pos=ring)
    placed = _lying({node: (float(x), float(y)) for node, (x, y) in raw.items()}, nodes)
    edges = list(ordered.edges)
    mean = sum(math.dist(placed[a], placed[b]) for a, b in edges) / len(edges)
    taken: dict[int, Cell] = {}
    for node in sorted(nodes, key=lambda n: (-ordered.degree(n), n)):
        x, y = placed[node][0] / mean, placed[node][1] / mean
        taken[node] = min(_free(x, y, set(taken.values())), key=lambda c: (round(math.dist(c, (x, y)), 6), c))
    _Grid(taken, edges).improve()
    left, top = min(c for c, _ in taken.values()), min(r for _, r in taken.values())
    return {node: (column - left, row - top) for node, (column, row) in taken.items()}


def _lying(placed: dict[int, Point], nodes: Sequence[int]) -> dict[int, Point]:
    """Turned so that the longest extent lies across; the first node in the left half, and not in the lower one."""
    mx, my = (sum(p[axis] for p in placed.values()) / len(placed) for axis in (0, 1))
    xx = sum((x - mx) ** 2 for x, _ in placed.values())
    yy = sum((y - my) ** 2 for _, y in placed.values())
    xy = sum((x - mx) * (y - my) for x, y in placed.values())
    angle = 0.5 * math.atan2(2 * xy, xx - yy)
    cos, sin = math.cos(angle), math.sin(angle)
    turned = {n: ((x - mx) * cos + (y - my) * sin, (y - my) * cos - (x - mx) * sin) for n, (x, y) in placed.items()}
    first = turned[nodes[0]]
    flip = (-1 if first[0] > 1e-9 else 1, -1 if first[1] > 1e-9 else 1)
    return {n: (x * flip[0], y * flip[1]) for n, (x, y) in turned.items()}


def _free(x: float, y: float, taken: set[Cell]) -> list[Cell]:
    """Cells near a point that nothing stands in."""
    at = round(x), round(y)
    for reach in range(2, 2 + len(taken)):
        steps = range(-reach, reach + 1)
        found = [c for c in ((at[0] + i, at[1] + j) for i, j in product(steps, steps)) if c not in taken]
        if found:
            return found
    return [at]


class _Grid:
    """Cards in cells, and what it costs to have them there."""

    def __init__(self, cells: dict[int, Cell], edges: Sequence[tuple[int, int]]) -> None:
        self.cells = cells
        self._edges = edges
        self._own = {node: [edge for edge in edges if node in edge] for node in cells}
        self._work = 0

    def improve(self) -> None:
        """Move or exchange cards as long as that makes links shorter, and crossings and hidden links fewer."""
        better = True
        while better and self._work < _MOST_WORK:
            better = False
            for node in sorted(self.cells):
                better |= self._best_place(node)
            for edge in self._edges:
                better |= self._drawn_in(edge)

    def _best_place(self, node: int) -> bool:
        home = self.cells[node]
        before = self._cost((node,))
        if before <= len(self._own[node]):
            return False  # every link leads to the next cell, and none is in another's way
        near = {self.cells[other] for edge in self._own[node] for other in edge}
        # A card that hides a link, or is behind one, may have to go further.
        steps = range(-2, 3) if before > _THROUGH else range(-1, 2)
        wanted = {(c + i, r + j) for c, r in (home, *near) for i, j in product(steps, steps)} - {home}
        owners = {cell: other for other, cell in self.cells.items()}
        best: tuple[float, Cell] | None = None
        for cell in sorted(wanted):
            other = owners.get(cell)
            moved = (node,) if other is None else (node, other)
            cost = before if other is None else self._cost(moved)
            self._put(node, cell, other, home)
            gain = cost - self._cost(moved)
            self._put(node, home, other, cell)
            if gain > 1e-9 and (best is None or gain > best[0] + 1e-9):
                best = gain, cell
        if best is None:
            return False
        self._put(node, best[1], owners.get(best[1]), home)
        return True

    def _drawn_in(self, edge: tuple[int, int]) -> bool:
        """Move all that hangs on one end of a long link, where that is all, up to the other end."""
        (a, b), better = edge, False
        for root, branch in ((a, self._branch(a, b)), (b, self._branch(b, a))):
            c, r = self.cells[root][0], self.cells[root][1]
            far = self.cells[b if root == a else a]
            if branch is None or abs(far[0] - c) + abs(far[1] - r) <= 1:
                continue
            for to in ((c - 1, r), (c + 1, r), (c, r - 1), (c, r + 1)):
                by = to[0] - far[0], to[1] - far[1]
                moved = {node: (self.cells[node][0] + by[0], self.cells[node][1] + by[1]) for node in branch}
                if any(cell in moved.values() for node, cell in self.cells.items() if node not in moved):
                    continue
                before, home = self._cost(branch), {node: self.cells[node] for node in branch}
                self.cells |= moved
                if self._cost(branch) < before - 1e-9:
                    better = True
                    break
                self.cells |= home
        return better

    def _branch(self, root: int, first: int) -> tuple[int, ...] | None:
        """The nodes behind a link, seen from its one end; ``None`` where they are more than half, or lead back."""
        found, waiting = {first}, [first]
        while waiting:
            for edge in self._own[waiting.pop()]:
                if {*edge} == {root, first}:
                    continue
                new = {*edge} - found
                found |= new
                waiting += sorted(new)
        return tuple(sorted(found)) if root not in found and len(found) * 2 <= len(self.cells) else None

    def _put(self, node: int, cell: Cell, other: int | None, home: Cell) -> None:
        self.cells[node] = cell
        if other is not None:
            self.cells[other] = home

    def _cost(self, moved: Sequence[int]) -> float:
        """What the links of some nodes cost, and those of others that these nodes are in the way of."""
        cells = self.cells
        own = dict.fromkeys(edge for node in moved for edge in self._own[node])
        self._work += len(own) * (len(cells) + len(self._edges))
        total = 0.0
        for a, b in own:
            p, q = cells[a], cells[b]
            wide, high = abs(p[0] - q[0]), abs(p[1] - q[1])
            total += wide**2 + _DOWN * high**2
            if wide + high > 1:
                total += _THROUGH * sum(_behind(p, q, cell) for n, cell in cells.items() if n not in (a, b))
        seen: set[tuple[int, int]] = set()
        for edge in own:
            seen.add(edge)
            p, q = cells[edge[0]], cells[edge[1]]
            for other in self._edges:
                if other not in seen and not {*edge} & {*other}:
                    total += _CROSSING * _cross(p, q, cells[other[0]], cells[other[1]])
        for c, d in self._edges:
            if (c, d) not in own:
                p, q = cells[c], cells[d]
                total += _THROUGH * sum(_behind(p, q, cells[node]) for node in moved)
        return total


def _behind(p: Cell, q: Cell, cell: Cell) -> bool:
    """Whether the line between two cells runs behind the card in another one."""
    if not min(p[0], q[0]) <= cell[0] <= max(p[0], q[0]) or not min(p[1], q[1]) <= cell[1] <= max(p[1], q[1]):
        return False
    return _covers((q[0] - p[0], q[1] - p[1]), (cell[0] - p[0], cell[1] - p[1]))


@lru_cache(maxsize=4096)
def _covers(to: Cell, cell: Cell) -> bool:
    card = Rectangle(cell[0] - _CARD_PART, cell[1] - _CARD_PART, 2 * _CARD_PART, 2 * _CARD_PART)
    return _hits((0.0, 0.0), (float(to[0]), float(to[1])), card)


def _cross(p: Cell, q: Cell, r: Cell, s: Cell) -> bool:
    if max(p[0], q[0]) < min(r[0], s[0]) or max(r[0], s[0]) < min(p[0], q[0]):
        return False

    def side(a: Cell, b: Cell, c: Cell) -> int:
        return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])

    return side(p, q, r) * side(p, q, s) < 0 and side(r, s, p) * side(r, s, q) < 0


# -- lines, badges and labels -----------------------------------------------------------------------------------
def _drawn(
    cells: Sequence[Cell], hosts: Sequence[int], links: Sequence[tuple[int, int]], gap: float
) -> tuple[Drawing, int]:
    cards = _cards(cells, hosts, gap)
    occupied = list(cards)
    lines: list[Line] = []
    clashes = 0
    beside = _beside(links)
    for (a, b), offset in zip(links, beside, strict=True):
        start, end = _ends(cards[a], cards[b], offset)
        foreign = [card for n, card in enumerate(cards) if n not in (a, b)]
        clashes += any(_hits(start, end, card) for card in foreign)
        badges: list[Rectangle] = []
        for spots in (list(_near(start, end)), list(_near(end, start))):
            badge = _clear(spots, occupied)
            clashes += badge is None
            badges.append(badge or spots[0])
            occupied.append(badges[-1])
        label = _clear(_along(start, end), occupied)
        clashes += label is None
        occupied += [label] if label else []
        lines.append(Line(start, end, (badges[0], badges[1]), label))
    right = max((r.x + r.width for r in occupied), default=0.0) + _MARGIN
    bottom = max((r.y + r.height for r in occupied), default=0.0) + _MARGIN
    left = min((r.x for r in occupied), default=0.0) - _MARGIN
    top = min((r.y for r in occupied), default=0.0) - _MARGIN
    return _moved(Drawing(right - left, bottom - top, cards, tuple(lines)), -left, -top), clashes


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
    pairs = [tuple(sorted(link)) for link in links]
    offsets = []
    for number, pair in enumerate(pairs):
        among = pairs.count(pair)
        offsets.append((pairs[:number].count(pair) - (among - 1) / 2) * 2 * _PARALLEL)
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


def _clear(spots: Iterable[Rectangle], occupied: Sequence[Rectangle]) -> Rectangle | None:
    """The first place where nothing is yet."""
    return next((spot for spot in spots if not any(spot.overlaps(other, 1.0) for other in occupied)), None)


def _hits(start: Point, end: Point, card: Rectangle) -> bool:
    """Whether a line runs through a rectangle (Liang and Barsky 1984)."""
    low, high = 0.0, 1.0
    for at, by, least, most in (
        (start[0], end[0] - start[0], card.x, card.x + card.width),
        (start[1], end[1] - start[1], card.y, card.y + card.height),
    ):
        if by == 0:
            if not least < at < most:
                return False
            continue
        one, two = sorted(((least - at) / by, (most - at) / by))
        low, high = max(low, one), min(high, two)
    return low < high


def _moved(made: Drawing, x: float, y: float) -> Drawing:
    def by(r: Rectangle) -> Rectangle:
        return Rectangle(round(r.x + x, 1), round(r.y + y, 1), r.width, r.height)

    def at(p: Point) -> Point:
        return round(p[0] + x, 1), round(p[1] + y, 1)

    lines = tuple(
        Line(at(one.a), at(one.b), (by(one.badges[0]), by(one.badges[1])), by(one.label) if one.label else None)
        for one in made.lines
    )
    return Drawing(round(made.width, 1), round(made.height, 1), tuple(by(card) for card in made.cards), lines)
