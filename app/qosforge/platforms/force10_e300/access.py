"""Access lists of FTOS, of IP and of MAC addresses, as terms of a class."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from typing import Any

from qosforge.plan.model import Term
from qosforge.platforms.flow_ports import read_ports

_PROTOCOLS = {"ip": None, "icmp": 1, "tcp": 6, "udp": 17}

NO_ORDER = 254
"""``order`` of an entry that has none: the device looks at lower ones first."""


def read_term(values: Mapping[str, Any]) -> Term | None:
    """The term of one permitting entry of a list, by what its line says (`lines.IP_ENTRY`, `lines.STANDARD_ENTRY`,
    `lines.MAC_ENTRY`); None where terms do not have that, such as a wildcard with gaps."""
    if "rest" in values:
        return None
    try:
        return _term(values)
    except ValueError:
        return None


def _term(values: Mapping[str, Any]) -> Term:
    """The term of an entry.

    Raises:
        ValueError: its addresses are no prefixes, or no port is among its ports.
    """
    if "standard" in values:
        return Term(source=_prefix(values, "source"))
    if "protocol" not in values:
        return Term(source_mac=values.get("source"), destination_mac=values.get("destination"))
    protocol = values["protocol"]
    return Term(
        protocol=_PROTOCOLS[protocol] if protocol in _PROTOCOLS else int(protocol),
        source=_prefix(values, "source"),
        destination=_prefix(values, "destination"),
        source_ports=read_ports(values, "source"),
        destination_ports=read_ports(values, "destination"),
        dscp=(values["dscp"],) if "dscp" in values else (),
    )


def _prefix(values: Mapping[str, Any], end: str) -> str | None:
    if end not in values:
        return None
    wildcard = values.get(f"{end}_wildcard")
    text = values[end] if wildcard is None else f"{values[end]}/{wildcard.lstrip('/')}"
    return str(ipaddress.IPv4Network(text, strict=False))
