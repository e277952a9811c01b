"""Differences between the classes of a configuration and those that its intent compiles to, by their packets."""

from __future__ import annotations

from qosforge.importing.plan_diff import _leaves
from qosforge.plan.model import PortRange, Rule, Term


def _mail(*terms: Term, none_of: tuple[Term, ...] = ()) -> tuple[Rule, ...]:
    return (Rule(name="mail", any_of=terms, none_of=none_of),)


def _to(first: int, last: int) -> Term:
    return Term(protocol=6, destination_ports=(PortRange(first=first, last=last),))


def test_other_words_for_the_same_packets_are_no_difference() -> None:
    running = _mail(_to(25, 25), _to(26, 30), Term(dscp=(40, 41, 42, 43, 44, 45, 46, 47)))
    compiled = _mail(_to(25, 30), Term(precedence=(5,)))

    assert not [*_leaves("input.rules", running, compiled)]


def test_a_class_that_takes_more_is_told_with_a_packet() -> None:
    ((place, _, compiled),) = _leaves("input.rules", _mail(_to(25, 25)), _mail(_to(25, 25), _to(143, 143)))

    assert place == "input.rules[0].any_of"
    assert compiled.endswith("; takes: a packet of TCP to port 143")


def test_a_class_that_takes_less_is_told_with_a_packet() -> None:
    excepted = (Term(source="10.0.0.0/8"),)
    ((place, _, compiled),) = _leaves("input.rules", _mail(_to(25, 25)), _mail(_to(25, 25), none_of=excepted))

    assert place == "input.rules[0].none_of"
    assert compiled.endswith("; takes no more: an IPv4 packet of TCP from 10.0.0.0 to port 25")
