"""What devices have in common that serve the same classes: their request without what is each port's own."""

from __future__ import annotations

from app.intent.applications import Application
from app.intent.models import Treatment
from app.inventory.models import Framing, Role
from app.plan.request import ClassRequest, DeviceRequest, InterfaceRequest
from app.sharing import shared

NOMINAL = 1_000_000_000
"""Bits per second of a port where nothing that is asked for depends on its rate."""


def core(request: DeviceRequest) -> DeviceRequest:
    """The request with one nameless port for every kind of its ports, the very same object for devices alike.

    Kinds differ in what is done at a port, and in their usable rates only where the classes depend on those (see
    `depends_on_rate`). What is made of a core says nothing of single ports.
    """
    classes = tuple(request.classes)
    rated = depends_on_rate(classes)
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
    return _core(
        request.device,
        request.platform,
        request.image,
        request.role,
        request.features,
        request.intent,
        request.tolerance,
        classes,
        request.applications,
        tuple(kinds),
    )


@shared
def _core(
    device: str,
    platform: str,
    image: str,
    role: Role,
    features: frozenset[str],
    intent: str,
    tolerance: float,
    classes: tuple[ClassRequest, ...],
    applications: dict[str, Application],
    kinds: tuple[tuple[object, ...], ...],
) -> DeviceRequest:
    fields = ("recognise", "trust", "schedule", "by_mark", "tagged", "trust_in", "usable")
    ports = tuple(
        InterfaceRequest.model_validate(
            {"name": "", "rate": kind[-1], "framing": Framing.ETHERNET, **dict(zip(fields, kind, strict=True))}
        )
        for kind in kinds
    )
    # Not validated again: it was, and validation would make other objects of its parts.
    return DeviceRequest.model_construct(
        device=device,
        platform=platform,
        image=image,
        role=role,
        features=features,
        intent=intent,
        tolerance=tolerance,
        classes=classes,
        interfaces=ports,
        applications=applications,
    )


@shared
def depends_on_rate(classes: tuple[ClassRequest, ...]) -> bool:
    """Whether the rate of a port decides what classes get in parts of it, or what they are held to."""
    # What divides a class divides the rate that it is held to.
    return any(_rated(c.treatment) or c.children for c in classes)


def _rated(treatment: Treatment) -> bool:
    given = treatment.priority or treatment.bandwidth
    return (
        (given is not None and given.rate is not None)
        or treatment.shape is not None
        or treatment.bounded
        or (treatment.wred is not None and any(p.minimum.unit == "ms" for p in treatment.wred.profiles))
    )
