"""Scheduling in a policy class: ``bandwidth``, ``priority``, ``fair-queue`` and ``queue-limit``."""

from __future__ import annotations

from qoslab.boxes.ios import refusals
from qoslab.boxes.ios.attach import RESERVABLE_HQF, Attachments
from qoslab.boxes.ios.base import IosBox
from qoslab.boxes.ios.rows import row
from qoslab.boxes.ios.train import (
    BANDWIDTH_PERCENT,
    LEVELS,
    PRIORITY,
    PRIORITY_BURST,
    PRIORITY_PERCENT,
    REMAINING_PERCENT,
)
from qoslab.boxes.ios.wred import threshold_units
from qoslab.config import Section
from qoslab.grammar import Match, Refused
from qoslab.shell import Row, Shell

_KBPS = "<1-2000000>"
_KBPS_OLD = "<8-2000000>"  # 12.0 and 12.1 (unconfirmed)
_PRIORITY = "<8-2000000>:kbps [<32-2000000>:burst]"
_PRIORITY_OLD = "<8-2000000>:kbps"
_PRIORITY_PERCENT = "percent <1-100>:percent [<32-2000000>:burst]"
_PACKETS = "packets"
_WEIGHTED = frozenset({"bandwidth", "shape", "fair-queue"})
# One of these must stand in a class (but class-default) for the line; with and without HQF.
_SCHEDULED = {
    ("random-detect", False): _WEIGHTED,
    ("random-detect", True): _WEIGHTED,
    ("queue-limit", False): _WEIGHTED,
    ("queue-limit", True): _WEIGHTED | {"priority"},
}


class Scheduling:
    """The scheduling rows of a policy class, as the train has them."""

    def __init__(self, box: IosBox, attachments: Attachments) -> None:
        self._box = box
        self._hqf = attachments.hqf

    def rows(self) -> list[Row]:
        """Policy class mode."""
        train = self._box.train
        rows = [
            row(
                f"bandwidth {_KBPS if train.since('12.2') else _KBPS_OLD}:kbps", self._bandwidth, "bandwidth [LINE]"
            ),
            row("fair-queue [QUEUES]", self._fair_queue, "fair-queue [QUEUES]"),
            self._queue_limit_row(),
        ]
        if train.since(BANDWIDTH_PERCENT):
            rows.append(row("bandwidth percent <1-100>:percent", self._bandwidth))
        if train.since(REMAINING_PERCENT):
            rows.append(row("bandwidth remaining percent <1-100>:percent", self._bandwidth))
        if self._hqf:
            rows += [
                row("bandwidth remaining ratio <1-1000>", self._bandwidth),
                row("priority", self._priority),
            ]
        if train.since(PRIORITY):
            rated = _PRIORITY if train.since(PRIORITY_BURST) else _PRIORITY_OLD
            rows.append(row(f"priority {rated}", self._priority, "priority [LINE]"))
        if train.since(PRIORITY_PERCENT):
            rows.append(row(f"priority {_PRIORITY_PERCENT}", self._priority))
        if train.since(LEVELS):
            rows.append(row(f"priority level <1-2> [{_PRIORITY}|{_PRIORITY_PERCENT}]", self._priority))
        return rows

    def _queue_limit_row(self) -> Row:
        """Packets only before HQF, and printed without a unit there."""
        pattern = "<1-64000000>:n [packets|bytes|ms]:unit" if self._hqf else "<1-512>:n"
        return row(f"queue-limit {pattern}", self._queue_limit, "queue-limit [LINE]")

    def _bandwidth(self, shell: Shell, match: Match) -> None:
        section = shell.section
        if match.undone:
            release(section, "bandwidth", hqf=self._hqf)
            return
        if "priority" in section:
            raise Refused(refusals.deconfigure("priority", "bandwidth"))
        if "fair-queue" in section and not self._hqf:
            raise Refused(refusals.deconfigure("fair-queue", "bandwidth"))
        others = _others(section, "bandwidth")
        unit = _unit(match.text)
        if any(_unit(line) != unit for line in others):
            raise Refused(refusals.MIXED_UNITS_HQF if self._hqf else refusals.MIXED_UNITS)
        if "percent" in match:
            booked = [*others, *(_others(section, "priority") if unit == "percent" else [])]
            total = sum(_percent(line) for line in booked) + match.number("percent")
            self._check_sum(section, total, reserved=unit == "percent")
        shell.store(Section(match.text, key="bandwidth", rank=10))

    def _priority(self, shell: Shell, match: Match) -> None:
        section = shell.section
        if match.undone:
            release(section, "priority", hqf=self._hqf)
            return
        rivals = ("bandwidth", "fair-queue", "random-detect", *(() if self._hqf else ("queue-limit",)))
        for other in rivals:
            if other in section:
                raise Refused(refusals.deconfigure(other, "priority"))
        if _default(section):
            raise Refused("% priority is not supported in class-default")
        others = _others(section, "priority")
        if trouble := _levels_trouble(match.text, others):
            raise Refused(trouble)
        if "percent" in match:
            booked = [*_others(section, "bandwidth"), *others]
            total = sum(_percent(line) for line in booked if _unit(line) == "percent")
            self._check_sum(section, total + match.number("percent"), reserved=True)
        shell.store(Section(match.text, key="priority", rank=10))

    def _check_sum(self, section: Section, total: int, *, reserved: bool) -> None:
        """Per cents of a policy; with HQF 1 % stays with a class-default that has none of its own.

        A 2811 said so of ``priority percent`` and ``bandwidth percent`` (community.cisco.com, td-p/2093710).
        """
        if total > 100:
            raise Refused(refusals.SUM_OVER_100)
        default = section.parent.get("class class-default") if section.parent is not None else None
        own = _default(section) or (default is not None and "bandwidth" in default)
        if reserved and self._hqf and not own and total > RESERVABLE_HQF:
            raise Refused(refusals.SUM_OVER_99)

    def _fair_queue(self, shell: Shell, match: Match) -> None:
        section = shell.section
        if match.undone:
            release(section, "fair-queue", hqf=self._hqf)
            return
        if "priority" in section:
            raise Refused(refusals.deconfigure("priority", "fair-queue"))
        if not self._hqf:
            if not _default(section):
                raise Refused("% fair-queue is supported only in class-default")
            if "bandwidth" in section:
                raise Refused(refusals.deconfigure("bandwidth", "fair-queue"))
        shell.store(Section(match.text, key="fair-queue", rank=15))

    def _queue_limit(self, shell: Shell, match: Match) -> None:
        section = shell.section
        if match.undone:
            section.remove("queue-limit")
            return
        if not self._hqf:
            for other in ("priority", "random-detect"):
                if other in section:
                    raise Refused(refusals.deconfigure(other, "queue-limit"))
        if not _default(section) and not _SCHEDULED["queue-limit", self._hqf] & _keys(section):
            raise Refused(refusals.QUEUE_LIMIT_ALONE)
        if threshold_units(section) - {match.get("unit", _PACKETS)}:
            raise Refused(refusals.UNITS_DIFFER)
        text = f"queue-limit {match['n']} {match.get('unit', _PACKETS)}" if self._hqf else match.text
        shell.store(Section(text, key="queue-limit", rank=25))


