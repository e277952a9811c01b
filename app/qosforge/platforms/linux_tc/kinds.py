"""Which tree an interface gets, by what its classes ask for and what the router's kernel has."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from enum import Enum, auto

from qosforge.errors import Place
from qosforge.findings import Finding
from qosforge.note import note
from qosforge.plan.places import class_place
from qosforge.plan.request import ClassRequest, DeviceRequest, InterfaceRequest
from qosforge.platforms.linux_tc.bands import ETS, HTB, MOST_BANDS, PRIO, TBF
from qosforge.platforms.linux_tc.capabilities import CAPABILITIES
from qosforge.platforms.linux_tc.sharing import HFSC
from qosforge.platforms.linux_tc.turns import DRR, serves

DIVIDING = (HTB, HFSC, ETS, DRR, PRIO)
"""Schedulers that divide a rate among classes, alone or with another one."""


class TreeKind(Enum):
    """What divides an interface among its classes."""

    HTB = auto()
    HFSC = auto()
    BANDS = auto()
    """A band to each class: those of priority first, the others in turn."""
    INNER_HTB = auto()
    """A band to each class of priority without a cap, and a tree of HTB in the last one."""
    TURNS = auto()
    """Classes of ``drr``, in the last band where others have priority."""


def is_uncapped(class_request: ClassRequest) -> bool:
    """Whether a class has priority without a cap."""
    priority = class_request.treatment.priority
    return priority is not None and not priority.capped


def choose_tree(
    request: DeviceRequest, interface_request: InterfaceRequest, rate: int, findings: list[Finding]
) -> TreeKind | None:
    """The tree of an interface of ``rate`` b/s; None where the kernel has none for it, which findings tell.

    The ``features`` of the request are the schedulers that the kernel has.
    """
    has = request.features
    place = Place(device=request.device, interface=interface_request.name, direction="output")
    if not {HTB, TBF} & has:
        findings.append(note("scheduler-missing", place, variant="rate"))
        return None
    kind = _divided(request.classes, rate, has)
    if kind in {TreeKind.HFSC, TreeKind.HTB}:
        return kind
    if HTB not in has and (lacking := tuple(_without_limits(request, interface_request))):
        findings.extend(lacking)
        return None
    if kind is None and HTB in has:
        findings.append(note("scheduler-missing", place, variant="bands"))
    elif kind is None:
        modules = _any_of(f"sch_{name}" for name in DIVIDING if _divided(request.classes, rate, {*has, name}))
        findings.append(note("scheduler-missing", place, variant="classes", modules=modules))
    elif (bands := _bands(request, kind)) > MOST_BANDS:
        findings.append(note("scheduler-missing", place, variant="many", bands=bands, most=MOST_BANDS))
        return None
    return kind


def _divided(classes: Sequence[ClassRequest], rate: int, has: Collection[str]) -> TreeKind | None:
    """The tree that a kernel with these schedulers has for classes at a rate (b/s) that something holds."""
    if not any(map(is_uncapped, classes)):
        if HFSC in has and rate <= CAPABILITIES.hfsc_rate.maximum:
            return TreeKind.HFSC
        if HTB in has:
            return TreeKind.HTB
    return _banded(classes, has)


def _any_of(words: Iterable[str]) -> str:
    *others, last = words
    return f"{', '.join(others)} or {last}" if others else last


def _banded(classes: Sequence[ClassRequest], has: Collection[str]) -> TreeKind | None:
    """The tree of bands that a kernel with these schedulers has for classes."""
    others = [c for c in classes if c.treatment.priority is None]
    held_back = HTB in has and any(map(_is_limited, classes))
    turns = HTB not in has and serves(classes, has, {ETS, PRIO})
    few = len(classes) <= MOST_BANDS or not (HTB in has or turns)
    if few and not held_back and (ETS in has or (PRIO in has and len(others) == 1)):
        return TreeKind.BANDS
    if turns:
        return TreeKind.TURNS
    return TreeKind.INNER_HTB if HTB in has and {ETS, PRIO} & {*has} else None


def _bands(request: DeviceRequest, kind: TreeKind) -> int:
    """How many bands a tree takes."""
    if kind is TreeKind.BANDS:
        return len(request.classes)
    # Without HTB nothing caps priority.
    capped = kind is TreeKind.TURNS
    return sum(c.treatment.priority is not None if capped else is_uncapped(c) for c in request.classes) + 1


def _is_limited(class_request: ClassRequest) -> bool:
    """Whether something of a class holds its packets back though the port is free."""
    treatment = class_request.treatment
    capped = treatment.priority is not None and treatment.priority.capped
    return capped or treatment.bounded or treatment.shape is not None


def _without_limits(request: DeviceRequest, interface_request: InterfaceRequest) -> Iterator[Finding]:
    """Classes that only HTB and HFSC keep to a rate; the cap of a priority is told of where that is lowered."""
    for c in request.classes:
        if c.treatment.shape is not None or c.treatment.bounded:
            place = class_place(request, c, interface=interface_request.name, direction="output")
            yield note("scheduler-missing", place, variant="limits")


def order_findings(request: DeviceRequest, place_of: InterfaceRequest) -> Iterator[Finding]:
    """``served-after-strict``: classes of a capped priority that stand before one without a cap."""
    uncapped = [number for number, c in enumerate(request.classes) if is_uncapped(c)]
    for number, c in enumerate(request.classes):
        if c.treatment.priority is not None and not is_uncapped(c) and number < max(uncapped, default=-1):
            later = request.classes[uncapped[-1]].name
            place = class_place(request, c, interface=place_of.name, direction="output")
            yield note("served-after-strict", place, variant="capped", strict=later)
