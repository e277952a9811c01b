"""What of a plan the twin does not model: refused by name, never left out of a measurement in silence."""

from __future__ import annotations

from collections.abc import Iterator

from app.errors import Place, TesterError
from app.inventory.models import Framing, Link
from app.plan.model import Action, InterfacePlan, Plan, Policer, Queue, Rule, Term

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
    if interface.ingress.policers or interface.egress.policers:
        yield "policers before a policy (rate-limit)", "police in the classes of a policy"
    if link is not None and interface.egress.shape_rate is not None:
        yield f"a port shaped to {interface.egress.shape_rate} b/s", "remove the port's shaper"
    scheduler = interface.egress.scheduler
    if link is not None and scheduler is not None and scheduler.limit_percent is not None:
        yield f"a port held to {scheduler.limit_percent} % of its rate", "remove the port's bandwidth limit"


def _rules(interface: InterfacePlan) -> Iterator[tuple[str, str]]:
    for rule in (*interface.ingress.rules, *interface.egress.rules):
        for term in (*rule.any_of, *rule.none_of):
            if _unseen(term):
                what = f"a match by MAC address or input interface (class {rule.name})"
                yield what, "match addresses, ports or marks"
        if rule.set_precedence is not None:
            yield f"marking a precedence alone (class {rule.name})", "mark a dscp"
        if rule.police is not None and not _one_bucket(rule.police):
            yield (
                f"a policer with two buckets or other actions (class {rule.name})",
                "use one rate that drops or remarks",
            )
        if _drop_precedence_matters(rule, interface):
            yield f"queues that drop by drop precedence (class {rule.name})", "mark a dscp of the AF classes"


def _unseen(term: Term) -> bool:
    return bool(term.source_mac or term.destination_mac or term.input_interface)


def _one_bucket(police: Policer) -> bool:
    exceed = police.exceed
    return (
        police.excess_burst is None
        and police.conform == Action()
        and (exceed.drop or exceed == Action(set_dscp=exceed.set_dscp, set_cos=exceed.set_cos))
        and exceed != Action()
    )


def _drop_precedence_matters(rule: Rule, interface: InterfacePlan) -> bool:
    queues = interface.egress.scheduler.queues if interface.egress.scheduler else ()
    coloured = any(p.colour for q in queues if q.red for p in q.red.profiles)
    return coloured and rule.set_drop_precedence is not None


def _queues(interface: InterfacePlan) -> Iterator[tuple[str, str]]:
    for queue in interface.egress.scheduler.queues if interface.egress.scheduler else ():
        name = queue.name or str(queue.number)
        if queue.shape_rate:
            yield f"a class that is shaped to a rate ({name})", "take the shape away"
        if queue.police is not None:
            yield f"a queue that is metered ({name})", "police the class on input"
        if queue.child is not None:
            yield f"a class that is divided among classes of its own ({name})", "give its classes at the top level"
        if queue.limit_ms is not None:
            yield f"a queue limit in time ({name})", "give the limit in packets"
        if queue.level is not None and not queue.priority:
            yield f"an order of service beside the shares ({name})", "leave the level out"
        yield from _detection(queue, name)


def _detection(queue: Queue, name: str) -> Iterator[tuple[str, str]]:
    if queue.red is None:
        return
    if queue.red.ecn:
        yield f"explicit congestion notification ({name})", "leave ecn out"
    if queue.red.unit in ("ms", "percent"):
        what = "time" if queue.red.unit == "ms" else "per cent of the queue"
        yield f"drop thresholds in {what} ({name})", "give them in packets or bytes"
    if queue.thresholds:
        yield f"weighted tail drop beside early detection ({name})", "use one of them"
