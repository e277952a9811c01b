"""Classes of ``drr`` and the filter behind them: what ``tc`` shows of both, as it is entered to become the same.

Packets whose priority names a class of it are in that class, and all others need a filter: ``drr`` drops what none
tells (``drr_classify`` in net/sched/sch_drr.c, tc-drr(8)). One of ``matchall`` puts them into one class, those of
ARP among them, which no rule of ``nft`` for IP sees.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

KIND = "drr"
PREFERENCE = 65003
"""Behind filters of others, which are entered with 49152 and less where they do not say."""
_HANDLE = 1
_CLASS = re.compile(
    r"^class drr (?P<id>(?P<tree>[0-9a-f]{1,4}:)[0-9a-f]{1,4}) root(?: leaf [0-9a-f]{1,4}:)? "
    r"quantum (?P<quantum>\d{1,10})(?P<unit>b|Kb|Mb)\s*$"
)
_UNITS = {"b": 1, "Kb": 1024, "Mb": 1024 * 1024}
_NEAR = 16
"""``tc`` shows a size that is less than so many bytes off a multiple of 1024 as that (print_size in iproute2)."""


def readable(quantum: int) -> int:
    """The nearest quantum (bytes, less than 1 MiB) that is known again when it is shown."""
    near = max(round(quantum / 1024), 1) * 1024
    off = quantum - near
    if quantum < 1024 or abs(off) >= _NEAR:
        return quantum
    if abs(off) <= _NEAR // 2:
        return near
    return near + (_NEAR if off > 0 else -_NEAR)


def class_words(number: str, quantum: int) -> str:
    """The words behind the interface that enter a class."""
    return f"parent {number.split(':', maxsplit=1)[0]}: classid {number} {KIND} quantum {quantum}b"


def filter_words(number: str) -> str:
    """The words behind the interface that put what nothing else tells into a class."""
    parent = f"{number.split(':', maxsplit=1)[0]}:"
    return f"parent {parent} protocol all pref {PREFERENCE} handle 0x{_HANDLE:x} matchall classid {number}"


def shown_class(dev: str, line: str) -> tuple[str, str] | None:
    """The id of a class and the command that enters it, by a line of ``tc class show``; None of another one."""
    found = _CLASS.match(line)
    if found is None:
        return None
    quantum = int(found["quantum"]) * _UNITS[found["unit"]]
    return found["id"], f"tc class add dev {dev} {class_words(found['id'], quantum)}"


def with_filters(qdiscs: Iterable[Mapping[str, Any]], told: Mapping[str, Sequence[str]]) -> list[dict[str, Any]]:
    """The queues of an interface, where ``told`` has the commands of filters by handle.

    A ``drr`` of others says that its filters are theirs: entered without them it would drop what they told.
    """
    theirs = {"options": {"filters": "others"}}
    return [dict(each) if each["kind"] != KIND or _is_ours(each, told) else {**each, **theirs} for each in qdiscs]


def _is_ours(qdisc: Mapping[str, Any], told: Mapping[str, Sequence[str]]) -> bool:
    filters = told.get(qdisc["handle"], ())
    return "parent" in qdisc and len(filters) == 1 and " matchall classid " in filters[0]
