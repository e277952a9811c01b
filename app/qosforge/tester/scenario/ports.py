"""Ports of the twin's scenario, from the interfaces of a plan."""

from __future__ import annotations

from msgspec.structs import replace

from qosforge.inventory.models import Framing, Link
from qosforge.plan.model import Discipline, Efficiency, Ingress, InterfacePlan, Plan, Queue, System, Trust
from qosforge.platforms.profile import DeviceProfile
from qosforge.tester.scenario.queue_selection import queue_rules
from qosforge.tester.scenario.queues import twin_queue
from qosforge.tester.scenario.rules import input_marks, interface_policers, over, twin_match, twin_policer
from qosforge.tester.scenario.schedulers import (
    PortService,
    conversations,
    drain_rates,
    leaf_queues,
    port_service,
    twin_scheduler,
)
from qosforge.tester.scenario.twin_support import check_twin_support
from qosforge.twin.filters import MarkSpec, MatchSpec
from qosforge.twin.scenario import (
    EgressSpec,
    FramingSpec,
    IngressOtherwise,
    IngressRule,
    IngressSpec,
    PortSpec,
)
from qosforge.twin.schedulers import FIFO

DSCPS = range(64)
COSES = range(8)
_FRAMINGS: dict[Framing, FramingSpec] = {
    Framing.ETHERNET: "ethernet",
    Framing.HDLC: "hdlc",
    Framing.PPP: "ppp",
    Framing.MLPPP: "mlppp",
    Framing.FRAME_RELAY: "frame_relay",
    Framing.ATM: "atm",
}


def twin_port(
    plan: Plan,
    interface: InterfacePlan,
    link: Link | None,
    rate: int,
    profile: DeviceProfile,
    *,
    far: Efficiency | None = None,
) -> PortSpec:
    """One interface as a twin port; ``rate`` is the line's, ``far`` the link efficiency of its other end.

    Raises:
        TesterError: the interface does what the twin does not model.
    """
    efficiency = interface.efficiency
    check_twin_support(plan, interface, link)
    egress = replace(
        _egress(plan, interface, port_service(plan, interface, rate, link.rate if link else rate)),
        tx_fifo_packets=interface.egress.transmit_ring or profile.transmit_fifo,
        # Both ends have to hold the context; where one is not configured they agree on none.
        header_compression=efficiency.header_compression and far is not None and far.header_compression,
    )
    if link is not None:
        egress = _fragmented(egress, efficiency, link.framing, profile)
    tagged = link is not None and link.tagged
    return PortSpec(name=interface.name, ingress=_ingress(plan.system, interface.ingress, tagged), egress=egress)


def framing_name(framing: Framing) -> FramingSpec:
    """The twin's name of a link's framing."""
    return _FRAMINGS[framing]


def _fragmented(egress: EgressSpec, efficiency: Efficiency, framing: Framing, profile: DeviceProfile) -> EgressSpec:
    """How packets are cut: by the link where its framing has fragments, by IP on any."""
    if efficiency.multilink:
        size = efficiency.fragment_bytes
        return replace(
            egress,
            ip_mtu=efficiency.ip_mtu,
            # The twin's fragments are counted without headers, the device's with them.
            fragment_bytes=None if size is None else max(1, size - profile.fragment_header),
            interleave=efficiency.interleave,
            multiclass=efficiency.interleave and efficiency.multiclass,
        )
    if framing is Framing.FRAME_RELAY and efficiency.frame_relay_fragment is not None:
        return replace(
            egress,
            ip_mtu=efficiency.ip_mtu,
            fragment_bytes=efficiency.frame_relay_fragment,
            interleave=True,  # FRF.12 is there for nothing else
        )
    return replace(egress, ip_mtu=efficiency.ip_mtu)


def _ingress(system: System, ingress: Ingress, tagged: bool) -> IngressSpec:
    """Rules of the policy first, then what trust makes of everything else.

    A port that trusts no mark clears what a rule does not set too, unless the device leaves the DSCP of such
    packets; one that trusts a phone has one.
    """
    by_cos = ingress.trust in (Trust.COS, Trust.PHONE)
    otherwise = cleared = MarkSpec()
    if ingress.trust is Trust.NONE:
        otherwise = cleared = MarkSpec(dscp=system.untrusted_dscp(ingress.port_cos), cos=ingress.port_cos)
    rules = [
        IngressRule(
            match=twin_match(rule),
            set=over(cleared, input_marks(system, rule)),
            police=None if rule.police is None else twin_policer(rule.police),
        )
        for rule in ingress.rules
        if rule.any_of
    ]
    if by_cos and not tagged:
        cos = ingress.port_cos  # what has no tag has the port's own CoS
        otherwise = replace(_trusted_cos(system, cos), cos=cos)
    elif by_cos:
        rules += [IngressRule(match=MatchSpec(cos=(cos,)), set=_trusted_cos(system, cos)) for cos in COSES]
    elif ingress.trust is Trust.DSCP:
        rules += [IngressRule(match=MatchSpec(dscp=(dscp,)), set=_trusted_dscp(system, dscp)) for dscp in DSCPS]
    return IngressSpec(
        police=interface_policers(ingress.policers),
        rules=tuple(rules),
        otherwise=IngressOtherwise(dscp=otherwise.dscp, cos=otherwise.cos, group=otherwise.group),
    )


def _trusted_cos(system: System, cos: int) -> MarkSpec:
    """Marks of a packet whose CoS is trusted: its DSCP follows, and the queue where it is chosen on input."""
    return MarkSpec(
        dscp=system.cos_to_dscp[cos] if system.cos_to_dscp else None,
        group=system.cos_to_queue[cos] if system.queue_on_input and system.cos_to_queue else None,
    )


def _trusted_dscp(system: System, dscp: int) -> MarkSpec:
    """Marks of a packet whose DSCP is trusted: its CoS follows, and the queue where it is chosen on input."""
    return MarkSpec(
        cos=system.dscp_to_cos[dscp] if system.dscp_to_cos else None,
        group=system.dscp_to_queue[dscp] if system.queue_on_input and system.dscp_to_queue else None,
    )


def _egress(plan: Plan, interface: InterfacePlan, service: PortService) -> EgressSpec:
    listed = interface_policers(interface.egress.policers)
    scheduler = service.scheduler
    if scheduler is None:
        only = twin_queue(Queue(number=0), "q0")
        return EgressSpec(police=listed, shape=service.shape, queues=(only,), scheduler=FIFO)
    discipline = twin_scheduler(scheduler, service.assumed_rate)
    if scheduler.discipline is Discipline.FLOW_WFQ:
        return EgressSpec(police=listed, shape=service.shape, scheduler=discipline)
    rules, otherwise = queue_rules(plan, service.egress, scheduler)
    served = leaf_queues(scheduler)
    drains = drain_rates(scheduler, service.assumed_rate)
    fair = conversations(service.assumed_rate)
    return EgressSpec(
        police=listed,
        shape=service.shape,
        rules=tuple(rules),
        otherwise=otherwise,
        queues=tuple(
            twin_queue(queue, _queue_name(served, position), drain, fair)
            for position, (queue, drain) in enumerate(zip(served, drains, strict=True))
        ),
        scheduler=discipline,
    )


def _queue_name(queues: list[Queue], position: int) -> str:
    """The queue's name, with its number where several queues share one, and its place where those do too."""
    queue = queues[position]
    same = [other for other in queues if other.name == queue.name]
    if queue.name and len(same) == 1:
        return queue.name
    known = f"{queue.name or 'q'}{queue.number}"
    return known if sum(other.number == queue.number for other in same) == 1 else f"{known}-{position}"
