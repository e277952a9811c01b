"""Queue limits and WRED on a 2970: parts of the port's buffers, and tail drop at thresholds for each mark (WTD)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from qosforge.dscp import drop_precedence, dscp_label
from qosforge.intent.models import QueueLimit, QueueSize, WredProfile
from qosforge.plan.request import ClassRequest, DeviceRequest
from qosforge.platforms.catalyst_2970.capabilities import CAPABILITIES
from qosforge.platforms.catalyst_2970.levels import (
    OutputMaps,
    QueueSet,
    Thresholds,
    default_queue_set,
    packets_at,
    threshold_row,
)
from qosforge.platforms.ios_switch.marks import SwitchClassMarks
from qosforge.platforms.ios_switch.notes import Notes
from qosforge.platforms.ios_switch.ports import note_tail_drop
from qosforge.platforms.ios_switch.queues import QueueAssignment
from qosforge.queue_assignment.shares import whole_numbers

_COLOURS = {"green": "low", "yellow": "medium", "red": "high"}
_MOST_LEVELS = 3
"""Thresholds of a queue (Catalyst 2970 guide, WTD)."""


@dataclass
class _Wish:
    """What classes ask of a queue: packets it holds, and packets, or a part of all, at which a DSCP is dropped."""

    limit: int = 0
    curves: dict[int, int] = field(default_factory=dict)
    parts: dict[int, float] = field(default_factory=dict)

    def full(self, queue: int) -> int:
        """Packets that the queue is to hold: as asked, else as delivered."""
        default = default_queue_set()
        return self.requested or packets_at(default.buffers[queue - 1], default.percent(queue, 1))

    @property
    def requested(self) -> int:
        """Packets that are asked for; 0 where none are."""
        return self.limit or max(self.curves.values(), default=0)


@dataclass(frozen=True)
class _Levels:
    """Per cents of a queue's buffers at which it drops, ascending; ``of`` gives that of single DSCPs."""

    levels: tuple[int, ...]
    of: Mapping[int, int]

    def threshold(self, dscp: int | None) -> int:
        """The number of the threshold at which a DSCP is dropped."""
        percent = self.levels[-1] if dscp is None else self.of.get(dscp, self.levels[-1])
        return self.levels.index(percent) + 1

    @property
    def row(self) -> Thresholds:
        """What the queue set holds for the queue."""
        return threshold_row(self.levels)


def wished_levels(
    request: DeviceRequest, assignment: QueueAssignment, marks: dict[str, SwitchClassMarks], notes: Notes
) -> tuple[QueueSet, OutputMaps] | None:
    """The queue set and output maps for what classes ask of their queues; None where nothing is asked."""
    owner = assignment.dscp_to_queue(marks)
    wishes: dict[int, _Wish] = {}
    for entry in request.classes:
        _take(entry, _points(entry, marks, owner, assignment), wishes, assignment.queue_of[entry.name], notes)
    if not wishes:
        return None
    default = default_queue_set()
    buffers = _buffers(wishes)
    levels = {q: _levels(w, q, buffers[q - 1]) for q, w in wishes.items()}
    rows = enumerate(default.thresholds, start=1)
    held = QueueSet(buffers, tuple(levels[q].row if q in levels else row for q, row in rows))
    by_cos = {cos: m.dscp for m in reversed(marks.values()) for cos in m.cos}
    cos_queues = enumerate(assignment.cos_to_queue(marks))
    maps = OutputMaps(
        tuple((q, levels[q].threshold(by_cos.get(c)) if q in levels else 1) for c, q in cos_queues),
        tuple((q, levels[q].threshold(d) if q in levels else 1) for d, q in enumerate(owner)),
    )
    _note_others(buffers, wishes, notes)
    for entry in request.classes:
        queue = assignment.queue_of[entry.name]
        if queue in wishes:
            _note_limit(request, entry, buffers[queue - 1], levels[queue].levels[-1], notes)
            _note_levels(entry, _points(entry, marks, owner, assignment), levels[queue], buffers[queue - 1], notes)
    return held, maps


