"""Classifiers, marks and policers of the twin's scenario, from a plan."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from msgspec.structs import replace

from qosforge.plan.early_drop import DropPrecedence
from qosforge.plan.model import Action, InterfacePolicer, Policer, Rule, System, Term
from qosforge.twin import filters
from qosforge.twin.filters import (
    EVERYTHING,
    CarPolicer,
    Colour,
    ListedPolice,
    Marked,
    MarkSpec,
    MatchSpec,
    PolicerSpec,
    SingleRatePolicer,
    TokenBucketPolicer,
    TwoRatePolicer,
)

_Value = TypeVar("_Value")

COLOURS: dict[DropPrecedence, Colour] = {"low": "green", "medium": "yellow", "high": "red"}


def twin_term(term: Term) -> MatchSpec:
    """One alternative of a classifier."""
    return MatchSpec(
        dscp=term.dscp or None,
        cos=term.cos or None,
        precedence=term.precedence or None,
        application=_alone(term.application),
        protocol=_alone(term.protocol),
        src=_alone(term.source),
        dst=_alone(term.destination),
        src_mac=_alone(term.source_mac),
        dst_mac=_alone(term.destination_mac),
        input=_alone(term.input_interface),
        vlan=term.vlan or None,
        group=term.qos_group or None,
        src_ports=tuple((r.first, r.last) for r in term.source_ports) or None,
        dst_ports=tuple((r.first, r.last) for r in term.destination_ports) or None,
    )


def _alone(value: _Value | None) -> tuple[_Value] | None:
    return None if value is None else (value,)


def _any(alternatives: Iterable[Term]) -> MatchSpec:
    return MatchSpec(any=tuple(twin_term(alternative) for alternative in alternatives))


def twin_match(rule: Rule) -> MatchSpec:
    """The packets that a rule matches."""
    excluded = _any(rule.none_of) if rule.none_of else None
    return MatchSpec(any=tuple(twin_term(alternative) for alternative in rule.any_of), not_=excluded)


def input_marks(system: System, rule: Rule) -> MarkSpec:
    """Marks that a rule sets on input, and the queue or the QoS group that it chooses there."""
    marks = output_marks(rule)
    if marks.dscp is not None and marks.cos is None and system.dscp_to_cos:
        marks = replace(marks, cos=system.dscp_to_cos[marks.dscp])
    group = rule.set_qos_group if rule.queue is None else rule.queue
    return marks if group is None else replace(marks, group=group)


def output_marks(rule: Rule) -> MarkSpec:
    """Marks that a rule sets on output, and on input beside what follows from them there."""
    dscp = rule.set_dscp
    if dscp is None and rule.set_precedence is not None:
        dscp = rule.set_precedence << 3
    colour = None if rule.set_drop_precedence is None else COLOURS[rule.set_drop_precedence]
    return MarkSpec(dscp=dscp, cos=rule.set_cos, colour=colour)


def over(first: MarkSpec, then: MarkSpec) -> MarkSpec:
    """The marks of a packet that is marked twice."""
    return MarkSpec(
        dscp=first.dscp if then.dscp is None else then.dscp,
        precedence=first.precedence if then.precedence is None else then.precedence,
        cos=first.cos if then.cos is None else then.cos,
        group=first.group if then.group is None else then.group,
        colour=first.colour if then.colour is None else then.colour,
    )


def twin_policer(police: Policer) -> PolicerSpec:
    """A policer of a class or queue: one bucket, or a three-colour marker where it has two."""
    rate, burst = police.rate, police.burst
    conform, exceed = _action(police.conform), _action(police.exceed)
    violate = None if police.violate is None else _action(police.violate)
    if police.peak_rate is not None:
        return TwoRatePolicer(
            rate_bps=rate,
            burst_bytes=burst,
            peak_bps=police.peak_rate,
            peak_burst_bytes=burst if police.excess_burst is None else police.excess_burst,
            conform=conform,
            exceed=exceed,
            violate=violate,
        )
    if police.excess_burst is not None:
        return SingleRatePolicer(
            rate_bps=rate,
            burst_bytes=burst,
            excess_burst_bytes=police.excess_burst,
            conform=conform,
            exceed=exceed,
            violate=violate,
        )
    return TokenBucketPolicer(rate_bps=rate, burst_bytes=burst, conform=conform, exceed=exceed)


def interface_policers(policers: tuple[InterfacePolicer, ...]) -> tuple[ListedPolice, ...]:
    """The policers of an interface (CAR), whose second burst is what a packet may borrow."""
    return tuple(
        ListedPolice(
            match=_any(listed.any_of) if listed.any_of else EVERYTHING,
            police=CarPolicer(
                rate_bps=listed.police.rate,
                burst_bytes=listed.police.burst,
                extended_burst_bytes=listed.police.excess_burst or 0,
                conform=_action(listed.police.conform),
                exceed=_action(listed.police.exceed),
            ),
        )
        for listed in policers
    )


def _action(action: Action) -> filters.Action:
    if action.drop:
        return "drop"
    marks = (action.set_dscp, action.set_precedence, action.set_cos)
    if marks == (None, None, None):
        return "continue" if action.proceed else "transmit"
    return Marked(
        dscp=action.set_dscp,
        precedence=action.set_precedence,
        cos=action.set_cos,
        then="continue" if action.proceed else "transmit",
    )
