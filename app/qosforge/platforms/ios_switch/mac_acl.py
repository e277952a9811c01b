"""Entries of extended MAC access lists, to and from the plan's terms."""

from __future__ import annotations

import re

from qosforge.plan.model import Term

_MAC = re.compile(r"(?:[0-9a-f]{4}\.){2}[0-9a-f]{4}")


def mac_entries(terms: tuple[Term, ...]) -> tuple[str, ...]:
    """The entry of every term, as a running configuration prints it."""
    return tuple(f"permit {_host(term.source_mac)} {_host(term.destination_mac)}" for term in terms)


def _host(address: str | None) -> str:
    return "any" if address is None else f"host {address}"


def read_mac_entry(text: str) -> Term:
    """The term of one permitting entry.

    Raises:
        ValueError: it denies, or has a part that terms do not hold (wildcards, protocol types).
    """
    words = text.split()
    if not words or words.pop(0) != "permit":
        raise ValueError(f"not a permitting entry: {text}")
    ends: list[str | None] = []
    for _ in range(2):
        match words:
            case ["any", *rest]:
                ends.append(None)
            case ["host", address, *rest] if _MAC.fullmatch(address.lower()):
                ends.append(address.lower())
            case _:
                raise ValueError(f"not understood: {text}")
        words = rest
    if words:
        raise ValueError(f"not understood: {' '.join(words)}")
    return Term(source_mac=ends[0], destination_mac=ends[1])
