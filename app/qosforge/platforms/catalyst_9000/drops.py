"""Drop thresholds of queues, in per cent of their size: early detection and tail drop, by code point."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from qosforge.commands import Entry
from qosforge.dscp import drop_precedence, dscp_name
from qosforge.plan.model import Red, RedProfile, Share, ShareUnit, TailThreshold
from qosforge.platforms.catalyst_9000.capabilities import CAPABILITIES
from qosforge.platforms.catalyst_9000.marks import ClassMarks
from qosforge.platforms.catalyst_9000.queues import QueueGroup
from qosforge.platforms.ios_switch.notes import Notes

Curve = tuple[int, int]
"""Per cent of a queue at which drops begin, and at which all is dropped."""


def detectors(groups: Iterable[QueueGroup], marks: Mapping[str, ClassMarks], notes: Notes) -> dict[int, Red]:
    """The detectors of the queues, by the queue's position; those above what the device has are noted.

    Classes that require one come before those that prefer one.
    """
    asking = [
        (wred.prefer, position, entry)
        for position, group in enumerate(groups)
        for entry in group.classes
        if (wred := entry.treatment.wred) is not None
    ]
    asking.sort(key=lambda wish: wish[:2])
    most = CAPABILITIES.wred.classes
    curves = CAPABILITIES.wred.curves
    held: dict[int, dict[int, Curve]] = {}
    for prefer, position, entry in asking:
        if position not in held and len(held) == most:
            notes.note(
                "wred-unsupported",
                traffic_class=entry.name,
                direction="output",
                requested="WRED",
                applied="tail drop",
                variant="too-many-queues",
                most=most,
                preferred=prefer,
            )
            continue
        written = marks[entry.name]
        points = {*written.points, *([written.dscp] if written.dscp is not None else [])}
        held.setdefault(position, {}).update({p: curves[drop_precedence(p) or "low"] for p in points})
    return {position: make_red(rows) for position, rows in held.items()}


def make_red(rows: Mapping[int, Curve]) -> Red:
    """A detector with one profile for the code points of each curve, the lowest code point first."""
    by_curve: dict[Curve, list[int]] = {}
    for point in sorted(rows):
        by_curve.setdefault(rows[point], []).append(point)
    profiles = tuple(
        RedProfile(dscp=tuple(points), minimum=low, maximum=high) for (low, high), points in by_curve.items()
    )
    return Red(by_dscp=True, unit="percent", profiles=profiles)


def make_thresholds(rows: Mapping[int, int]) -> tuple[TailThreshold, ...]:
    """The thresholds of a queue, the one of the lowest code point first."""
    by_percent: dict[int, list[int]] = {}
    for point in sorted(rows):
        by_percent.setdefault(rows[point], []).append(point)
    return tuple(TailThreshold(dscp=tuple(points), percent=percent) for percent, points in by_percent.items())


def in_lines(points: Iterable[int]) -> Iterator[str]:
    """Code points as the device writes them in one line, for as many lines as they take."""
    all_points = list(points)
    most = CAPABILITIES.values_per_line.value
    for start in range(0, len(all_points), most):
        names = [dscp_name(point) for point in all_points[start : start + most]]
        yield names[0] if len(names) == 1 else f"values {' '.join(names)}"


class QueueLines:
    """Collects the lines of one class that say how large its queue is and what it drops."""

    def __init__(self) -> None:
        self._detects = False
        self._curves: dict[int, Curve] = {}
        self._tails: dict[int, int] = {}
        self._fields: dict[str, object] = {}

    def take(self, line: Entry) -> bool:
        """Take a line; False where it is not understood."""
        match line.id:
            case "red":
                self._detects = True
            case "red-row" if line["minimum"] <= line["maximum"]:
                self._curves.update(dict.fromkeys(_points(line), (line["minimum"], line["maximum"])))
            case "tail":
                self._tails.update(dict.fromkeys(_points(line), line["percent"]))
            case "buffers":
                self._fields["buffer_percent"] = line["percent"]
            case "police" if "percent" in line:
                # The cap of a priority level, in the other way to say it.
                self._fields |= {"capped": True, "share": Share(unit=ShareUnit.PERCENT, value=line["percent"])}
            case _:
                return False
        return True

    @property
    def fields(self) -> dict[str, object]:
        """What the lines say of a queue."""
        red = make_red(self._curves) if self._detects else None
        return {**self._fields, "red": red, "thresholds": make_thresholds(self._tails)}


def _points(line: Entry) -> tuple[int, ...]:
    points = line["dscp"]
    return points if isinstance(points, tuple) else (points,)
