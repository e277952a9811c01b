"""Shapes of a drawing, and whether they lie on one another."""

from __future__ import annotations

from dataclasses import dataclass

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


def hits(start: Point, end: Point, card: Rectangle) -> bool:
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
