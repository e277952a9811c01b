"""Count the match conditions of a device's classes before they are expanded, and reject what is too large."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from qosforge.compiler.features import Sides, recognises
from qosforge.findings import DEFAULT, Finding
from qosforge.note import note
from qosforge.plan.places import class_place
from qosforge.plan.request import ClassRequest, DeviceRequest, TermRequest
from qosforge.platforms.base import Platform

MOST_OF_A_CLASS = 4_096
"""Conditions that a class may come to where a device tells it by its mark."""
MOST_OF_A_DEVICE = 16_384
"""Conditions that all classes of a device may come to together, each joined with what stands above it."""


@dataclass(frozen=True)
class _Size:
    """What a class comes to on a device; ``most`` is what it may, ``joined`` the alternatives with those above."""

    class_request: ClassRequest
    conditions: int
    joined: int
    most: int


def find_oversized(request: DeviceRequest, target: Platform) -> tuple[Finding, ...]:
    """``match-too-large`` for each class that comes to more than its platform enters, else for the device that does
    with all its classes together. It is arithmetic: nothing is expanded."""
    sides = Sides.of(request)
    sizes = tuple(_sizes(request, target, sides, request.classes, 1))
    beyond = [size for size in sizes if size.conditions > size.most]
    if beyond:
        return tuple(_finding(request, size, DEFAULT, size.conditions, size.most) for size in beyond)
    total = sum(size.conditions + size.joined for size in sizes)
    if total <= MOST_OF_A_DEVICE:
        return ()
    largest = max(sizes, key=lambda size: size.conditions + size.joined)
    return (_finding(request, largest, "device", total, MOST_OF_A_DEVICE),)


def without_matches(request: DeviceRequest) -> DeviceRequest:
    """The request without what its classes match: what is left of one that is too large."""
    return request.model_copy(update={"classes": tuple(map(_class_without_matches, request.classes))})


def _class_without_matches(class_request: ClassRequest) -> ClassRequest:
    return class_request.model_copy(
        update={"terms": (), "none_of": (), "children": tuple(map(_class_without_matches, class_request.children))}
    )


def _sizes(
    request: DeviceRequest, target: Platform, sides: Sides, classes: tuple[ClassRequest, ...], above: int
) -> Iterator[_Size]:
    for class_request in classes:
        conditions = target.count_conditions(request, class_request)
        joined = above * (len(class_request.terms) or 1)
        most = (
            target.most_conditions
            if recognises(sides, class_request)
            else max(target.most_conditions, MOST_OF_A_CLASS)
        )
        yield _Size(class_request, conditions, joined if above > 1 else 0, most)
        yield from _sizes(request, target, sides, class_request.children, joined)


def _finding(request: DeviceRequest, size: _Size, variant: str, count: int, most: int) -> Finding:
    return note(
        "match-too-large",
        class_place(request, size.class_request, direction="input"),
        requested=f"{count:,} conditions",
        applied=f"{most:,} at most",
        variant=variant,
        count=count,
        most=most,
        largest=_largest(request, size.class_request),
    )


def _largest(request: DeviceRequest, class_request: ClassRequest) -> str:
    """The lists that the largest alternative combines, with their lengths."""

    def lengths(term: TermRequest) -> dict[str, int]:
        fields = {name: value for name in term.set_fields if len(value := getattr(term, name)) > 1}
        found = {name: len(value) for name, value in fields.items() if name != "application"}
        ranges = len(request.applications[term.application].ports) if term.application else 0
        return {**found, **({f"ports of {term.application}": ranges} if ranges > 1 else {})}

    terms = (*class_request.terms, *class_request.none_of)
    most = max((lengths(term) for term in terms), key=lambda found: sum(found.values()), default={})
    product = " × ".join(f"{count:,} {name}" for name, count in most.items())
    count = f"{len(terms):,} alternative{'s' * (len(terms) != 1)}"
    return f"{count}, the largest of {product}" if product else count
