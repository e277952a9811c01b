"""Filters of host ports: terms that one element each can hold, with their actions and precedences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from app.findings import Finding, Severity
from app.plan.model import PortRange, Rule, Term
from app.plan.request import ClassRequest, DeviceRequest
from app.platforms.nortel_5510.capabilities import capabilities
from app.platforms.recognition import header_terms


@dataclass(frozen=True)
class Filter:
    """One term as the box holds it: element, classifier and policy bear ``number``, the action its own."""

    number: int
    name: str
    term: Term
    action: int
    precedence: int


@dataclass(frozen=True)
class Action:
    """What happens to the packets of a class."""

    number: int
    rule: Rule


def aligned_blocks(first: int, last: int) -> tuple[PortRange, ...]:
    """A range of ports as the fewest blocks of a power of two that begin at a multiple of their size."""
    blocks = []
    while first <= last:
        size = first & -first if first else 1 << 16
        while size > last - first + 1:
            size >>= 1
        blocks.append(PortRange(first=first, last=first + size - 1))
        first += size
    return tuple(blocks)


def element_terms(request: DeviceRequest, wanted: ClassRequest) -> tuple[Term, ...]:
    """The alternatives of a class, each as one IP element can hold it: one DSCP, one block of ports."""
    found: dict[Term, None] = {}
    for term in header_terms(request, wanted):
        if term.cos:
            continue
        for dscp in term.dscp or (None,):
            for source in _blocks(term.source_ports):
                for destination in _blocks(term.destination_ports):
                    single = Term(
                        dscp=(dscp,) if dscp is not None else (),
                        protocol=term.protocol,
                        source_ports=source,
                        destination_ports=destination,
                    )
                    found[single] = None
    return tuple(found)


def _blocks(ports: tuple[PortRange, ...]) -> Iterator[tuple[PortRange, ...]]:
    if not ports:
        yield ()
    for entry in ports:
        for block in aligned_blocks(entry.first, entry.last):
            yield (block,)


def rules(request: DeviceRequest, names: Mapping[str, str], cos_of: Mapping[str, int]) -> tuple[Rule, ...]:
    """Rules of a host port in the intent's order; what none matches is the untrusted group's to clear."""
    result = []
    for c in request.classes:
        dscp = c.mark.dscp if c.mark else None
        if c.is_default:
            if dscp or cos_of[c.name]:
                result.append(Rule(name=names[c.name], any_of=(Term(),), set_dscp=dscp, set_cos=cos_of[c.name]))
            continue
        terms = element_terms(request, c)
        if terms:
            result.append(Rule(name=names[c.name], any_of=terms, set_dscp=dscp, set_cos=cos_of[c.name]))
    return tuple(result)


def numbered(host_rules: tuple[Rule, ...]) -> tuple[tuple[Action, ...], tuple[Filter, ...]]:
    """Actions and filters of the rules; the first term of the first rule has the highest precedence."""
    first = capabilities()["first_id"]["value"]
    precedence = capabilities()["precedences"]["value"]
    actions: list[Action] = []
    filters: list[Filter] = []
    for position, rule in enumerate(host_rules):
        actions.append(Action(first + position, rule))
        for count, term in enumerate(rule.any_of, start=1):
            name = f"{rule.name}-{count}"
            filters.append(Filter(first + len(filters), name, term, first + position, precedence - len(filters)))
    return tuple(actions), tuple(filters)


def filter_findings(request: DeviceRequest, host_rules: tuple[Rule, ...]) -> Iterator[Finding]:
    """Whether the filters find room on a port, and what they cannot match."""
    for c in request.classes:
        if any(t.cos for t in c.terms):
            yield Finding(
                code="cos-match-unsupported",
                severity=Severity.ERROR,
                message="the filters of the box are made of IP elements here, which do not see the CoS",
                device=request.device,
                direction="input",
                traffic_class=c.name,
                line=c.line,
                mend="match DSCPs instead",
            )
    used, room = sum(len(rule.any_of) for rule in host_rules), capabilities()["precedences"]["value"]
    too_many = used > room
    yield Finding(
        code="too-many-filters" if too_many else "filter-precedences",
        severity=Severity.ERROR if too_many else Severity.INFO,
        message=f"the classes take {used} of a port's {room} filter precedences, which other applications use too",
        device=request.device,
        direction="input",
        asked=f"{used} filters",
        will_be=f"{room} at most",
        mend="match fewer applications, or port ranges that are powers of two"
        if too_many
        else "'show qos diag' tells which are taken",
    )