def own_levels(maps: OutputMaps) -> tuple[QueueSet, OutputMaps]:
    """A queue set of our own without wishes: as delivered, but every queue is dropped at one and the same part."""
    default = default_queue_set()
    percent = max(row[0] for row in default.thresholds)
    return QueueSet(default.buffers, (threshold_row([percent]),) * len(default.buffers)), maps


def plain_maps(assignment: QueueAssignment, marks: dict[str, SwitchClassMarks]) -> OutputMaps:
    """The output maps with threshold 1 for all."""
    return OutputMaps(
        tuple((queue, 1) for queue in assignment.cos_to_queue(marks)),
        tuple((queue, 1) for queue in assignment.dscp_to_queue(marks)),
    )


def _points(
    entry: ClassRequest, marks: dict[str, SwitchClassMarks], owner: Sequence[int], assignment: QueueAssignment
) -> tuple[int, ...]:
    """The DSCPs that a class has on this device; the default class has what no other one takes into its queue."""
    if not entry.is_default:
        return marks[entry.name].code_points
    others = {d for m in marks.values() for d in m.code_points}
    return tuple(d for d, q in enumerate(owner) if q == assignment.queue_of[entry.name] and d not in others)


def _take(entry: ClassRequest, points: tuple[int, ...], wishes: dict[int, _Wish], queue: int, notes: Notes) -> None:
    limit, wred = entry.treatment.queue_limit, entry.treatment.wred
    if limit is not None:
        wish = wishes.setdefault(queue, _Wish())
        wish.limit = max(wish.limit, _limit(limit))
    if wred is None:
        return
    curves = {d: found for d in points if (found := _curve(d, wred.profiles)) is not None}
    colours = {drop_precedence(d) for d in points} - {None}
    if any(p.maximum.timed for p in wred.profiles) or (wred.profiles and not curves):
        note_tail_drop(entry, notes)
    elif wred.profiles:
        wishes.setdefault(queue, _Wish()).curves |= {d: _packets(p.maximum) for d, p in curves.items()}
    elif len(colours) > 1 and not entry.is_default:
        steps = CAPABILITIES.tail_drop_percent.value
        parts = {d: steps[colour] / 100 for d in points if (colour := drop_precedence(d)) is not None}
        wishes.setdefault(queue, _Wish()).parts |= parts
    else:
        note_tail_drop(entry, notes)


