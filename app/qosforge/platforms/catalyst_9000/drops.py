"""Drop thresholds of queues, in per cent of their size: early detection and tail drop, by code point."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from qosforge.commands import ReadLine
from qosforge.dscp import drop_precedence, dscp_name
from qosforge.intent.wred import Wred, WredProfile
from qosforge.plan.early_drop import Red, RedProfile, TailThreshold
from qosforge.plan.model import Share, ShareUnit
from qosforge.plan.request import ClassRequest
from qosforge.platforms.catalyst_9000.capabilities import CAPABILITIES
from qosforge.platforms.catalyst_9000.marks import ClassMarks
from qosforge.platforms.catalyst_9000.queues import QueueGroup
from qosforge.platforms.ios_switch.notes import Notes

_COLOURS = {"low": "green", "medium": "yellow", "high": "red"}
_PROBABILITY = 0.1
"""The probability of a profile that states none."""
Curve = tuple[int, int]
"""Per cent of a queue at which drops begin, and at which all is dropped."""


def detectors(groups: Iterable[QueueGroup], marks: Mapping[str, ClassMarks], notes: Notes) -> dict[int, Red]:
    """The detectors of the queues, by the queue's position; those above what the device has are noted.

    Classes that require one come before those that prefer one.
    """
    asking = [
        (wred, position, entry)
        for position, group in enumerate(groups)
        for entry in group.classes
        if (wred := entry.treatment.wred) is not None
    ]
    asking.sort(key=lambda wish: (wish[0].prefer, wish[1]))
    most = CAPABILITIES.wred.classes
    rows: dict[int, dict[int, Curve]] = {}
    for wred, position, entry in asking:
        if position not in rows and len(rows) == most:
            _no_detector(entry, wred, notes, variant="too-many-queues", most=most)
            continue
        points = _points_at_output(entry, marks, wred)
        curves = rows.get(position, {}) | _curves(wred, points)
        if len(set(curves.values())) > CAPABILITIES.queues.thresholds:
            _no_detector(entry, wred, notes, variant="too-many-thresholds", most=CAPABILITIES.queues.thresholds)
            continue
        rows[position] = curves
        if any(profile.probability != _PROBABILITY for profile in wred.profiles):
            notes.note("wred-approximate", traffic_class=entry.name, direction="output", variant="no-probability")
        idle = [p for p in wred.profiles if not any(_selects(p, point) for point in points)]
        if idle:
            notes.note(
                "wred-approximate",
                traffic_class=entry.name,
                direction="output",
                variant="not-met",
                marks=", ".join(map(_selected, idle)),
            )
    return {position: make_red(curves) for position, curves in rows.items()}


def _no_detector(entry: ClassRequest, wred: Wred, notes: Notes, *, variant: str, most: int) -> None:
    notes.note(
        "wred-unsupported",
        traffic_class=entry.name,
        direction="output",
        requested="WRED",
        applied="tail drop",
        variant=variant,
        most=most,
        preferred=wred.prefer,
    )


def _points_at_output(entry: ClassRequest, marks: Mapping[str, ClassMarks], wred: Wred) -> tuple[int, ...]:
    """The code points that packets of a class may have at an output.

    They are its own, and where it is told by no DSCP those that its profiles list and no other class has.
    """
    own = marks[entry.name]
    points = [*own.points, *([own.dscp] if own.dscp is not None else [])]
    if entry.is_default or own.group is not None or own.groups:
        others = {point for name, other in marks.items() if name != entry.name for point in other.points}
        points += [point for profile in wred.profiles for point in profile.dscp if point not in others]
    return tuple(dict.fromkeys(points))


def _selects(profile: WredProfile, point: int) -> bool:
    """Whether a profile is for a code point."""
    colour = _COLOURS[drop_precedence(point) or "low"]
    return point in profile.dscp or point >> 3 in profile.precedence or profile.colour == colour


def _selected(profile: WredProfile) -> str:
    """The packets that a profile is for, in words."""
    if profile.dscp:
        return ", ".join(dscp_name(point) for point in profile.dscp)
    return profile.colour or f"precedence {', '.join(map(str, profile.precedence))}"


def _curves(wred: Wred, points: Iterable[int]) -> dict[int, Curve]:
    """The curve of each code point: as the profiles say, else the device's kind of it."""
    if not wred.profiles:
        return {point: CAPABILITIES.wred.curves[drop_precedence(point) or "low"] for point in points}
    return {
        point: (profile.minimum.value, profile.maximum.value)
        for point in points
        for profile in wred.profiles
        if _selects(profile, point)
    }


def tail_thresholds(
    groups: Sequence[QueueGroup], marks: Mapping[str, ClassMarks], reds: Mapping[int, Red], notes: Notes
) -> dict[int, tuple[TailThreshold, ...]]:
    """The thresholds of the queues by position: how full a queue may be for each code point of its classes."""
    told = {point for group in groups for c in group.classes if not c.is_default for point in marks[c.name].points}
    found = {}
    for position, group in enumerate(groups):
        rows: dict[int, int] = {}
        for entry in group.classes:
            limit = entry.treatment.queue_limit
            if limit is None:
                continue
            points = frozenset(range(64)) - told if entry.is_default else frozenset(marks[entry.name].points)
            parts = {point: t.percent for t in limit.thresholds for point in t.dscp if point in points}
            if limit.percent is not None:
                parts = dict.fromkeys(points, limit.percent)
            refused = None
            if position in reds:
                refused = "beside-wred"
            elif not parts:
                refused = "no-dscp"
            elif len({*rows.values(), *parts.values()}) > CAPABILITIES.queues.thresholds:
                refused = "too-many-thresholds"
            if refused is None:
                rows |= parts
                continue
            notes.note(
                "queue-limit-unsupported",
                traffic_class=entry.name,
                direction="output",
                variant=refused,
                most=CAPABILITIES.queues.thresholds,
                preferred=limit.prefer,
            )
        found[position] = make_thresholds(rows)
    return found


def buffer_percent(group: QueueGroup) -> int | None:
    """The part of the port's buffers that the classes of a queue ask for together."""
    parts = [c.treatment.buffers.percent for c in group.classes if c.treatment.buffers]
    return sum(parts) if parts else None


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

    def take(self, line: ReadLine) -> bool:
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
            case "police" if "cap_percent" in line:
                # The cap of a priority level, in the other way to say it.
                self._fields |= {"capped": True, "share": Share(unit=ShareUnit.PERCENT, value=line["cap_percent"])}
            case _:
                return False
        return True

    @property
    def fields(self) -> dict[str, object]:
        """What the lines say of a queue."""
        red = make_red(self._curves) if self._detects else None
        return {**self._fields, "red": red, "thresholds": make_thresholds(self._tails)}


def _points(line: ReadLine) -> tuple[int, ...]:
    points = line["dscp"]
    return points if isinstance(points, tuple) else (points,)
