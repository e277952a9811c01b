"""Twin support: refuses by name the features of a plan that the twin does not model."""

from __future__ import annotations

from collections.abc import Iterator

from qosforge.errors import Place, TesterError
from qosforge.inventory.models import Framing, Link
from qosforge.plan.model import Discipline, Egress, InterfacePlan, Plan, Queue

_UNCOMPRESSED = frozenset({Framing.ETHERNET, Framing.ATM})
"""Framings on which RTP headers travel whole."""
_NESTED = frozenset({Discipline.LLQ_CBWFQ})
"""Disciplines whose classes may be divided, or divide one, in the twin."""


def check_twin_support(plan: Plan, interface: InterfacePlan, link: Link | None) -> None:
    """Refuse an interface that does what the twin's packets do not carry or its queues do not do.

    Raises:
        TesterError: names the first such thing and how to go on.
    """
    for what, hint in (*_line(interface, link), *_rules(interface), *_queues(interface)):
        raise TesterError(
            f"the twin does not model {what}",
            Place(device=plan.device, interface=interface.name),
            f"{hint}, or measure with another tester",
        )


def _line(interface: InterfacePlan, link: Link | None) -> Iterator[tuple[str, str]]:
    efficiency = interface.efficiency
    if link is not None and efficiency.header_compression and link.framing in _UNCOMPRESSED:
        yield f"RTP header compression on {link.framing.value} framing", "remove it from the interface"


def _rules(interface: InterfacePlan) -> Iterator[tuple[str, str]]:
    rules = [*interface.ingress.rules, *(rule for egress in _policies(interface.egress) for rule in egress.rules)]
    sides = (interface.ingress, interface.egress)
    terms = [(f"class {rule.name}", t) for rule in rules for t in (*rule.any_of, *rule.none_of)]
    terms += [("rate-limit", t) for side in sides for listed in side.policers for t in listed.any_of]
    for where, term in terms:
        if term.source_mac or term.destination_mac:
            yield f"a match by MAC address ({where})", "match addresses, ports or marks"
        if term.mpls_experimental:
            yield f"a match by MPLS experimental bits ({where})", "match marks of IP"


def _queues(interface: InterfacePlan) -> Iterator[tuple[str, str]]:
    for egress in _policies(interface.egress):
        if (scheduler := egress.scheduler) is None:
            continue
        for queue in scheduler.queues:
            name = queue.name or str(queue.number)
            if queue.level is not None and not queue.priority:
                yield f"an order of service beside the shares ({name})", "leave the level out"
            if queue.shape_rate and scheduler.discipline is Discipline.FLOW_WFQ:
                yield f"a shaped class of flow-based fair queueing ({name})", "take the shape away"
            if queue.child is None:
                continue
            if (inside := queue.child.scheduler) is not None:
                for each in {scheduler.discipline, inside.discipline} - _NESTED:
                    yield f"{each.value} around or inside classes of their own ({name})", "divide it by weights"
            if scheduler.decoupled and queue.shape_rate and queue.shape_rate > _own(queue):
                yield f"a limit above the share of classes of their own ({name})", "bound it to its share"
            policed = [rule for rule in egress.rules if rule.queue == queue.number and rule.police]
            if policed or queue.police:
                yield f"a policer around classes of their own ({name})", "police the classes inside"


def _own(queue: Queue) -> int:
    """What a queue of a tree has for sure (b/s)."""
    return queue.share.value * 1000 if queue.share else 0


def _policies(egress: Egress) -> Iterator[Egress]:
    """A policy and those inside it."""
    yield egress
    for queue in egress.scheduler.queues if egress.scheduler else ():
        if queue.child is not None:
            yield from _policies(queue.child)
