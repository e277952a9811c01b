"""Ports of the twin's scenario, from the interfaces of a plan."""

from __future__ import annotations

from typing import Any

from qosforge.inventory.models import Framing, Link
from qosforge.plan.model import Discipline, Efficiency, Ingress, InterfacePlan, Plan, Queue, Rule, System, Trust
from qosforge.platforms.profile import DeviceProfile
from qosforge.tester.scenario.queue_selection import queue_rules
from qosforge.tester.scenario.queues import twin_queue
from qosforge.tester.scenario.rules import input_marks, interface_policers, twin_match, twin_policer
from qosforge.tester.scenario.schedulers import (
    FIFO,
    PortService,
    conversations,
    drain_rates,
    leaf_queues,
    port_service,
    twin_scheduler,
)
from qosforge.tester.scenario.twin_support import check_twin_support

Json = dict[str, Any]

DSCPS = range(64)
COSES = range(8)


def twin_port(
    plan: Plan,
    interface: InterfacePlan,
    link: Link | None,
    rate: int,
    profile: DeviceProfile,
    *,
    far: Efficiency | None = None,
) -> Json:
    """One interface as a twin port; ``rate`` is the line's, ``far`` the link efficiency of its other end.

    Raises:
        TesterError: the interface does what the twin does not model.
    """
    efficiency = interface.efficiency
    check_twin_support(plan, interface, link)
    egress = _egress(plan, interface, port_service(plan, interface, rate, link.rate if link else rate))
    egress["tx_fifo_packets"] = interface.egress.transmit_ring or profile.transmit_fifo
    if link is not None:
        egress |= _fragments(efficiency, link.framing, profile)
    # Both ends have to hold the context; where one is not configured they agree on none.
    egress["header_compression"] = efficiency.header_compression and far is not None and far.header_compression
    tagged = link is not None and link.tagged
    return {"name": interface.name, "ingress": _ingress(plan.system, interface.ingress, tagged), "egress": egress}


def framing_name(framing: Framing) -> str:
    """The twin's name of a link's framing."""
    return framing.value.replace("-", "_")


def _fragments(efficiency: Efficiency, framing: Framing, profile: DeviceProfile) -> Json:
    """How packets are cut: by the link where its framing has fragments, by IP on any."""
    fragments: Json = {"ip_mtu": efficiency.ip_mtu}
    if efficiency.multilink:
        size = efficiency.fragment_bytes
        # The twin's fragments are counted without headers, the device's with them.
        fragments["fragment_bytes"] = None if size is None else max(1, size - profile.fragment_header)
        fragments["interleave"] = efficiency.interleave
        fragments["multiclass"] = efficiency.interleave and efficiency.multiclass
    elif framing is Framing.FRAME_RELAY and efficiency.frame_relay_fragment is not None:
        fragments["fragment_bytes"] = efficiency.frame_relay_fragment
        fragments["interleave"] = True  # FRF.12 is there for nothing else
    return fragments


def _ingress(system: System, ingress: Ingress, tagged: bool) -> Json:
    """Rules of the policy first, then what trust makes of everything else.

    A port that trusts no mark clears what a rule does not set too; one that trusts a phone has one.
    """
    by_cos = ingress.trust in (Trust.COS, Trust.PHONE)
    otherwise: Json = {"dscp": None, "cos": None}
    cleared: Json = {}
    if ingress.trust is Trust.NONE:
        cos = ingress.port_cos
        otherwise = {"dscp": system.cos_to_dscp[cos] if system.cos_to_dscp and cos else 0, "cos": cos}
        cleared = otherwise
    rules = [
        {"match": twin_match(rule), "set": cleared | input_marks(system, rule)} | _police(rule)
        for rule in ingress.rules
        if rule.any_of
    ]
    if by_cos and not tagged:
        cos = ingress.port_cos  # what has no tag has the port's own CoS
        otherwise = {"cos": cos} | _trusted(system, "cos", cos)
    elif by_cos:
        rules += [{"match": {"cos": [cos]}, "set": _trusted(system, "cos", cos)} for cos in COSES]
    elif ingress.trust is Trust.DSCP:
        rules += [{"match": {"dscp": [dscp]}, "set": _trusted(system, "dscp", dscp)} for dscp in DSCPS]
    return {"police": interface_policers(ingress.policers), "rules": rules, "otherwise": otherwise}


def _trusted(system: System, field: str, value: int) -> Json:
    """Marks of a packet whose ``field`` is trusted: the other one is derived, and the queue where it is chosen
    on input.
    """
    other, derived, queue = (
        ("dscp", system.cos_to_dscp, system.cos_to_queue)
        if field == "cos"
        else ("cos", system.dscp_to_cos, system.dscp_to_queue)
    )
    marks: Json = {other: derived[value]} if derived else {}
    if system.queue_on_input and queue:
        marks["group"] = queue[value]
    return marks


def _police(rule: Rule) -> Json:
    return {} if rule.police is None else {"police": twin_policer(rule.police)}


def _egress(plan: Plan, interface: InterfacePlan, service: PortService) -> Json:
    listed = interface_policers(interface.egress.policers)
    common: Json = {"police": listed} if service.shape is None else {"police": listed, "shape": service.shape}
    scheduler = service.scheduler
    if scheduler is None:
        only = twin_queue(Queue(number=0), "q0")
        return common | {"rules": [], "otherwise": {"queue": 0}, "queues": [only], "scheduler": FIFO}
    if scheduler.discipline is Discipline.FLOW_WFQ:
        discipline = twin_scheduler(scheduler, service.assumed_rate)
        return common | {"rules": [], "otherwise": {"queue": 0}, "queues": [], "scheduler": discipline}
    rules, otherwise = queue_rules(plan, service.egress, scheduler)
    served = leaf_queues(scheduler)
    drains = drain_rates(scheduler, service.assumed_rate)
    fair = conversations(service.assumed_rate)
    return common | {
        "rules": rules,
        "otherwise": otherwise,
        "queues": [
            twin_queue(queue, _queue_name(served, position), drain, fair)
            for position, (queue, drain) in enumerate(zip(served, drains, strict=True))
        ],
        "scheduler": twin_scheduler(scheduler, service.assumed_rate),
    }


def _queue_name(queues: list[Queue], position: int) -> str:
    """The queue's name, with its number where several queues share one, and its place where those do too."""
    queue = queues[position]
    same = [other for other in queues if other.name == queue.name]
    if queue.name and len(same) == 1:
        return queue.name
    known = f"{queue.name or 'q'}{queue.number}"
    return known if sum(other.number == queue.number for other in same) == 1 else f"{known}-{position}"
