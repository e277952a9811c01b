"""The configuration a box holds: an ordered tree of canonical lines."""

from __future__ import annotations

from collections.abc import Iterator


class Section:
    """One line and the lines under it.

    Lines are held under a key, so that setting a value again replaces the old one in place. ``rank``
    orders the printout; equal ranks keep the order of creation. ``order`` (optional) breaks ties first.
    """

    def __init__(
        self, text: str, *, key: str = "", rank: int = 50, mode: str = "", order: tuple[object, ...] = ()
    ) -> None:
        self.text = text
        self.key = key or text
        self.rank = rank
        self.mode = mode
        self.order = order
        self.parent: Section | None = None
        self._lines: dict[str, Section] = {}

    def __iter__(self) -> Iterator[Section]:
        """The children in printing order."""
        ranked = sorted(enumerate(self._lines.values()), key=lambda pair: (pair[1].rank, pair[1].order, pair[0]))
        return iter([child for _, child in ranked])

    def __contains__(self, key: str) -> bool:
        return key in self._lines

    def __len__(self) -> int:
        return len(self._lines)

    def get(self, key: str) -> Section | None:
        """The child under ``key``."""
        return self._lines.get(key)

    def value(self, key: str, default: str = "") -> str:
        """The text of the child under ``key``."""
        child = self._lines.get(key)
        return child.text if child is not None else default

    def starting(self, prefix: str) -> list[Section]:
        """The children whose text begins with ``prefix``, in printing order."""
        return [child for child in self if child.text.startswith(prefix)]

    def put(self, child: Section) -> Section:
        """Add a child, or give the present one with that key the new text. Returns the child held."""
        present = self._lines.get(child.key)
        if present is not None and present.mode == child.mode:
            present.text = child.text
            present.rank = child.rank
            present.order = child.order
            return present
        child.parent = self
        self._lines[child.key] = child
        return child

    def insert_before(self, child: Section, key: str) -> Section:
        """Add a new child in front of the child under ``key`` (both of one rank)."""
        child.parent = self
        lines: dict[str, Section] = {}
        for held, line in self._lines.items():
            if held == key:
                lines[child.key] = child
            lines[held] = line
        self._lines = lines
        return child

    def remove(self, key: str) -> Section | None:
        """Take the child under ``key`` out; None when there is none."""
        return self._lines.pop(key, None)

    def copy(self) -> Section:
        """A deep copy without a parent."""
        twin = Section(self.text, key=self.key, rank=self.rank, mode=self.mode, order=self.order)
        for child in self._lines.values():
            held = child.copy()
            held.parent = twin
            twin._lines[held.key] = held
        return twin

    def lines(self, depth: int = 0, indent: str = " ") -> Iterator[str]:
        """The children's lines, indented by their depth."""
        for child in self:
            yield indent * depth + child.text
            yield from child.lines(depth + 1, indent)

    def walk(self) -> Iterator[Section]:
        """Every line below this one, depth first, in printing order."""
        for child in self:
            yield child
            yield from child.walk()

    def replace_with(self, other: Section) -> None:
        """Hold what ``other`` holds from now on."""
        self._lines = {}
        for child in other.copy():
            child.parent = self
            self._lines[child.key] = child
