"""Protocol numbers and the model's names for some of them (``openconfig-packet-match-types``)."""

from __future__ import annotations

PROTOCOLS = {
    1: "IP_ICMP", 2: "IP_IGMP", 4: "IP_IN_IP", 6: "IP_TCP", 17: "IP_UDP", 46: "IP_RSVP", 47: "IP_GRE",
    51: "IP_AUTH", 103: "IP_PIM", 115: "IP_L2TP",
}  # fmt: skip
"""Numbers by IANA, names by the identities derived from ``IP_PROTOCOL``."""
_MODULE = "openconfig-packet-match-types"
_NUMBERS = {name: number for number, name in PROTOCOLS.items()}


def protocol_leaf(number: int) -> str | int:
    """The leaf's value: the identity where there is one, else the number."""
    return f"{_MODULE}:{PROTOCOLS[number]}" if number in PROTOCOLS else number


def protocol_number(identity: str) -> int | None:
    """The number of an identity; None where there is no such identity."""
    return _NUMBERS.get(identity.removeprefix(f"{_MODULE}:"))
