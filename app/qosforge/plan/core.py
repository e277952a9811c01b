"""The part of a device request that devices with the same classes share: all but each port's own values."""

from __future__ import annotations

from typing import Any

from qosforge.intent.models import Treatment
from qosforge.inventory.models import Framing
from qosforge.memoise import memoise
from qosforge.plan.request import ClassRequest, DeviceRequest, InterfaceRequest

NOMINAL = 1_000_000_000
"""Bits per second of a port where nothing that is asked for depends on its rate."""

_COMMON = tuple(name for name in DeviceRequest.model_fields if name != "interfaces")
_KIND = ("recognise", "trust", "schedule", "by_mark", "tagged", "trust_in", "usable")


@memoise  # asked for at every port
def core(request: DeviceRequest) -> DeviceRequest:
    """The request with one nameless port for every kind of its ports, the very same object for devices alike.

    Kinds differ in what is done at a port, and in their usable rates only where the classes depend on those (see
    `depends_on_rate`). What is made of a core says nothing of single ports.
    """
    rated = depends_on_rate(request.classes)
    kinds = dict.fromkeys(
        (
            i.recognise,
            i.trust,
            i.schedule,
            i.by_mark,
            i.tagged,
            i.trust_in,
            i.usable if rated else NOMINAL,
        )
        for i in request.interfaces
    )
    return _core(tuple(getattr(request, name) for name in _COMMON), tuple(kinds))


@memoise
def _core(common: tuple[object, ...], kinds: tuple[tuple[object, ...], ...]) -> DeviceRequest:
    ports = tuple(
        InterfaceRequest.model_validate(
            {"name": "", "rate": kind[-1], "framing": Framing.ETHERNET, **dict(zip(_KIND, kind, strict=True))}
        )
        for kind in kinds
    )
    # Not validated again: it was, and validation would make other objects of its parts.
    values: dict[str, Any] = dict(zip(_COMMON, common, strict=True))
    return DeviceRequest.model_construct(**values, interfaces=ports)


def rate_in(classes: tuple[ClassRequest, ...], rate: int) -> int:
    """The rate of a port (b/s), or one for all ports where the classes do not depend on it."""
    return rate if depends_on_rate(classes) else NOMINAL


@memoise
def depends_on_rate(classes: tuple[ClassRequest, ...]) -> bool:
    """Whether the rate of a port decides what classes get in parts of it, or what they are held to."""
    # What divides a class divides the rate that it is held to.
    return any(c.children or _rated(c.treatment) for c in classes)


def _rated(treatment: Treatment) -> bool:
    given = treatment.priority or treatment.bandwidth
    return (
        (given is not None and given.rate is not None)
        or treatment.shape is not None
        or treatment.bounded
        or (treatment.wred is not None and any(p.minimum.timed for p in treatment.wred.profiles))
    )
