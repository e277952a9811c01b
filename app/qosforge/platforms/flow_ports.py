"""Ports in the lines of access lists."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from qosforge.plan.model import PortRange

_TOP_PORT = 65535


def read_ports(values: Mapping[str, Any], end: str) -> tuple[PortRange, ...]:
    """The ports of one end of a flow, by what the line of an access list says.

    Behind the end's name and an underscore stand ``port`` alone, ``first`` and ``last``, ``above`` or ``below``.

    Raises:
        ValueError: no port is among them.
    """
    found = _stated(values, end)
    if empty := [each for each in found if each.first > each.last]:
        raise ValueError(f"no port is from {empty[0].first} to {empty[0].last}")
    return found


def _stated(values: Mapping[str, Any], end: str) -> tuple[PortRange, ...]:
    match {key.removeprefix(f"{end}_"): value for key, value in values.items() if key.startswith(f"{end}_")}:
        case {"port": port}:
            return (PortRange(first=port, last=port),)
        case {"first": first, "last": last}:
            return (PortRange(first=first, last=last),)
        case {"above": port}:
            return (PortRange(first=port + 1, last=_TOP_PORT),)
        case {"below": port}:
            return (PortRange(first=0, last=port - 1),)
    return ()