def release(section: Section, key: str, *, hqf: bool) -> None:
    """Take a scheduling line back. Raises Refused while another line of the class cannot be without it."""
    for needy in ("random-detect", "queue-limit"):
        left = _SCHEDULED[needy, hqf] & _keys(section) - {key}
        if needy in section and key in section and not _default(section) and not left:
            raise Refused(refusals.deconfigure(needy, f"no {key}"))
    section.remove(key)


def wred_trouble(section: Section, *, hqf: bool) -> str:
    """Why random-detect cannot begin in a policy class ("" when it can)."""
    if "priority" in section:
        return refusals.deconfigure("priority", "random-detect")
    if not _default(section) and not _SCHEDULED["random-detect", hqf] & _keys(section):
        return refusals.WRED_ALONE
    if "queue-limit" in section and not hqf:
        return refusals.deconfigure("queue-limit", "random-detect")
    return ""


def _default(section: Section) -> bool:
    return section.text == "class class-default"


def _keys(section: Section) -> set[str]:
    return {line.key for line in section}


def _unit(line: str) -> str:
    """The unit of a ``bandwidth`` or ``priority`` line; a bare priority has none."""
    words = line.split()
    words = words[2:] if words[1:2] == ["level"] else words
    if words[1:2] == ["remaining"]:
        return f"remaining {words[2]}"
    return "percent" if words[1:2] == ["percent"] else "kbps"


def _levels_trouble(line: str, others: list[str]) -> str:
    """Why a priority cannot stand beside those of other classes ("" when it can).

    Multi-Level Priority Queues (Cisco IOS 12.2SB, 15S): priority with and without a level exclude each other in a
    policy, and no two classes have one level.
    """
    level = _level(line)
    if any((_level(other) is None) != (level is None) for other in others):
        return refusals.LEVELS_MIXED
    return refusals.LEVEL_TAKEN if level is not None and level in map(_level, others) else ""


def _level(line: str) -> str | None:
    words = line.split()
    return words[2] if words[1:2] == ["level"] else None


def _percent(line: str) -> int:
    words = line.split()
    return int(words[words.index("percent") + 1]) if "percent" in words else 0


def _others(section: Section, key: str) -> list[str]:
    """The ``key`` lines of the other classes of the same policy."""
    policy = section.parent
    if policy is None:
        return []
    return [child.value(key) for child in policy if child is not section and key in child]
