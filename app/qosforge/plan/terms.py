"""Terms as sets of packets: what two have in common, and what one has that another has not."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Any

from qosforge.plan.model import PortRange, Term

_LISTS = {"dscp": 64, "precedence": 8, "cos": 8, "vlan": 4095, "mpls_experimental": 8, "qos_group": 100}
"""Fields that list values, and how many values there are."""
_SINGLE = ("application", "protocol", "source_mac", "destination_mac", "input_interface")
_PREFIXES = ("source", "destination")
_PORTS = ("source_ports", "destination_ports")
_LAST_PORT = 65535


def one_by_one(terms: Iterable[Term]) -> tuple[Term, ...]:
    """Alternatives in one order, none twice; one that lists values of a single field is one for each of them."""
    return tuple(sorted({single for term in terms for single in _singles(term)}, key=repr))


def asks_only(term: Term, names: Collection[str]) -> bool:
    """Whether a term asks for nothing but these of its fields."""
    asked = [name for name, value in vars(term).items() if value is not None and value != ()]
    return set(asked).issubset(names)


def _singles(term: Term) -> tuple[Term, ...]:
    asked = [name for name, value in vars(term).items() if value not in (None, ())]
    if len(asked) != 1 or asked[0] not in _LISTS:
        return (term,)
    (name,) = asked
    return tuple(Term.model_construct(**{**vars(term), name: (value,)}) for value in getattr(term, name))


def meet(one: Term, other: Term) -> Term | None:
    """What both ask for; None where no packet matches both. A packet is of one application."""
    values: dict[str, Any] = {}
    for name in Term.model_fields:
        a, b = getattr(one, name), getattr(other, name)
        if a in (None, ()) or b in (None, ()) or a == b:
            values[name] = a if b in (None, ()) else b
        elif name in _SINGLE:
            return None
        else:
            common = _common(name, a, b)
            if not common:
                return None
            values[name] = common
    return Term.model_construct(**values)


def _common(name: str, a: Any, b: Any) -> Any:
    if name in _PREFIXES:
        first, second = _network(a), _network(b)
        if first.version != second.version or not first.overlaps(second):
            return None
        return a if first.prefixlen >= second.prefixlen else b
    if name in _PORTS:
        pairs = ((max(x.first, y.first), min(x.last, y.last)) for x in a for y in b)
        return tuple(PortRange(first=first, last=last) for first, last in pairs if first <= last)
    return tuple(value for value in a if value in b)


def disjoint(one: Iterable[Term], other: Iterable[Term]) -> bool:
    """Whether no packet matches an alternative of both."""
    theirs = tuple(other)
    return all(meet(a, b) is None for a in one for b in theirs)


def subtract(term: Term, other: Term) -> tuple[Term, ...] | None:
    """Terms that together have what ``term`` has and ``other`` has not; None where terms cannot say it."""
    if meet(term, other) is None:
        return (term,)
    found: list[Term] = []
    rest = term
    for name in Term.model_fields:
        wanted, held = getattr(other, name), getattr(rest, name)
        if wanted in (None, ()) or wanted == held:
            continue
        beyond = _beyond(name, held, wanted)
        if beyond is None:
            return None
        found += [rest.model_copy(update={name: value}) for value in beyond]
        rest = rest.model_copy(update={name: wanted if held in (None, ()) else _common(name, held, wanted)})
    return tuple(found)


def _beyond(name: str, held: Any, wanted: Any) -> Sequence[Any] | None:
    """Values of a field that are held and not wanted, each as a term has it; None where there is no such form."""
    if name == "mpls_experimental" and not held:
        return None  # what carries no label is beyond, too
    if name in _LISTS:
        left = tuple(value for value in held or range(_LISTS[name]) if value not in wanted)
        return (left,) if left else ()
    if name in _PREFIXES:
        if held is None:
            return None  # the packets of the other version of IP are beyond, too
        outer, inner = _network(held), _network(wanted)
        if inner.prefixlen <= outer.prefixlen:
            return ()
        return tuple(str(part) for part in _exclude(outer, inner))
    if name in _PORTS:
        left = tuple(_gaps(held or (PortRange(first=0, last=_LAST_PORT),), wanted))
        return (left,) if left else ()
    return () if held is not None else None


def _exclude(outer: IPv4Network | IPv6Network, inner: IPv4Network | IPv6Network) -> Iterator[Any]:
    return iter(sorted(outer.address_exclude(inner)))  # type: ignore[arg-type]  # both of one version


def _gaps(held: Iterable[PortRange], taken: Iterable[PortRange]) -> Iterator[PortRange]:
    for ports in held:
        first = ports.first
        for other in sorted(taken, key=lambda each: each.first):
            if other.last < first or other.first > ports.last:
                continue
            if other.first > first:
                yield PortRange(first=first, last=other.first - 1)
            first = other.last + 1
        if first <= ports.last:
            yield PortRange(first=first, last=ports.last)


def _network(prefix: str) -> IPv4Network | IPv6Network:
    return ip_network(prefix, strict=False)
