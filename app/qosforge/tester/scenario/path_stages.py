"""The stages of a path, lines and policers, with packets of each size as they arrive: whole or in fragments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

from qosforge.calculus.encapsulation import Carried, Encapsulation, PacketPart
from qosforge.calculus.stages import EgressLine, Meter, Passage, Place, Stage, largest_ratio
from qosforge.twin.schedulers import (
    CbwfqScheduler,
    DrrScheduler,
    SchedulerSpec,
    SrrScheduler,
    StrictScheduler,
    StrictWrrScheduler,
    TreeNodeSpec,
    TreeScheduler,
)

_Carry = Callable[[PacketPart], Carried]
_Bits = Callable[[PacketPart], Fraction]
PartCache = dict[tuple[Encapsulation, bool], dict[PacketPart, Carried]]
"""What parts are on lines of one encapsulation, in queues that are urgent or not."""


class PathStages:
    """Collects the stages of a way in order, for packets of ``sizes`` (IP bytes), the usual one first.

    A fragment of IP stays one on the lines that follow, where it may be cut again; it is policed, dropped and
    queued by itself. ``known`` is kept from way to way: most lines carry alike what most ways have.
    """

    def __init__(self, sizes: Sequence[int], known: PartCache) -> None:
        self._sizes = sizes
        self._known = known
        self._parts: list[tuple[PacketPart, ...]] = [(PacketPart(size),) for size in sizes]
        self._steps: list[_Step] = []

    def cut(self, carries: Encapsulation) -> None:
        """Packets come to a port that may be too small for them."""
        self._parts = [tuple(cut for part in parts for cut in carries.cut(part)) for parts in self._parts]
        self._steps.append(_Cut(carries))

    def police(self, place: Place, rate: int, burst: int, frame_bytes: Callable[[PacketPart], int]) -> None:
        """Packets meet a policer that counts a part as so many bytes."""
        frames = [frame_bytes(part) for part in self._parts[0]]
        meter = Meter(place, rate, burst, sum(frames), max(frames))
        self._steps.append(_CountedStage(meter, self._parts, lambda part: Fraction(8 * frame_bytes(part))))

    def pass_line(self, line: EgressLine, queue: int, carries: Encapsulation) -> None:
        """Packets wait in a queue, and are sent."""
        urgent = _urgent(line.discipline, queue)
        known = self._known.setdefault((carries, urgent), {})

        def carry(part: PacketPart) -> Carried:
            if part not in known:
                known[part] = carries.carry(part, urgent=urgent)
            return known[part]

        packets = tuple(
            _packet(size, [carry(part) for part in parts])
            for size, parts in zip(self._sizes, self._parts, strict=True)
        )
        passage = Passage(line, queue, packets)
        self._steps.append(_CountedStage(passage, self._parts, lambda part: Fraction(carry(part).wire_bits), carry))

    def stages(self) -> tuple[Stage, ...]:
        """What was passed."""
        return tuple(
            replace(step.stage, ip_bits=self._ip_bits(number, step))
            for number, step in enumerate(self._steps)
            if isinstance(step, _CountedStage)
        )

    def _ip_bits(self, number: int, step: _CountedStage) -> Fraction:
        """The most IP bits of packets that a bit counted at a stage may stand for later.

        Of whole packets, those that it is made of. Of fragments, whose packets may have lost the others, as many as
        make the dearest packet take the line time that they take, on any line that follows.
        """
        most = largest_ratio([8 * size for size in self._sizes], [sum(map(step.bits, own)) for own in step.parts])
        if all(len(parts) == 1 for parts in self._parts):
            return most
        pieces: dict[PacketPart, tuple[PacketPart, ...]] = {part: (part,) for parts in step.parts for part in parts}
        for later in self._steps[number + 1 :]:
            if isinstance(later, _Cut):
                pieces = {
                    part: tuple(cut for piece in own for cut in later.carries.cut(piece))
                    for part, own in pieces.items()
                }
            elif isinstance(later.stage, Passage) and later.carry is not None:
                line, dearest = later.stage.line, later.stage.extremes.dearest
                times = [sum(line.time_of(later.carry(piece)) for piece in own) for own in pieces.values()]
                most = max(most, largest_ratio(times, [step.bits(part) for part in pieces]) / dearest)
        return most


class _Cut:
    """Packets are cut to what a port takes."""

    def __init__(self, carries: Encapsulation) -> None:
        self.carries = carries


class _CountedStage:
    """A stage with the parts of each packet that come to it, and the bits that it counts of one."""

    def __init__(
        self, stage: Stage, parts: Sequence[tuple[PacketPart, ...]], bits: _Bits, carry: _Carry | None = None
    ) -> None:
        self.stage, self.parts, self.bits, self.carry = stage, parts, bits, carry


_Step = _Cut | _CountedStage


def _packet(ip_bytes: int, parts: Sequence[Carried]) -> Carried:
    """A packet that is in these parts on a line."""
    if len(parts) == 1:
        return parts[0] if parts[0].ip_bytes == ip_bytes else replace(parts[0], ip_bytes=ip_bytes)
    frames = sum((Fraction(part.frame_bytes) for part in parts), Fraction(0))
    bits = sum((Fraction(part.wire_bits) for part in parts), Fraction(0))
    return Carried(ip_bytes, frames, bits, tuple(parts))


def _urgent(discipline: SchedulerSpec, queue: int) -> bool:
    """Whether a queue is one of priority, whose packets go between the fragments of others and are not cut."""
    match discipline:
        case CbwfqScheduler():
            return any(entry.queue == queue for entry in discipline.priority)
        case StrictScheduler():
            first = discipline.order[0]
            return queue in first if isinstance(first, dict) else first == queue
        case StrictWrrScheduler() | DrrScheduler():
            return queue in discipline.strict
        case SrrScheduler():
            return discipline.strict == queue
        case TreeScheduler():
            return any(_urgent_leaf(child, queue) for child in discipline.children)
    return False


def _urgent_leaf(node: TreeNodeSpec, queue: int) -> bool:
    if node.queue == queue:
        return node.priority is not None
    return any(_urgent_leaf(child, queue) for child in node.children)
