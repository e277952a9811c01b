"""Check what the order of classes does: those that get nothing, and packets that two of them match."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from qosforge.errors import Place
from qosforge.findings import DEFAULT, Finding
from qosforge.intent.loader import LoadedIntent
from qosforge.intent.models import TrafficClass
from qosforge.intent.yaml_source import Path_
from qosforge.memoise import memoise
from qosforge.note import note
from qosforge.packet_sets.ordering import Overlap, Shadowed, find_overlaps, find_shadowed
from qosforge.packet_sets.space import PacketSpace, TooComplexError
from qosforge.validation.context import ValidationContext


def check_class_order(context: ValidationContext) -> Iterator[Finding]:
    """``class-shadowed`` and ``classes-overlap``, of the classes of every level of the intent."""
    return iter(_found(context.compilation.intent))


@memoise
def _found(loaded: LoadedIntent) -> tuple[Finding, ...]:
    return tuple(_of_level(loaded, loaded.intent.classes, ("classes",)))


def _of_level(loaded: LoadedIntent, classes: Sequence[TrafficClass], base: Path_) -> Iterator[Finding]:
    space = PacketSpace()
    try:
        shadowed, overlaps = tuple(find_shadowed(space, classes)), tuple(find_overlaps(space, classes))
    except TooComplexError:
        shadowed, overlaps = (), ()  # the proof of what devices do with them says so
    for found in shadowed:
        yield _shadowed(loaded, classes, base, found)
    for pair in overlaps:
        yield _overlap(loaded, classes, base, pair)
    for at, entry in enumerate(classes):
        if entry.treatment.children:
            yield from _of_level(loaded, entry.treatment.children, (*base, at, "treatment", "children"))


def _shadowed(loaded: LoadedIntent, classes: Sequence[TrafficClass], base: Path_, found: Shadowed) -> Finding:
    at = next(at for at, entry in enumerate(classes) if entry.name == found.name)
    path: Path_ = (*base, at)
    if found.position is not None:
        path = (*path, "match", "any", found.position)
    return note(
        "class-shadowed",
        _place(loaded, path, found.name),
        variant=DEFAULT if found.position is None else "alternative",
        other=found.taken_by,
        witness=str(found.witness),
    )


def _overlap(loaded: LoadedIntent, classes: Sequence[TrafficClass], base: Path_, found: Overlap) -> Finding:
    at = next(at for at, entry in enumerate(classes) if entry.name == found.name)
    place = _place(loaded, (*base, at), found.name)
    return note("classes-overlap", place, other=found.first, witness=str(found.witness))


def _place(loaded: LoadedIntent, path: Path_, name: str) -> Place:
    where = loaded.document.place(path)
    return Place(traffic_class=name, file=where.file, line=where.line)
