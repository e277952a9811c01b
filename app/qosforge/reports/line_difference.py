"""The difference of two texts, line by line, in time bounded by their sizes whatever their content."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import unified_diff
from itertools import takewhile

MOST_IN_ORDER = 5_000
"""Lines of either text, between what both begin and end with, that are compared in their order. To find what
moved costs the square of them where each stands there many times, and a device may say anything: 5,000 take a
quarter of a second at worst."""
_CONTEXT = 2


def line_difference(before: str, after: str) -> str:
    """The lines that go (``-``) and come (``+``), with two lines around each change.

    Unified format; empty where the texts are alike. Of larger changes than `MOST_IN_ORDER` it has the lines that
    one text has more often than the other, without their surroundings, and says so.
    """
    old, new = before.splitlines(), after.splitlines()
    head = _alike(zip(old, new, strict=False))
    tail = min(_alike(zip(reversed(old), reversed(new), strict=False)), len(old) - head, len(new) - head)
    if max(len(old), len(new)) - head - tail <= MOST_IN_ORDER:
        return "\n".join(_in_order(old, new, head, tail))
    removed, added = old[head : len(old) - tail], new[head : len(new) - tail]
    return "\n".join(
        (
            "--- before",
            "+++ after",
            f"@@ {len(removed):,} lines became {len(added):,}: what one text has more often, in no order @@",
            *(f"-{line}" for line in _more_often(removed, added)),
            *(f"+{line}" for line in _more_often(added, removed)),
        )
    )


def _alike(pairs: Iterable[tuple[str, str]]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _in_order(old: Sequence[str], new: Sequence[str], head: int, tail: int) -> Iterator[str]:
    skipped = max(0, head - _CONTEXT)
    kept = max(0, tail - _CONTEXT)
    parts = old[skipped : len(old) - kept], new[skipped : len(new) - kept]
    for line in unified_diff(*parts, "before", "after", lineterm="", n=_CONTEXT):
        yield _hunk_header(line, skipped) if line.startswith("@@") else line


def _hunk_header(heading: str, skipped: int) -> str:
    """A heading ``@@ -3,5 +3,4 @@`` with numbers of the whole text."""
    at, *sides, end = heading.split()
    moved = []
    for side in sides:
        first, comma, count = side[1:].partition(",")
        moved.append(f"{side[0]}{int(first) + skipped}{comma}{count}")
    return " ".join((at, *moved, end))


def _more_often(lines: Sequence[str], others: Sequence[str]) -> Iterator[str]:
    left = Counter(lines)
    left.subtract(others)
    for line in lines:
        if left[line] > 0:
            left[line] -= 1
            yield line
