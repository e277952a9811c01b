"""Filters of host ports: elements, classifiers, blocks of them, and policies with precedences.

A policy takes one precedence of a port. Where the alternatives of the classes are more than the precedences, those
that look at the same bits are put into blocks, which take one each.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_network

from qosforge.memoise import memoise
from qosforge.plan.model import Action, Policer, Rule, Term
from qosforge.plan.terms import meet
from qosforge.platforms.names import short_name, shorten
from qosforge.platforms.nortel_5510.capabilities import CAPABILITIES

SECOND = 500
"""What is added to the number of a set for its second classifier, where it has an IP and an L2 element."""
_MOST_ROUNDS = 16
"""After which rules are left in the order that they have; random intents by the thousand took three at most."""
DROP_TRAFFIC = 1
"""The predefined action that drops."""


@dataclass(frozen=True)
class FilterAction:
    """What happens to packets: ``marks`` are the DSCP, the 802.1p priority and the drop precedence that are set."""

    number: int
    name: str
    rule: str
    set_dscp: int | None
    set_cos: int | None
    high_drop: bool = False


@dataclass(frozen=True)
class FilterMeter:
    """A meter of a class; ``inside`` and ``outside`` are numbers of actions."""

    number: int
    rule: str
    police: Policer
    inside: int
    outside: int


@dataclass(frozen=True)
class Filter:
    """One alternative of a class: its elements and its set of classifiers bear ``number``."""

    number: int
    name: str
    term: Term
    rule: str
    action: int
    meter: int | None

    @property
    def ip(self) -> bool:
        """Whether it has an IP element (what looks at nothing is one too)."""
        return _has_ip(self.term) or not self.l2

    @property
    def l2(self) -> bool:
        """Whether it has an L2 element."""
        return _has_l2(self.term)


@dataclass(frozen=True)
class FilterPolicy:
    """One precedence of the ports: a filter, or a ``block`` of several that look at the same bits."""

    number: int
    name: str
    precedence: int
    filters: tuple[Filter, ...]
    block: int | None


@dataclass(frozen=True)
class FilterPlan:
    """All that the rules of host ports become."""

    actions: tuple[FilterAction, ...] = ()
    meters: tuple[FilterMeter, ...] = ()
    policies: tuple[FilterPolicy, ...] = ()

    @property
    def filters(self) -> tuple[Filter, ...]:
        """Every alternative, in the order in which the device looks at them."""
        return tuple(f for p in self.policies for f in p.filters)


def _has_ip(term: Term) -> bool:
    plain = (term.dscp, term.source, term.destination, term.source_ports, term.destination_ports)
    return term.protocol is not None or any(plain)


def _has_l2(term: Term) -> bool:
    return bool(term.cos or term.vlan or term.source_mac or term.destination_mac)


def mask(term: Term) -> tuple[object, ...]:
    """Which fields and bits an alternative looks at."""
    sizes = [
        tuple(p.last - p.first for p in ports) for ports in (term.source_ports, term.destination_ports)
    ]  # blocks of one size have one mask
    prefixes = [ip_network(p) if p else None for p in (term.source, term.destination)]
    return (
        bool(term.dscp),
        term.protocol is not None,
        *((p.version, p.prefixlen) if p else None for p in prefixes),
        *sizes,
        bool(term.cos),
        len(term.vlan),
        bool(term.source_mac),
        bool(term.destination_mac),
        _has_ip(term) or not _has_l2(term),
    )


Alternative = tuple[int, Term]
"""The position of a rule and one of its terms."""


def blocks_of(rules: tuple[Rule, ...]) -> list[list[Alternative]]:
    """Alternatives that may stand in one block each, in an order that keeps what the order of the rules means."""
    blocks: list[list[Alternative]] = []
    for position, rule in enumerate(rules):
        for term in rule.any_of:
            _place_blocks(blocks, (position, term))
    return blocks


def _place_blocks(blocks: list[list[Alternative]], alternative: Alternative) -> None:
    position, term = alternative
    for index in range(len(blocks) - 1, -1, -1):
        if mask(blocks[index][0][1]) == mask(term):
            blocks[index].append(alternative)
            return
        # Nothing goes before what an earlier rule may claim.
        if any(p != position and meet(t, term) is not None for p, t in blocks[index]):
            break
    blocks.append([alternative])


def group_filters(found: Iterable[tuple[Rule, Term]]) -> tuple[Rule, ...]:
    """Rules of alternatives in the order of the device: those of one action are one where that means the same."""
    result: list[tuple[Rule, list[Term]]] = []
    for rule, term in found:
        for index in range(len(result) - 1, -1, -1):
            if result[index][0] == rule:
                result[index][1].append(term)
                break
            if not all(meet(other, term) is None for other in result[index][1]):
                result.append((rule, [term]))
                break
        else:
            result.append((rule, [term]))
    return tuple(rule.model_copy(update={"any_of": tuple(terms)}) for rule, terms in result)


def in_box_order(rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
    """The rules as they read when the device's order is read back.

    What is read may be put into blocks in yet another order, so that it is done until the order stays.
    """
    for _ in range(_MOST_ROUNDS):
        bare = [rule.model_copy(update={"any_of": ()}) for rule in rules]
        read = group_filters((bare[position], term) for group in _group_rules(rules) for position, term in group)
        if read == rules:
            break
        rules = read
    return rules


def _group_rules(rules: tuple[Rule, ...]) -> list[list[Alternative]]:
    singles = [[(position, term)] for position, rule in enumerate(rules) for term in rule.any_of]
    return singles if len(singles) <= CAPABILITIES.precedences.value else blocks_of(rules)


@memoise
def number_filters(rules: tuple[Rule, ...]) -> FilterPlan:
    """Actions, meters and policies of the rules; the first alternative has the highest precedence."""
    first = CAPABILITIES.first_id.value
    actions = [
        FilterAction(first + at, r.name, r.name, r.set_dscp, r.set_cos, r.set_drop_precedence == "high")
        for at, r in enumerate(rules)
    ]
    meters: list[FilterMeter] = []
    meter_of: dict[int, int] = {}
    for at, rule in enumerate(rules):
        if rule.police is not None:
            outside = _outside(rule, actions, actions[at].number)
            meter_of[at] = first + len(meters)
            meters.append(FilterMeter(meter_of[at], rule.name, rule.police, actions[at].number, outside))
    policies: list[FilterPolicy] = []
    counts: dict[int, int] = {}
    number = first
    for group in _group_rules(rules):
        filters = []
        for at, term in group:
            counts[at] = counts.get(at, 0) + 1
            name = shorten(f"{rules[at].name}-{counts[at]}", CAPABILITIES.name_limit.value)
            filters.append(Filter(number, name, term, rules[at].name, actions[at].number, meter_of.get(at)))
            number += 1
        block = None if len(filters) == 1 else first + sum(p.block is not None for p in policies)
        precedence = CAPABILITIES.precedences.value - len(policies)
        name = filters[0].name if block is None else f"qosforge-b{block - first + 1}"
        policies.append(FilterPolicy(first + len(policies), name, precedence, tuple(filters), block))
    return FilterPlan(tuple(actions), tuple(meters), tuple(policies))


def _outside(rule: Rule, actions: list[FilterAction], inside: int) -> int:
    """The action for what exceeds a meter, which is made where there is none of the kind."""
    exceed = rule.police.exceed if rule.police else Action()
    if exceed.drop:
        return DROP_TRAFFIC
    if exceed == Action():
        return inside
    number = actions[0].number + len(actions)
    name = short_name(f"{rule.name}-x", CAPABILITIES.name_limit.value, {action.name for action in actions})
    actions.append(FilterAction(number, name, rule.name, exceed.set_dscp, exceed.set_cos))
    return number
