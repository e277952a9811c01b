"""How devices without deep inspection recognise a class: transport ports and DSCPs."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import combinations
from typing import Any

from qosforge.errors import Place
from qosforge.expansion import combine
from qosforge.findings import DEFAULT, Finding
from qosforge.intent.applications import Application
from qosforge.intent.ports import WELL_KNOWN
from qosforge.memoise import memoise
from qosforge.note import note
from qosforge.plan.model import PortRange, Term
from qosforge.plan.places import class_place
from qosforge.plan.request import ClassRequest, DeviceRequest, InterfaceRequest
from qosforge.plan.request import TermRequest as Alternative

Parts = Callable[[int, int], tuple[PortRange, ...]]
"""Gives the parts of a range of ports, by its first and last one."""
_PREFIXES = ("source", "destination")
_ADDRESSES = ("source", "destination", "source_mac", "destination_mac")


def dscp_of(class_request: ClassRequest) -> int | None:
    """The DSCP that a class is marked with, a precedence as its class selector; None where it has no such mark."""
    mark = class_request.mark
    if mark is None or mark.dscp is not None:
        return mark.dscp if mark else None
    return None if mark.precedence is None else 8 * mark.precedence


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
        own = {"dscp": tuple(sorted(term.dscp)), "cos": tuple(sorted(term.cos))}
        if asks_flow(term):
            flows = _flows(term) if application is None else ()
            ports |= dict.fromkeys(entry.model_copy(update=own) for entry in flows)
        elif application is not None:
            ports |= dict.fromkeys(Term(**fields, **own) for fields in _application(application))
        else:
            marks[Term(**own)] = None
    return (*ports, *marks)


def without_covered(terms: Iterable[Term]) -> tuple[Term, ...]:
    """Terms in their order, none twice, and none that asks for all that another one asks for and more.

    Such a term takes no packet that the other does not take: as an entry of an access list it is never reached.
    """
    asked = {term: frozenset(_conditions(term)) for term in terms}
    every = frozenset(asked.values())
    return tuple(term for term, own in asked.items() if every.isdisjoint(_wider(own)))


Condition = tuple[str, object]


def _conditions(term: Term) -> Iterator[Condition]:
    return ((name, value) for name, value in vars(term).items() if value not in (None, ()))


def _wider(conditions: frozenset[Condition]) -> Iterator[frozenset[Condition]]:
    """Every set of conditions with some of these, and not all: at most a few, however many terms there are.

    What has a prefix of IPv6 stays beside what has none: the lines of the latter may look at IPv4 alone.
    """
    six = {one for one in conditions if one[0] in _PREFIXES and ":" in str(one[1])}
    for count in range(len(conditions)):
        for some in combinations(conditions, count):
            if not six or not six.isdisjoint(some):
                yield frozenset(some)


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


def _whole(first: int, last: int) -> tuple[PortRange, ...]:
    return (PortRange(first=first, last=last),)


def _application(application: Application, parts: Parts = _whole) -> Iterator[dict[str, Any]]:
    for ports in application.ports:
        for side in ("destination_ports", "source_ports")[: 2 if ports[1] < WELL_KNOWN else 1]:
            yield from ({"protocol": application.protocol_number, side: (part,)} for part in parts(*ports))


def single_terms(
    request: DeviceRequest, term: Alternative, marks: Collection[Mapping[str, Any]], parts: Parts = _whole
) -> Iterator[Term]:
    """An alternative as terms of one protocol, source, destination and range of ports each.

    ``marks`` are the fields that each is combined with, ``parts`` are what a range of ports is made of. Addresses,
    protocols and ports may stand beside an application, as far as a device joins them.
    """
    if term.application is not None:
        flows = tuple(_application(request.applications[term.application], parts))
    else:
        sides = (term.source_port, term.destination_port)
        near, far = (tuple((p,) for ports in side for p in parts(*ports)) or ((),) for side in sides)
        names = ("protocol", "source_ports", "destination_ports")
        flows = tuple(dict(zip(names, one, strict=True)) for one in combine(term.protocol or (None,), near, far))
    fields = [getattr(term, name) or (None,) for name in _ADDRESSES]
    for flow, source, destination, mark, near_mac, far_mac in combine(flows, *fields[:2], marks, *fields[2:]):
        addresses = zip(_ADDRESSES, (source, destination, near_mac, far_mac), strict=True)
        yield Term.model_validate({**flow, **dict(addresses), **mark})


def aligned_blocks(first: int, last: int) -> tuple[PortRange, ...]:
    """A range as the fewest blocks of a power of two that begin at a multiple of their size."""
    blocks = []
    while first <= last:
        size = first & -first if first else 1 << 16
        while size > last - first + 1:
            size >>= 1
        blocks.append(PortRange(first=first, last=first + size - 1))
        first += size
    return tuple(blocks)


def points_of(term: Alternative | Term) -> frozenset[int] | None:
    """The DSCPs that an alternative's marks allow, precedences being eight each; None where it asks for none."""
    by_precedence = {8 * p + low for p in term.precedence for low in range(8)}
    if term.dscp and term.precedence:
        return frozenset(term.dscp) & by_precedence
    return frozenset(term.dscp) | by_precedence if term.dscp or term.precedence else None


