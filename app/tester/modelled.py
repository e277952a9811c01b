"""What of a plan the twin does not model: refused by name, never left out of a measurement in silence."""

from __future__ import annotations

from collections.abc import Iterator

from app.errors import Place, TesterError
from app.inventory.models import Framing, Link
from app.plan.model import InterfacePlan, Plan

_UNCOMPRESSED = frozenset({Framing.ETHERNET, Framing.ATM})
"""Framings on which RTP headers travel whole."""


def check_modelled(plan: Plan, interface: InterfacePlan, link: Link | None) -> None:
    """Refuse an interface that does what the twin's packets do not carry or its queues do not do.

    Raises:
        TesterError: names the first such thing and how to go on.
    """
    for what, mend in (*_line(interface, link), *_rules(interface), *_queues(interface)):
        raise TesterError(
            f"the twin does not model {what}",
            Place(device=plan.device, interface=interface.name),
            f"{mend}, or measure with another tester",
        )


def _line(interface: InterfacePlan, link: Link | None) -> Iterator[tuple[str, str]]:
    efficiency = interface.efficiency
    if link is not None and efficiency.header_compression and link.framing in _UNCOMPRESSED:
        yield f"RTP header compression on {link.framing.value} framing", "remove it from the interface"
    if link is not None and interface.egress.shape_rate is not None:
        yield f"a port shaped to {interface.egress.shape_rate} b/s", "remove the port's shaper"
    scheduler = interface.egress.scheduler
    if link is not None and scheduler is not None and scheduler.limit_percent is not None:
        yield f"a port held to {scheduler.limit_percent} % of its rate", "remove the port's bandwidth limit"


def _rules(interface: InterfacePlan) -> Iterator[tuple[str, str]]:
    sides = (interface.ingress, interface.egress)
    terms = [
        (f"class {rule.name}", t) for side in sides for rule in side.rules for t in (*rule.any_of, *rule.none_of)
    ]
    terms += [("rate-limit", t) for side in sides for listed in side.policers for t in listed.any_of]
    for where, term in terms:
        if term.source_mac or term.destination_mac:
            yield f"a match by MAC address ({where})", "match addresses, ports or marks"


def _queues(interface: InterfacePlan) -> Iterator[tuple[str, str]]:
    for queue in interface.egress.scheduler.queues if interface.egress.scheduler else ():
        name = queue.name or str(queue.number)
        if queue.shape_rate:
            yield f"a class that is shaped to a rate ({name})", "take the shape away"
        if queue.child is not None:
            yield f"a class that is divided among classes of its own ({name})", "give its classes at the top level"
        if queue.level is not None and not queue.priority:
            yield f"an order of service beside the shares ({name})", "leave the level out"
