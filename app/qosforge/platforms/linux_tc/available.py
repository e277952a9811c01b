"""The schedulers that are taken to be in a Linux router's kernel."""

from __future__ import annotations

import re
from collections.abc import Collection

from napalm_linux_tc.schedulers import SCHEDULERS

from qosforge.plan.model import Plan
from qosforge.platforms.linux_tc.bands import HTB

_QUEUE = re.compile(
    r"^\s*tc qdisc (?:add|replace) dev \S+ (?:root|parent \S+) handle \S+ (?P<kind>[a-z_]+)\b", re.MULTILINE
)


def available_schedulers(features: Collection[str], running: Plan | None) -> frozenset[str]:
    """What a kernel has: what the router tells goes before what its ``features`` in the inventory say.

    One that does not tell has what it has in use. HTB is taken to be there unless TBF is in its place above
    classes, where only a kernel without HTB has it.
    """
    if running is None:
        return frozenset((*features, HTB))
    if running.schedulers:
        return frozenset(running.schedulers)
    instead = any(interface.egress.shape_burst is not None for interface in running.interfaces)
    return frozenset((*features, *running.schedulers_in_use, *(() if instead else (HTB,))))


def in_use(text: str) -> tuple[str, ...]:
    """The schedulers of the queues in a router's configuration, whoever has entered them."""
    kinds = {found["kind"] for found in _QUEUE.finditer(text)}
    return tuple(name for name in SCHEDULERS if name in kinds)
