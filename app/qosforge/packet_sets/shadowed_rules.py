"""Classifiers of a device that nothing is left to by those before them."""

from __future__ import annotations

from dataclasses import dataclass

from qosforge.memoise import memoise
from qosforge.packet_sets.classification import NamedSet
from qosforge.packet_sets.space import PacketSpace, TooComplexError
from qosforge.packet_sets.terms import of_rule
from qosforge.packet_sets.witness import Witness
from qosforge.plan.model import Rule, Term


@dataclass(frozen=True)
class ShadowedRule:
    """A rule that earlier ones take all packets of; ``witness`` is one of them, that ``taken_by`` takes."""

    name: str
    taken_by: str
    witness: Witness


@memoise
def shadowed_rules(rules: tuple[Rule, ...]) -> tuple[ShadowedRule, ...]:
    """The rules of a list that no packet reaches; the one of everything else, which may get nothing, is none.

    What is too much to tell is none either.
    """
    space = PacketSpace()
    found: list[ShadowedRule] = []
    earlier: list[NamedSet] = []
    try:
        for rule in rules:
            own = rest = of_rule(space, rule)
            for one in earlier:
                rest -= one.packets
            if not own.is_empty and rest.is_empty and rule.any_of != (Term(),):
                taker = next(one for one in earlier if not (own & one.packets).is_empty)
                witness = space.witness(own & taker.packets)
                if witness is not None and taker.name is not None:
                    found.append(ShadowedRule(rule.name, taker.name, witness))
            earlier.append(NamedSet(rule.name, own))
    except TooComplexError:
        return ()
    return tuple(found)
