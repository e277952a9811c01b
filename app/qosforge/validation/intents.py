"""Checks of the intent against good practice, with the rates of the network it is compiled for."""

from __future__ import annotations

from collections.abc import Iterator

from qosforge.errors import Place
from qosforge.findings import DEFAULT, Finding
from qosforge.intent.models import Intent, TrafficClass
from qosforge.inventory.models import Port
from qosforge.note import note
from qosforge.plan.request import ClassRequest
from qosforge.plan.requested import requested_shares
from qosforge.units import format_ratio
from qosforge.validation.context import ValidationContext

PRIORITY_LIMIT = 1 / 3
"""Largest share of a link for priority classes together that leaves the others predictable delays (vendors'
enterprise design guides: a third of the link for real-time traffic)."""
ROUTING_DSCPS = frozenset({48, 56})
"""CS6 network control and CS7 (RFC 4594 section 3.1)."""
ROUTING_COSES = frozenset({6, 7})
"""Internetwork and network control (IEEE 802.1Q, annex on traffic types)."""


def check_priority_share(context: ValidationContext) -> Iterator[Finding]:
    """``priority-above-third``, once, at the interface with the largest priority share."""
    requested: list[tuple[float, Port]] = [
        (_priority(device.request.classes, interface.usable), (device.name, interface.name))
        for device in context.compilation.devices
        for interface in device.request.interfaces
        if interface.schedule
    ]
    above = [entry for entry in requested if entry[0] > PRIORITY_LIMIT]
    if not above:
        return
    share, port = max(above, key=lambda entry: entry[0])
    yield note(
        "priority-above-third",
        Place(device=port[0], interface=port[1], direction="output"),
        requested=format_ratio(share),
        share=format_ratio(share),
        interfaces=len(above),
    )


def _priority(classes: tuple[ClassRequest, ...], rate: int) -> float:
    """Part of a rate that priority classes may take, those below other classes included; all without a cap."""
    shares = requested_shares(classes, rate)
    total = 0.0
    for entry in classes:
        priority, own = entry.treatment.priority, round(shares[entry.name] * rate)
        if priority is None:
            total += _priority(entry.children, own) * own / rate if entry.children and own else 0.0
        else:
            total += (priority.percent or 0) / 100 + (priority.rate or 0) / rate if priority.capped else 1.0
    return min(total, 1.0)


def check_routing(context: ValidationContext) -> Iterator[Finding]:
    """``routing-unprotected``, once: no class keeps routing and network control apart from ordinary traffic.

    Information where the class ``default``, which they fall into, has a guaranteed share; else a warning.
    """
    intent = context.compilation.intent.intent
    if any(_routing(entry) for entry in intent.classes) or not context.compilation.devices:
        return
    guaranteed = _default_guaranteed(intent)
    place = Place(file=context.compilation.intent.document.file)
    yield note("routing-unprotected", place, variant="guaranteed" if guaranteed else DEFAULT)


def _routing(entry: TrafficClass) -> bool:
    served = entry.treatment.priority is not None or entry.treatment.bandwidth is not None
    terms = entry.match.alternatives() if entry.match else ()
    return served and any(
        ROUTING_DSCPS & set(term.dscp) or ROUTING_COSES & {*term.cos, *term.precedence} for term in terms
    )


def _default_guaranteed(intent: Intent) -> bool:
    return any(entry.match is None and entry.treatment.bandwidth is not None for entry in intent.classes)
