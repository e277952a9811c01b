"""What a classifier takes more and less than another one, by packets."""

from __future__ import annotations

from dataclasses import dataclass

from qosforge.memoise import memoise_by_value
from qosforge.packet_sets.space import PacketSpace, TooComplexError
from qosforge.packet_sets.terms import of_rule
from qosforge.packet_sets.witness import Witness
from qosforge.plan.model import Rule, Term


@dataclass(frozen=True)
class RuleChange:
    """A packet that the later rule takes beside those of the earlier one, and one that it takes no more."""

    more: Witness | None
    fewer: Witness | None


def rule_change(earlier: Rule, later: Rule) -> RuleChange | None:
    """How two rules differ in the packets that they match; None where that is too much to tell.

    In which versions of IP they look for flows without addresses is left aside.
    """
    return _change((earlier.any_of, earlier.none_of), (later.any_of, later.none_of))


_Match = tuple[tuple[Term, ...], tuple[Term, ...]]


@memoise_by_value(256)
def _change(earlier: _Match, later: _Match) -> RuleChange | None:
    space = PacketSpace()
    try:
        before, after = (
            of_rule(space, Rule(name="", any_of=any_of, none_of=none_of)) for any_of, none_of in (earlier, later)
        )
        return RuleChange(more=space.witness(after - before), fewer=space.witness(before - after))
    except TooComplexError:
        return None