def _limit(limit: QueueLimit) -> int:
    if limit.packets is not None:
        return limit.packets
    return max(1, (limit.bytes or 0) // CAPABILITIES.packet_bytes.value)


def _packets(depth: QueueSize) -> int:
    size = 1 if depth.unit == "packets" else CAPABILITIES.packet_bytes.value
    return max(1, depth.value // size)


def _curve(dscp: int, profiles: tuple[WredProfile, ...]) -> WredProfile | None:
    for profile in profiles:
        colour = _COLOURS.get(profile.colour or "")
        if (
            dscp in profile.dscp
            or dscp >> 3 in profile.precedence
            or (colour is not None and colour == drop_precedence(dscp))
        ):
            return profile
    return None


def _buffers(wishes: dict[int, _Wish]) -> tuple[int, ...]:
    """Per cent of the port's buffers for each queue: as delivered, or in proportion to the packets asked for."""
    default = default_queue_set().buffers
    if not any(w.requested for w in wishes.values()):
        return default
    requested = {q: w.requested for q, w in wishes.items() if w.requested}
    wanted = [requested.get(q, packets_at(part, 100)) for q, part in enumerate(default, start=1)]
    # A queue has at least 1 per cent, and the device takes a sum of 100 alone.
    return whole_numbers([100 * (packets / sum(wanted)) for packets in wanted], 100)


def _levels(wish: _Wish, queue: int, buffers: int) -> _Levels:
    lowest, highest = CAPABILITIES.threshold.minimum, CAPABILITIES.threshold.maximum
    share = CAPABILITIES.port_buffers.value * buffers

    def percent(packets: float) -> int:
        return min(max(round(10_000 * packets / share), lowest), highest)

    full = wish.full(queue)
    of = {d: percent(min(p, full)) for d, p in wish.curves.items()}
    of |= {d: percent(full * part) for d, part in wish.parts.items()}
    levels = sorted({percent(full), *of.values()})
    while len(levels) > _MOST_LEVELS:
        # The two that are nearest become one, at the lower of the two: the queue's own end stays.
        low, high = min(pairwise(levels), key=lambda pair: pair[1] - pair[0])
        gone, kept = (low, high) if high == levels[-1] else (high, low)
        levels.remove(gone)
        of = {d: kept if p == gone else p for d, p in of.items()}
    return _Levels(tuple(levels), of)


def _note_others(buffers: tuple[int, ...], wishes: dict[int, _Wish], notes: Notes) -> None:
    """Queues whose depth changes because others have taken or left a part of the buffers."""
    default = default_queue_set()
    changed = []
    for queue, part in enumerate(buffers, start=1):
        percent = default.percent(queue, 1)
        before, after = packets_at(default.buffers[queue - 1], percent), packets_at(part, percent)
        if queue not in wishes and before != after:
            changed.append(
                (queue, f"{default.buffers[queue - 1]} % ({_guess(before)})", f"{part} % ({_guess(after)})")
            )
    if changed:
        notes.note(
            "buffers-divided",
            direction="output",
            requested=", ".join(f"queue {q}: {before}" for q, before, _ in changed),
            applied=", ".join(f"queue {q}: {after}" for q, _, after in changed),
            buffers=CAPABILITIES.port_buffers.value,
        )


def _guess(packets: int) -> str:
    """What per cents come to in packets: how many a port's buffers hold is not published."""
    return f"about {packets} packets"


def _note_limit(request: DeviceRequest, entry: ClassRequest, buffers: int, percent: int, notes: Notes) -> None:
    limit = entry.treatment.queue_limit
    if limit is None:
        return
    requested, packets = _limit(limit), packets_at(buffers, percent)
    beyond = abs(packets - requested) > max(1, request.tolerance * requested)
    notes.note(
        "queue-limit-approximate",
        traffic_class=entry.name,
        direction="output",
        requested=f"{limit.packets} packets" if limit.packets is not None else f"{limit.bytes} bytes",
        applied=f"{percent} % of a queue that has {buffers} % of the port's buffers ({_guess(packets)})",
        variant="buffers-beyond" if beyond else "buffers",
        buffers=CAPABILITIES.port_buffers.value,
        preferred=limit.prefer,
    )


def _note_levels(entry: ClassRequest, points: tuple[int, ...], levels: _Levels, buffers: int, notes: Notes) -> None:
    wred = entry.treatment.wred
    mine = [d for d in points if d in levels.of]
    if wred is None or not mine:
        return
    requested = []
    for profile in dict.fromkeys(p for d in mine if (p := _curve(d, wred.profiles)) is not None):
        unit = profile.maximum.unit
        requested.append(f"from {profile.minimum.value} to {profile.maximum.value} {unit}")
    percents = {d: levels.of[d] for d in mine}
    applied = [f"{dscp_label(d)} above {p} % ({_guess(packets_at(buffers, p))})" for d, p in percents.items()]
    notes.note(
        "wred-as-tail-drop",
        traffic_class=entry.name,
        direction="output",
        requested=f"random drops {', '.join(requested)}" if requested else "random drops by drop precedence",
        applied=f"all dropped, of the queue's buffers: {', '.join(applied)}",
        buffers=CAPABILITIES.port_buffers.value,
        preferred=wred.prefer,
    )
