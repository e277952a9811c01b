"""Lower a device request onto the 5510: filters on host ports, trust on trunks, the queue set it booted with."""

from __future__ import annotations

from collections.abc import Iterator

from app.findings import Finding, Severity
from app.plan.model import Ingress, InterfacePlan, Plan, Rule, System, Trust
from app.plan.request import DeviceRequest, InterfaceRequest
from app.platforms.base import Lowered
from app.platforms.names import short_names
from app.platforms.nortel_5510.capabilities import capabilities, check_port, queue_set_known, scheduler
from app.platforms.nortel_5510.filters import filter_findings, rules
from app.platforms.nortel_5510.marks import maps, mark_findings
from app.platforms.nortel_5510.queues import Choice, choose, queue_findings
from app.platforms.recognition import ports_only
from app.platforms.service import (
    fidelity,
    priority_findings,
    queue_names,
    rate_findings,
    served,
    share_findings,
)

HOST_GROUP = "qosforge-host"
TRUNK_GROUP = "qosforge-trunk"
_COUNT_SUFFIX = 3
"""Room for ``-15`` behind a class's name in the names of its filters."""


def lower(request: DeviceRequest, running: Plan | None) -> Lowered:
    """The plan of a 5510 for a request."""
    for wanted in request.interfaces:
        check_port(wanted.name, request.device)
    told = running.system.queue_set if running else None
    known = told is not None and queue_set_known(told)
    queue_set: int = told if known and told else capabilities()["assumed_queue_set"]["value"]
    rate = min(wanted.usable for wanted in request.interfaces)
    chosen = choose(request.classes, queue_set, rate)
    table = maps(request.classes, chosen)
    names = short_names((c.name for c in request.classes), capabilities()["name_limit"]["value"] - _COUNT_SUFFIX)
    host_rules = rules(request, names, table.cos_of)
    held = {i.name: i for i in running.interfaces} if running else {}
    scheduled = any(wanted.schedule for wanted in request.interfaces)
    trusted = any(wanted.trust for wanted in request.interfaces)
    system = System(
        queue_set=queue_set if scheduled else None,
        scheduler=scheduler(queue_set) if scheduled else None,
        cos_to_queue=table.cos_to_queue if scheduled else None,
        cos_to_dscp=table.cos_to_dscp if trusted or scheduled else None,
        dscp_to_cos=table.dscp_to_cos if trusted or scheduled else None,
    )
    shares = served(request, scheduler(queue_set), chosen.queue_of) if scheduled and chosen.fits else ()
    plan = Plan(
        device=request.device,
        platform=request.platform,
        system=system,
        interfaces=tuple(_interface(wanted, held.get(wanted.name), host_rules) for wanted in request.interfaces),
    )
    return Lowered(
        plan=plan,
        findings=(
            *(_output_findings(request, chosen, rate, known=known) if scheduled else ()),
            *_input_findings(request, host_rules),
            *mark_findings(request, chosen),
            *share_findings(request, shares),
        ),
        fidelity=fidelity(shares),
        classes={names[c.name]: c.name for c in request.classes} | queue_names(chosen.queue_of),
    )


def default_ingress() -> Ingress:
    """A port that is in no group of its own."""
    return Ingress(policy=capabilities()["default_group"]["value"], trust=Trust.NONE)


def _interface(wanted: InterfaceRequest, held: InterfacePlan | None, host_rules: tuple[Rule, ...]) -> InterfacePlan:
    ingress = held.ingress if held else default_ingress()
    if wanted.recognise:
        ingress = Ingress(policy=HOST_GROUP, trust=Trust.NONE, rules=host_rules)
    elif wanted.trust:
        ingress = Ingress(policy=TRUNK_GROUP, trust=Trust.DSCP)
    return InterfacePlan(name=wanted.name, ingress=ingress)


def _output_findings(request: DeviceRequest, chosen: Choice, rate: int, *, known: bool) -> Iterator[Finding]:
    yield from rate_findings(request)
    yield from priority_findings(request)
    yield from queue_findings(request, chosen, rate, known=known)
    for c in request.classes:
        if c.treatment.wred is not None:
            yield Finding(
                code="wred-unsupported",
                severity=Severity.WARNING if c.treatment.wred.prefer else Severity.ERROR,
                message="the box has no early detection: its queues drop at the tail",
                device=request.device,
                direction="output",
                traffic_class=c.name,
                line=c.line,
                asked="WRED",
                will_be="tail drop",
            )


def _input_findings(request: DeviceRequest, host_rules: tuple[Rule, ...]) -> Iterator[Finding]:
    if not any(wanted.recognise for wanted in request.interfaces):
        return
    for c in request.classes:
        if (note := ports_only(request, c)) is not None:
            yield note
    yield from filter_findings(request, host_rules)
