"""Parse the actions of a policy's class: marks, trust, policers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from qosforge.configtree import ConfigLine
from qosforge.dscp import parse_dscp
from qosforge.plan.model import DROP, Action, Policer, Term
from qosforge.platforms.abbreviations import is_number


@dataclass(frozen=True)
class Actions:
    """What one class does; ``trusted`` where it keeps the DSCP, ``unread`` are lines that are not understood."""

    set_dscp: int | None
    set_precedence: int | None
    trusted: bool
    police: Policer | None
    unread: tuple[ConfigLine, ...]


def read_actions(
    entry: ConfigLine, aggregates: Mapping[str, ConfigLine], policed_dscp: Sequence[int], terms: tuple[Term, ...]
) -> Actions:
    """The actions below ``class NAME``.

    ``aggregates`` are the shared policers that this class alone uses, by name; ``policed_dscp`` is the switch's map
    of what exceeds, and ``terms`` what the class matches.
    """
    dscp: int | None = None
    precedence: int | None = None
    trusted = False
    unread: list[ConfigLine] = []
    policers: list[ConfigLine] = []
    for action in entry.children:
        match action.text.split():
            case ["set", "dscp", value] | ["set", "ip", "dscp", value] if (found := _dscp(value)) is not None:
                dscp = found
            case ["set", "precedence", value] | ["set", "ip", "precedence", value] if is_number(value, 0, 7):
                precedence = int(value)
            case ["trust"] | ["trust", "dscp"]:
                trusted = True
            case ["police", *_]:
                policers.append(action)
            case _:
                unread.append(action)
    marked = {dscp} if dscp is not None else {d for term in terms for d in term.dscp} if trusted else {0}
    if precedence is not None:
        marked = {8 * precedence}
    police: Policer | None = None
    for line in policers:
        found_policer = _policer(line.text.split()[1:], aggregates, {policed_dscp[d] for d in marked})
        if found_policer is None:
            unread.append(line)
        police = found_policer or police
    return Actions(dscp, precedence, trusted, police, tuple(unread))


def _dscp(value: str) -> int | None:
    try:
        return parse_dscp(value)
    except ValueError:
        return None


def _policer(words: list[str], aggregates: Mapping[str, ConfigLine], policed: set[int]) -> Policer | None:
    """The policer of ``RATE BURST [exceed-action ...]`` or ``aggregate NAME``; None where plans hold none such.

    ``policed`` are the DSCPs that the map gives to what exceeds: one, or the policer does no single thing.
    """
    if words[:1] == ["aggregate"] and words[1:] and words[1] in aggregates:
        words = aggregates[words[1]].text.split()[4:]
    match words:
        case [rate, burst, *rest] if is_number(rate) and is_number(burst):
            action: Action | None = None
            match rest:
                case [] | ["exceed-action", "drop"]:
                    action = DROP
                case ["exceed-action", "dscp", value] if (dscp := _dscp(value)) is not None:
                    action = Action(set_dscp=dscp)
                case ["exceed-action", "policed-dscp-transmit"] if len(policed) == 1:
                    action = Action(set_dscp=next(iter(policed)))
            return None if action is None else Policer(rate=int(rate), burst=int(burst), exceed=action)
    return None
