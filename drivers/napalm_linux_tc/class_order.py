"""The order in which the classes of an interface can be entered: each behind what it is in."""

from __future__ import annotations

import re
from collections.abc import Sequence

_PLACE = re.compile(
    r"class \S+ (?P<id>(?P<tree>[0-9a-f]*:)(?P<minor>[0-9a-f]{1,8})) "
    r"(?:root|parent (?P<parent>\S+))(?: leaf (?P<queue>\S+))?"
)
_WHOLE = ""
"""What the classes of the interface itself are in."""


def parents_first(lines: Sequence[str]) -> list[str]:
    """Lines of ``tc class show``, those of one depth by their minor numbers; what is in no tree comes last.

    A class is below its parent. Where that is a queue, or none is told (HTB calls it ``root`` in every tree), it is
    below the class that has this queue.
    """
    told = {line: found for line in lines if (found := _PLACE.match(line))}
    holder = {found["queue"]: found["id"] for found in told.values() if found["queue"]}
    known = {found["id"] for found in told.values()}
    below: dict[str, list[str]] = {}
    for found in told.values():
        parent = found["parent"] or found["tree"]
        above = holder.get(parent, parent)
        below.setdefault(above if above in known else _WHOLE, []).append(found["id"])
    depths: dict[str, int] = {}
    level, depth = below.pop(_WHOLE, []), 0
    while level:
        depths |= dict.fromkeys(level, depth)
        level, depth = [each for one in level for each in below.pop(one, [])], depth + 1

    def order(line: str) -> tuple[int, int]:
        found = told.get(line)
        if found is None or found["id"] not in depths:
            return depth, 0
        return depths[found["id"]], int(found["minor"], 16)

    return sorted(lines, key=order)


def only_class(class_id: str, lines: Sequence[str]) -> bool:
    """Whether no other class of these lines of ``tc class show`` is in the same tree."""
    tree = f"{class_id.partition(':')[0]}:"
    return [found["id"] for line in lines if (found := _PLACE.match(line)) and found["tree"] == tree] == [class_id]
