"""Entries of extended MAC access lists, from the plan's terms."""

from __future__ import annotations

from qosforge.plan.model import Term


def mac_entries(terms: tuple[Term, ...]) -> tuple[str, ...]:
    """The entry of every term, as a running configuration prints it."""
    return tuple(f"permit {_host(term.source_mac)} {_host(term.destination_mac)}" for term in terms)


def _host(address: str | None) -> str:
    return "any" if address is None else f"host {address}"
