"""Merge and intersect lists of TCP and UDP ports, as the fewest ranges."""

from __future__ import annotations

from collections.abc import Iterable

Range = tuple[int, int]
"""First and last port, both included."""

WELL_KNOWN = 1024
"""Ports below this belong to servers, whose answers carry them as the source (RFC 6335, section 6)."""


def merge_ports(ranges: Iterable[Range]) -> tuple[Range, ...]:
    """The same ports as the fewest ranges: what overlaps or follows each other is one.

    Ranges stand in the order in which the first of their parts was given.
    """
    merged: list[tuple[int, int, int]] = []
    for (first, last), at in sorted((r, at) for at, r in enumerate(ranges)):
        if merged and first <= merged[-1][1] + 1:
            begin, end, earliest = merged[-1]
            merged[-1] = begin, max(end, last), min(earliest, at)
        else:
            merged.append((first, last, at))
    return tuple((first, last) for first, last, _ in sorted(merged, key=lambda r: r[2]))


def merge_services(ranges: Iterable[Range]) -> tuple[Range, ...]:
    """The same ports by `merge_ports`, but ranges that servers answer from stay apart from the others."""
    given = tuple(ranges)
    services = tuple(r for r in given if r[1] < WELL_KNOWN)
    return merge_ports(services) + merge_ports(r for r in given if r[1] >= WELL_KNOWN)


def intersect_ports(one: Iterable[Range], other: Iterable[Range]) -> tuple[Range, ...]:
    """The ports in both, as ranges in ascending order."""
    left, right = sorted(merge_ports(one)), sorted(merge_ports(other))
    found: list[Range] = []
    i = j = 0
    while i < len(left) and j < len(right):
        first, last = max(left[i][0], right[j][0]), min(left[i][1], right[j][1])
        if first <= last:
            found.append((first, last))
        if left[i][1] < right[j][1]:
            i += 1
        else:
            j += 1
    return tuple(found)
