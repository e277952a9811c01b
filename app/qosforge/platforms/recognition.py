"""How devices without deep inspection recognise a class: transport ports and DSCPs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from qosforge.expansion import combine
from qosforge.findings import Finding
from qosforge.intent.applications import Application
from qosforge.intent.ports import WELL_KNOWN
from qosforge.memoise import memoise
from qosforge.note import note
from qosforge.plan.model import PortRange, Term
from qosforge.plan.places import class_place
from qosforge.plan.request import ClassRequest, DeviceRequest
from qosforge.plan.request import TermRequest as Alternative


def header_terms(request: DeviceRequest, class_request: ClassRequest) -> tuple[Term, ...]:
    """The alternatives of a class as header fields: flows first, then DSCPs and CoS, none twice.

    An application together with addresses, protocols or ports has no such form and is left out. An
    application's well-known ports are matched on either side, others at the destination only: a source port above
    them is any client's.
    """
    known = tuple(request.applications[t.application] if t.application else None for t in class_request.terms)
    return _header_terms(class_request.terms, known)


@memoise
def _header_terms(terms: tuple[Alternative, ...], applications: tuple[Application | None, ...]) -> tuple[Term, ...]:
    ports: dict[Term, None] = {}
    marks: dict[Term, None] = {}
    for term, application in zip(terms, applications, strict=True):
        dscp, cos = tuple(sorted(term.dscp)), tuple(sorted(term.cos))
        if asks_flow(term):
            for entry in _flows(term) if term.application is None else ():
                ports[entry.model_copy(update={"dscp": dscp, "cos": cos})] = None
            continue
        if application is None:
            marks[Term(dscp=dscp, cos=cos)] = None
            continue
        for entry in _application(application):
            ports[entry.model_copy(update={"dscp": dscp, "cos": cos})] = None
    return (*ports, *marks)


def asks_flow(term: Alternative) -> bool:
    """Whether an alternative asks for addresses, protocols or ports."""
    return bool(term.protocol or term.source or term.destination or term.source_port or term.destination_port)


def _flows(term: Alternative) -> Iterator[Term]:
    for protocol, source, destination, near, far in combine(
        term.protocol or (None,),
        term.source or (None,),
        term.destination or (None,),
        term.source_port or (None,),
        term.destination_port or (None,),
    ):
        yield Term(
            protocol=protocol,
            source=source,
            destination=destination,
            source_ports=(PortRange(first=near[0], last=near[1]),) if near else (),
            destination_ports=(PortRange(first=far[0], last=far[1]),) if far else (),
        )


def _application(application: Application) -> Iterator[Term]:
    for first, last in application.ports:
        ports = (PortRange(first=first, last=last),)
        yield Term(protocol=application.protocol_number, destination_ports=ports)
        if last < WELL_KNOWN:
            yield Term(protocol=application.protocol_number, source_ports=ports)


def count_class(class_request: ClassRequest, count: Callable[[Alternative], int]) -> int:
    """How many conditions a class comes to: the longer of its sides, each alternative what ``count`` says."""
    return max(sum(map(count, side)) for side in (class_request.terms, class_request.none_of))


def count_conditions(
    request: DeviceRequest,
    term: Alternative,
    width: Callable[[int, int], int] = lambda _first, _last: 1,
    *,
    points_apart: bool = True,
) -> int:
    """How many conditions an alternative becomes at most, by arithmetic.

    Every value of every field is taken to be combined with those of the others; ``width`` is what one range of
    ports takes, ``points_apart`` where each code point takes conditions of its own.
    """
    application = request.applications[term.application] if term.application else None
    ranges = application.ports if application else ()
    own = sum(width(first, last) * (1 + (last < WELL_KNOWN)) for first, last in ranges) or 1
    sides = [sum(width(*ports) for ports in side) or 1 for side in (term.source_port, term.destination_port)]
    ends = [getattr(term, n) for n in ("protocol", "source", "destination", "source_mac", "destination_mac")]
    points = len(term.dscp) + 8 * len(term.precedence) if points_apart else 1
    return math.prod((own, *sides, *(len(values) or 1 for values in ends), points or 1))


def ports_only(request: DeviceRequest, class_request: ClassRequest, *, avoidable: bool = False) -> Finding | None:
    """The finding that a class's applications are told by ports alone; None where it lists none.

    ``avoidable`` where another image of the device looks into packets: ports that other traffic has too are then
    a warning.
    """
    names = list(dict.fromkeys(t.application for t in class_request.terms if t.application))
    if not names:
        return None
    more = [n for n in names if request.applications[n].beyond_ports]
    place, known = class_place(request, class_request), ", ".join(names)
    if not more:
        return note("recognised-by-ports", place, applications=known)
    return note(
        "recognised-by-ports",
        place,
        variant="shared",
        applications=known,
        shared=", ".join(more),
        avoidable=avoidable,
    )


def default_marked_down(request: DeviceRequest) -> Finding | None:
    """The finding that what no class takes loses its mark where classes are recognised; None where the intent gives
    it a mark.

    For devices on which an unknown packet must not keep a mark that would pass for a class's.
    """
    default = request.classes[-1]
    if default.mark is not None or not any(i.recognise for i in request.interfaces):
        return None
    return note(
        "default-marked-down",
        class_place(request, default, direction="input"),
        requested="no mark",
        applied="DSCP 0",
    )
