"""The networks of an installation on a Batfish service: one for each question, deleted after it.

The name of a network says whose it is and when it expires. What a killed process left behind is deleted by whoever
asks next: soon by its own installation, later by any, for it may be gone for ever. No failure of a deletion is one
of the question: its answers are there already.
"""

from __future__ import annotations

import json
import logging
import re
import secrets
import time
from collections.abc import Iterator

from qosforge.batfish.http_exchange import Address, HTTPException, exchange

_log = logging.getLogger(__name__)
_NAME = re.compile(r"qosforge-(?P<installation>[0-9a-f]{8})-(?P<expiry>[0-9]{1,12})-[0-9a-f]{16}")
_CLOCKS_APART = 600
"""Seconds that the clocks of two machines of one installation may differ."""
_ABANDONED = 24 * 3600
"""Seconds after which a network has expired for other installations, whose clocks nobody keeps together."""
_PATH = "/v2/networks"


def new_name(installation: str, seconds: float) -> str:
    """A name for a network that nobody needs after ``seconds``."""
    return f"qosforge-{installation}-{int(time.time() + seconds)}-{secrets.token_hex(8)}"


def is_stale(name: str, installation: str) -> bool:
    """Whether a network, or a folder of this name, has expired, for ``installation`` to delete."""
    found = _NAME.fullmatch(name)
    if found is None:
        return False
    leeway = _CLOCKS_APART if found["installation"] == installation else _ABANDONED
    return int(found["expiry"]) + leeway < time.time()


def clean_up(address: Address, installation: str, name: str, seconds: float) -> None:
    """Delete a network, and those that have expired; no longer than ``seconds``."""
    deadline = time.monotonic() + seconds
    try:
        _delete(address, name, seconds)
        for stale in _stale(address, installation, deadline):
            _delete(address, stale, deadline - time.monotonic())
    except (OSError, HTTPException, ValueError) as error:
        _log.info("networks may be left at Batfish, until the next question: %s", error)


def _stale(address: Address, installation: str, deadline: float) -> Iterator[str]:
    status, body = exchange(address, "GET", _PATH, deadline - time.monotonic())
    networks = json.loads(body) if status == 200 else []
    for network in networks if isinstance(networks, list) else []:
        name = network.get("name") if isinstance(network, dict) else None
        if isinstance(name, str) and is_stale(name, installation):
            yield name


def _delete(address: Address, name: str, seconds: float) -> None:
    status, _ = exchange(address, "DELETE", f"{_PATH}/{name}", seconds)
    if status >= 300:
        _log.info("Batfish keeps the network %s: it answered %d to its deletion", name, status)