def joins_too_much(term: Alternative) -> bool:
    """Whether an application stands beside protocols or ports, which it brings itself."""
    return term.application is not None and bool(term.protocol or term.source_port or term.destination_port)


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


def class_counter(
    count: Callable[[DeviceRequest, Alternative], int] = count_conditions,
) -> Callable[[DeviceRequest, ClassRequest], int]:
    """How many conditions a class comes to: the longer of its sides, each alternative what ``count`` says."""
    return lambda request, c: max(sum(count(request, term) for term in side) for side in (c.terms, c.none_of))


def ports_only(
    request: DeviceRequest, class_request: ClassRequest, *, avoidable: bool = False
) -> Iterator[Finding]:
    """Whether a class's applications are told by ports alone.

    ``avoidable`` where another image of the device looks into packets: ports that other traffic has too are then
    a warning.
    """
    names = list(dict.fromkeys(t.application for t in class_request.terms if t.application))
    facts: dict[str, Any] = {"requested": ", ".join(names)}
    if more := [n for n in names if request.applications[n].beyond_ports]:
        facts |= {"variant": "shared", "applied": f"not alone: {', '.join(more)}", "avoidable": avoidable}
    if names:
        yield note("recognised-by-ports", class_place(request, class_request), **facts)


def ipv4_only(request: DeviceRequest, class_request: ClassRequest) -> Iterator[Finding]:
    """Whether a class that inputs recognise by IP headers misses packets of IPv6 that it asks for as well.

    For devices that look at IPv4 alone: ``match ip dscp`` and lists of IPv4 on Catalysts (the 2970's family has
    QoS of IPv6 from 12.2(52)SE, OL-12247-04, p. 36-34) and on FTOS, filters of a 5510 (NN48500-559, p. 7). An
    alternative with prefixes is of their version, one of Ethernet headers of none.
    """
    for term in class_request.terms:
        by_ip = term.application or term.protocol or term.source_port or term.destination_port
        if (by_ip or points_of(term) is not None) and not (term.source or term.destination):
            yield note("told-in-ipv4", class_place(request, class_request, direction="input"), variant="ipv4-only")
            return


def default_marked_down(request: DeviceRequest, *, keeps_dscp: bool = False) -> Iterator[Finding]:
    """Whether what no class takes loses its mark where classes are recognised, as the intent gives it none.

    For devices on which an unknown packet must not keep a mark that would pass for a class's; ``keeps_dscp`` where
    the CoS alone does, and becomes 0.
    """
    default = request.classes[-1]
    if default.mark is None and not default.keep_mark and any(i.recognise for i in request.interfaces):
        place = class_place(request, default, direction="input")
        applied, variant = ("CoS 0", "dscp-kept") if keeps_dscp else ("DSCP 0", DEFAULT)
        yield note("default-marked-down", place, requested="no mark", applied=applied, variant=variant)


def untagged_cos(
    request: DeviceRequest, interface_request: InterfaceRequest, applied: str = "every DSCP becomes 0"
) -> Iterator[Finding]:
    """``trust-unsupported``: an input that is to trust a CoS which no packet carries there, or phones' alone.

    An access port with a voice VLAN has phones send in it with a tag (Catalyst 2960 guide 78-16881-01, p. 14-2).
    ``applied`` says what becomes of packets without a tag.
    """
    if interface_request.trust and interface_request.trust_in == "cos" and not interface_request.tagged:
        place = Place(device=request.device, interface=interface_request.name, direction="input")
        phones = interface_request.voice_vlan
        yield note(
            "trust-unsupported",
            place,
            requested="trust cos",
            applied="CoS 0 where a frame has no tag" if phones else applied,
            variant="voice-vlan" if phones else "untagged",
        )
