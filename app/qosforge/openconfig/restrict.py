"""Restrict a plan to what OpenConfig can carry; export and import keep to this definition.

Kept are interfaces, rules with DSCPs, protocols, prefixes, ports and set marks, the queues they choose, strict
and weighted scheduling, caps of strict queues and one drop profile a queue. Maps and trust become rules, a
switch-wide scheduler one for each interface. Everything else is left out with a finding.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from qosforge.errors import InputError, Place
from qosforge.findings import Finding
from qosforge.intent.applications import Application
from qosforge.openconfig.marks import carried_input, note_maps, output_by_marks
from qosforge.openconfig.names import AssignedNames, queue_names
from qosforge.openconfig.scheduling import carried_scheduler
from qosforge.openconfig.terms import carried_terms
from qosforge.openconfig.unmapped_fields import UnmappedFields
from qosforge.plan.model import Egress, Ingress, InterfacePlan, Plan, Rule, Scheduler

LAST_QUEUE = 255
"""Highest ``queue-id`` (an unsigned byte)."""
# The model has classifiers of both versions of IP: what a device tells in one alone is written in both.
RULE_CARRIED = ("name", "any_of", "none_of", "ipv4", "set_dscp", "set_cos", "queue", "police")
_SYSTEM_USED = (
    "cos_to_dscp", "dscp_to_cos", "cos_to_queue", "dscp_to_queue", "scheduler", "queue_on_input", "ipv6",
    "encrypting",
    "ietf_circuits",
)  # fmt: skip


@dataclass(frozen=True)
class RestrictedPlan:
    """The part of a plan that a document can carry, and what is not in it."""

    plan: Plan
    findings: tuple[Finding, ...]


def restrict(plan: Plan, applications: Mapping[str, Application]) -> RestrictedPlan:
    """The part of a plan that OpenConfig can carry. Restricting twice changes nothing more.

    ``applications`` gives the ports of applications that the device recognises itself.

    Raises:
        InputError: a queue's number does not fit into the model.
    """
    unmapped = UnmappedFields(plan.device)
    unmapped.others(plan.system, _SYSTEM_USED, "the device")
    note_maps(plan.system, unmapped)
    if plan.unknown:
        unmapped.note(
            "openconfig-lines-not-carried",
            count=len(plan.unknown),
        )
    plain = [_interface(plan, entry, applications, unmapped) for entry in plan.interfaces]
    return RestrictedPlan(plan.model_copy(update=_named(plain)), unmapped.findings())


def _interface(
    plan: Plan, entry: InterfacePlan, applications: Mapping[str, Application], unmapped: UnmappedFields
) -> InterfacePlan:
    unmapped.others(
        entry, ("name", "bandwidth_kbps", "ingress", "egress", "efficiency"), "the interface", entry.name
    )
    if entry.efficiency != type(entry.efficiency)():
        unmapped.note(
            "openconfig-link-efficiency-not-carried",
            interface=entry.name,
            direction="output",
        )
    if entry.bandwidth_kbps is not None:
        unmapped.note(
            "openconfig-bandwidth-not-carried",
            interface=entry.name,
        )
    ingress = carried_input(plan.system, entry.ingress, unmapped, entry.name)
    rules = _rules(ingress.rules, applications, unmapped, entry.name, "input")
    egress = _egress(plan, entry, applications, unmapped)
    for direction, policy, held in (
        ("input", ingress.policy, bool(rules)),
        ("output", egress.policy, _has_output(egress)),
    ):
        if policy is not None and not held:
            unmapped.note(
                "openconfig-policy-not-carried",
                interface=entry.name,
                direction=direction,
                policy=policy,
            )
    return InterfacePlan(name=entry.name, ingress=Ingress(policy=ingress.policy, rules=rules), egress=egress)


def _has_output(egress: Egress) -> bool:
    """Whether there is anything at an output for its policy to name."""
    return bool(egress.rules) or egress.scheduler is not None or egress.default_queue is not None


def _egress(
    plan: Plan, entry: InterfacePlan, applications: Mapping[str, Application], unmapped: UnmappedFields
) -> Egress:
    egress = entry.egress
    unmapped.others(egress, ("policy", "rules", "default_queue", "scheduler"), "the output", entry.name)
    scheduler = egress.scheduler
    if scheduler is None and plan.system.scheduler is not None:
        scheduler = plan.system.scheduler
        unmapped.note(
            "openconfig-scheduler-per-interface",
            interface=entry.name,
            direction="output",
        )
    carried = None
    if scheduler is not None:
        carried = carried_scheduler(scheduler, entry.bandwidth_kbps, unmapped, entry.name)
    rules = egress.rules or output_by_marks(plan.system, scheduler, unmapped, entry.name)
    return Egress(
        policy=egress.policy,
        rules=_rules(rules, applications, unmapped, entry.name, "output"),
        default_queue=egress.default_queue,
        scheduler=carried,
    )


def _rules(
    rules: tuple[Rule, ...],
    applications: Mapping[str, Application],
    unmapped: UnmappedFields,
    interface: str,
    direction: str,
) -> tuple[Rule, ...]:
    """The rules that still match something, with their marks and queues."""
    found = []
    for rule in rules:
        unmapped.others(rule, RULE_CARRIED, f"class {rule.name}", interface)
        if rule.police is not None:
            unmapped.note(
                "openconfig-police-not-carried",
                interface=interface,
                direction=direction,
                traffic_class=rule.name,
                rate=rule.police.rate,
            )
        terms = carried_terms(rule, applications, unmapped, interface, direction)
        if rule.none_of or (rule.any_of and not terms):
            unmapped.note(
                "openconfig-class-not-carried",
                interface=interface,
                direction=direction,
                traffic_class=rule.name,
                variant="exceptions" if rule.none_of else "no-alternative",
            )
        elif terms:
            found.append(
                Rule(name=rule.name, any_of=terms, set_dscp=rule.set_dscp, set_cos=rule.set_cos, queue=rule.queue)
            )
    return tuple(found)


def _named(interfaces: list[InterfacePlan]) -> dict[str, object]:
    """The interfaces with names that keys can be: every policy and every queue its own; nothing else is left."""
    schedulers = [e.egress.scheduler for e in interfaces if e.egress.scheduler]
    pairs = [(q.number, q.name) for s in schedulers for q in s.queues]
    chosen = [r.queue for e in interfaces for r in (*e.ingress.rules, *e.egress.rules) if r.queue is not None]
    chosen += [e.egress.default_queue for e in interfaces if e.egress.default_queue is not None]
    for number in (*chosen, *(number for number, _ in pairs)):
        if not 0 <= number <= LAST_QUEUE:
            raise InputError(
                f"queue {number} has no place in OpenConfig",
                Place(path="/openconfig-qos:qos/queues"),
                f"the model numbers queues from 0 to {LAST_QUEUE}",
            )
    names = queue_names(pairs)
    assigned = AssignedNames()
    result = []
    for entry in interfaces:
        ingress, egress = entry.ingress, entry.egress
        if egress.scheduler is not None:
            egress = egress.model_copy(update={"scheduler": _rename_queues(egress.scheduler, names)})
        content = (egress.rules, egress.default_queue, egress.scheduler)
        outgoing = assigned.name(egress.policy or "output", content) if _has_output(egress) else None
        incoming = assigned.name(ingress.policy or "input", ingress.rules) if ingress.rules else None
        result.append(
            InterfacePlan(
                name=entry.name,
                ingress=ingress.model_copy(update={"policy": incoming}),
                egress=egress.model_copy(update={"policy": outgoing}),
            )
        )
    return {"interfaces": tuple(result), "system": Plan.model_fields["system"].default, "unknown": ()}


def _rename_queues(scheduler: Scheduler, names: Mapping[tuple[int, str | None], str | None]) -> Scheduler:
    queues = tuple(q.model_copy(update={"name": names[q.number, q.name]}) for q in scheduler.queues)
    return scheduler.model_copy(update={"queues": queues})
