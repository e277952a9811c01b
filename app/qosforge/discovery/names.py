"""Names of ports and devices as different devices write them."""

from __future__ import annotations

import re
from collections.abc import Iterable

_PORT = re.compile(r"([A-Za-z-]*)\s*(\d[\d/.:]*)")
_UNIT = re.compile(r"1/(\d+)")


def port_named(text: str, ports: Iterable[str]) -> str | None:
    """The port that a text means: ``Gi1/0/1``, ``Gi 0/15`` and, of a Nortel switch, ``1/48`` for ``48``.

    None where no port, or more than one, has such a name.
    """
    known = list(ports)
    if text in known:
        return text
    unit = _UNIT.fullmatch(text.replace(" ", ""))
    if unit is not None and unit[1] in known:
        return unit[1]
    wanted = _PORT.fullmatch(text.strip())
    if wanted is None:
        return None
    found = [
        name
        for name in known
        if (has := _PORT.fullmatch(name)) is not None
        and has[2] == wanted[2]
        and bool(wanted[1]) == bool(has[1])
        and has[1].lower().startswith(wanted[1].lower())
    ]
    return found[0] if len(found) == 1 else None


def label(name: str) -> str:
    """A device's name without its domain, in lower case: names of devices are compared so."""
    return name.partition(".")[0].lower()


_MOST = 4096
"""No list of ports or VLANs has a number above it: a device that says so is not believed."""


def numbers(text: str) -> tuple[int, ...]:
    """``1-2,48`` and ``1/1-1/3`` as numbers; what is no number of a port or VLAN is left out."""
    found: list[int] = []
    for part in text.replace(" ", "").split(","):
        low, _, high = (re.sub(r"^\d+/", "", end) for end in part.partition("-"))
        ends = [int(end) for end in (low, high or low) if re.fullmatch(r"[0-9]{1,4}", end)]
        if len(ends) == 2 and ends[1] <= _MOST:
            found += range(ends[0], ends[1] + 1)
    return tuple(dict.fromkeys(found))


_FORWARDING = frozenset({"router", "switch", "bridge", "b", "r"})
_ENDING = frozenset({"phone", "telephone", "host", "t", "w"})


def is_station(capabilities: str) -> bool:
    """Whether what a neighbour says of itself is an end of the network: a phone, a host, an access point.

    CDP says ``Router Switch IGMP`` or ``Host Phone``, LLDP of IOS ``B,R`` or ``B,T`` (IEEE 802.1AB, table 8-4),
    FTOS ``Bridge Router``. Who says nothing is none.
    """
    words = set(re.split(r"[ ,]+", capabilities.strip().lower())) - {""}
    return bool(words) and ("router" not in words) and (bool(words & _ENDING) or not words & _FORWARDING)


def inventory_name(hostname: str) -> str:
    """The name that an inventory gives a device of this host name."""
    return re.sub(r"[^a-z0-9_-]", "-", label(hostname)).lstrip("-_")[:60] or "device"
