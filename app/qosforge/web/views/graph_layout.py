"""Graph layout: devices in the cells of a grid, so that links are short and seldom cross."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import product

import networkx as nx

from qosforge.web.views.shapes import Point, Rectangle, hits

_MOST_WORK = 1_000_000
"""Pairs of links and cards that are looked at to better a drawing: bounds the time of large networks."""
_MOST_BETTERED = 48
"""Cards of a part that are placed by the lengths of paths, in cubic time; more are nested."""
_ASIDE = 1.5
"""How much wider than high nested cards are, in cells: a screen is wide, and rows above them come on top."""
_DOWN = 1.4
"""What a step down costs of one aside."""
_WIDEST = 7
"""Cells of a row of separate parts before the next row begins."""
_CROSSING, _THROUGH = 6.0, 25.0
"""What a crossing, and a line behind a foreign card, cost beside the square of a link's length in cells."""
_CARD_PART = 0.36
"""Half a card, as a part of its cell, with room beside it."""

Cell = tuple[int, int]
"""Column and row."""


def lay_out(count: int, links: Sequence[tuple[int, int]]) -> tuple[Cell, ...]:
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


def hierarchy(count: int, links: Sequence[tuple[int, int]]) -> tuple[int | None, ...]:
    """What each device hangs on, seen from the middle of its connected part, which hangs on nothing (``None``)."""
    graph = nx.Graph()
    graph.add_nodes_from(range(count))
    graph.add_edges_from((a, b) for a, b in links if a != b)
    above: dict[int, int] = {}
    for part in nx.connected_components(graph):
        above |= _behind_each(graph, _middle(graph, min(part)))
    return tuple(None if above[node] == node else above[node] for node in range(count))


def _part(graph: nx.Graph, nodes: Sequence[int]) -> dict[int, Cell]:
    """Cells of a connected part: by the lengths of paths (Kamada and Kawai 1989), lying down, put on a grid."""
    if len(nodes) == 1:
        return {nodes[0]: (0, 0)}
    if len(nodes) > _MOST_BETTERED:
        return _nest(graph, nodes)
    ring = {n: (math.cos(t), math.sin(t)) for i, n in enumerate(nodes) for t in [2 * math.pi * i / len(nodes)]}
    ordered = nx.Graph()
    ordered.add_nodes_from(nodes)
    ordered.add_edges_from(sorted(tuple(sorted(edge)) for edge in graph.edges))
    raw = nx.kamada_kawai_layout(ordered, pos=ring)
    placed = _lay_across({node: (float(x), float(y)) for node, (x, y) in raw.items()}, nodes)
    edges = list(ordered.edges)
    mean = sum(math.dist(placed[a], placed[b]) for a, b in edges) / len(edges)
    taken: dict[int, Cell] = {}
    for node in sorted(nodes, key=lambda n: (-ordered.degree(n), n)):
        x, y = placed[node][0] / mean, placed[node][1] / mean
        taken[node] = min(_free(x, y, set(taken.values())), key=lambda c: (round(math.dist(c, (x, y)), 6), c))
    _Grid(taken, edges).improve()
    left, top = min(c for c, _ in taken.values()), min(r for _, r in taken.values())
    return {node: (column - left, row - top) for node, (column, row) in taken.items()}


def _nest(graph: nx.Graph, nodes: Sequence[int]) -> dict[int, Cell]:
    """Cells of a connected part with many nodes: below each the blocks of those behind it, in rows.

    It begins in the middle of a longest way; each other one hangs on the first that leads there by fewest links.
    """
    root = _middle(graph, nodes[0])
    above = _behind_each(graph, root)
    order = [*above]
    sizes: dict[int, Cell] = {}
    corners: dict[int, Cell] = {}
    below: dict[int, list[int]] = {node: [] for node in order}
    for node in reversed(order):
        sizes[node] = _pack(below[node], sizes, corners)
        if node != root:
            below[above[node]].insert(0, node)
    found: dict[int, Cell] = {}
    corners[root] = 0, 0
    for node in order:
        column, row = corners[node]
        found[node] = column + (sizes[node][0] - 1) // 2, row
        for child in below[node]:
            corners[child] = column + corners[child][0], row + corners[child][1]
    return found


def _middle(graph: nx.Graph, node: int) -> int:
    """The middle of a longest way in the part of a node."""
    there = _behind_each(graph, [*_behind_each(graph, node)][-1])
    way = [[*there][-1]]
    while there[way[-1]] != way[-1]:
        way.append(there[way[-1]])
    return min(way[(len(way) - 1) // 2], way[len(way) // 2])


def _behind_each(graph: nx.Graph, root: int) -> dict[int, int]:
    """What each node hangs on, seen from a root, which hangs on itself; the nearest first."""
    above = {root: root}
    order = [root]
    for node in order:
        for other in sorted(graph.neighbors(node)):
            if other not in above:
                above[other] = node
                order.append(other)
    return above


def _pack(blocks: Sequence[int], sizes: dict[int, Cell], corners: dict[int, Cell]) -> Cell:
    """Put blocks in rows below one cell, and say where each begins; the size of all with that cell."""
    if not blocks:
        return 1, 1
    area = sum(sizes[block][0] * sizes[block][1] for block in blocks)
    most = max(math.ceil(math.sqrt(area * _ASIDE)), *(sizes[block][0] for block in blocks))
    left, top, high, wide = 0, 1, 0, 0
    for block in blocks:
        if left + sizes[block][0] > most:
            left, top, high = 0, top + high, 0
        corners[block] = left, top
        left, high = left + sizes[block][0], max(high, sizes[block][1])
        wide = max(wide, left)
    return wide, top + high


def _lay_across(placed: dict[int, Point], nodes: Sequence[int]) -> dict[int, Point]:
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
    return hits((0.0, 0.0), (float(to[0]), float(to[1])), card)


def _cross(p: Cell, q: Cell, r: Cell, s: Cell) -> bool:
    if max(p[0], q[0]) < min(r[0], s[0]) or max(r[0], s[0]) < min(p[0], q[0]):
        return False

    def side(a: Cell, b: Cell, c: Cell) -> int:
        return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])

    return side(p, q, r) * side(p, q, s) < 0 and side(r, s, p) * side(r, s, q) < 0
