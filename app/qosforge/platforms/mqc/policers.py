"""Read the policers of policy classes."""

from __future__ import annotations

import re

from qosforge.configtree import ConfigLine
from qosforge.dscp import parse_dscp
from qosforge.plan.model import DROP, TRANSMIT, Action, Policer

_NUMBERS = re.compile(
    r"police (?:cir (?P<cir>[0-9]{1,12})(?: bc (?P<bc>[0-9]{1,12}))?(?: pir (?P<pir>[0-9]{1,12}))?"
    r"(?: be (?P<be>[0-9]{1,12}))?"
    r"|(?P<rate>[0-9]{1,12}) (?P<burst>[0-9]{1,12})(?: (?P<excess>[0-9]{1,12}))?)(?P<rest> .*)?"
)
_ACTION = re.compile(r"(conform|exceed|violate)-action (transmit|drop|set-(?:dscp|prec|cos)-transmit \S+)(?: |$)")
_PRECEDENCES = ("routine", "priority", "immediate", "flash", "flash-override", "critical", "internet", "network")


def read_policer(line: ConfigLine) -> Policer | None:
    """The policer of a ``police`` line with its actions; None where plans hold no such policer.

    An excess burst of the size of the burst is what the device prints for a single bucket where nothing violates.
    """
    numbers = _NUMBERS.fullmatch(line.text)
    if numbers is None:
        return None
    actions: dict[str, Action] = {}
    for text in ((numbers["rest"] or "").strip(), *(child.text for child in line.children)):
        rest = text
        while rest:
            found = _ACTION.match(rest)
            action = _read_action(found[2]) if found else None
            # Several actions for one outcome: a plan has one mark for each.
            if found is None or action is None or found[1] in actions:
                return None
            actions[found[1]] = action
            rest = rest[found.end() :].strip()
    conform, exceed = actions.get("conform", TRANSMIT), actions.get("exceed", DROP)
    violate = actions.get("violate", exceed)
    rate, burst, peak = (
        int(value) if value is not None else None
        for value in (numbers["cir"] or numbers["rate"], numbers["bc"] or numbers["burst"], numbers["pir"])
    )
    stated = numbers["be"] or numbers["excess"]
    excess = int(stated) if stated is not None else None
    if numbers["excess"] and excess == burst and "violate" not in actions:
        excess = None
    if rate is None or burst is None or (excess is None and (peak is not None or violate != exceed)):
        return None  # the device's own bursts are not known
    return Policer(
        rate=rate,
        burst=burst,
        peak_rate=peak,
        excess_burst=excess,
        conform=conform,
        exceed=exceed,
        violate=violate if violate != exceed else None,
    )


def _read_action(text: str) -> Action | None:
    match text.split():
        case ["transmit"]:
            return TRANSMIT
        case ["drop"]:
            return DROP
        case ["set-dscp-transmit", value]:
            try:
                return Action(set_dscp=parse_dscp(value))
            except ValueError:
                return None
        case ["set-prec-transmit", value]:
            precedence = read_precedence(value)
            return None if precedence is None else Action(set_precedence=precedence)
        case ["set-cos-transmit", value] if re.fullmatch(r"[0-7]", value):
            return Action(set_cos=int(value))
    return None


def read_precedence(word: str) -> int | None:
    """A precedence by its number or its name (RFC 791); None where it is neither."""
    if word in _PRECEDENCES:
        return _PRECEDENCES.index(word)
    return int(word) if re.fullmatch(r"[0-7]", word) else None
