"""Classes as conditions of nft rules: what a packet is asked, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator

from qosforge.findings import Finding
from qosforge.inventory.models import DeviceRole
from qosforge.note import note
from qosforge.plan.model import Term
from qosforge.plan.places import class_place
from qosforge.plan.request import ClassRequest, DeviceRequest
from qosforge.plan.request import TermRequest as Alternative
from qosforge.platforms.class_trees import every_class
from qosforge.platforms.recognition import joins_too_much, points_of, single_terms, without_covered

_TCP, _UDP = 6, 17


def class_terms(request: DeviceRequest, class_request: ClassRequest) -> tuple[Term, ...]:
    """What a class matches as terms of one prefix, range of ports and DSCP each; what `check_match` refuses is left
    out.
    """
    known = (one for one in class_request.terms if not one.cos and not joins_too_much(one))
    return without_covered(term for one in known for term in _single(request, one))


def terms_at_output(request: DeviceRequest, class_request: ClassRequest, *, by_mark: bool) -> tuple[Term, ...]:
    """What tells a class at an output: its mark, where inputs or devices before have set it, else what it matches.

    Marks are written before outputs look at packets: a class that an input of the device marks is told by what it
    had before, unless that is a mark too, and by its own. Its packets may also have the marks of classes below it.
    """
    marks = [c.recognised_by for c in every_class((class_request,))]
    marked = [term for mark in marks if mark is not None for term in _single(request, mark)]
    if not marked:
        return class_terms(request, class_request)
    if class_request.recognised_by is None:
        return without_covered((*class_terms(request, class_request), *marked))
    inside = request.role is not DeviceRole.EDGE and not any(i.recognise for i in request.interfaces)
    if by_mark or inside:
        return tuple(dict.fromkeys(marked))
    unmarked = (term for term in class_terms(request, class_request) if not term.dscp)
    return without_covered((*unmarked, *marked))


def check_match(request: DeviceRequest, class_request: ClassRequest) -> Iterator[Finding]:
    """What a router cannot look at: the tag of a frame is gone where its packet is forwarded, and applications are
    told by ports of their own.
    """
    place = class_place(request, class_request)
    if any(term.cos for term in class_request.terms):
        yield note("match-unsupported", place, variant="layer3-cos")
    if any(map(joins_too_much, class_request.terms)):
        yield note("match-combination-unsupported", place, variant="application")


def _single(request: DeviceRequest, term: Alternative) -> Iterator[Term]:
    points = points_of(term)
    marks = [{"dscp": (point,)} for point in sorted(points)] if points is not None else [{}]
    for interface in term.input_interface or (None,):
        for one in single_terms(request, term, marks):
            for protocol in _with_ports(one):
                update = {"protocol": protocol, "input_interface": interface}
                yield one.model_copy(update=update)


def _with_ports(term: Term) -> tuple[int | None, ...]:
    """The protocols of a term: nft compares ports of one protocol."""
    if term.protocol is None and (term.source_ports or term.destination_ports):
        return (_TCP, _UDP)
    return (term.protocol,)
