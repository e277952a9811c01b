"""Express trust and mark-to-queue maps as rules, as OpenConfig has classifiers only."""

from __future__ import annotations

from qosforge.findings import Severity
from qosforge.openconfig.unmapped_fields import UnmappedFields
from qosforge.plan.model import Ingress, Rule, Scheduler, System, Term, Trust

DSCPS = range(64)


def note_maps(system: System, unmapped: UnmappedFields) -> None:
    """Tell that the device's maps are no part of the document."""
    if any((system.cos_to_dscp, system.dscp_to_cos, system.cos_to_queue, system.dscp_to_queue)):
        unmapped.add(
            "openconfig-map-as-rules",
            Severity.INFO,
            "the maps between marks and queues are not in the document: what they make of DSCPs stands as rules, "
            "the CoS that follows from a DSCP is left to the device",
        )


def carried_input(system: System, ingress: Ingress, unmapped: UnmappedFields, interface: str) -> Ingress:
    """An input whose trust is a rule where it can be one; rules without marks get those that a port gives."""
    unmapped.others(ingress, ("policy", "trust", "port_cos", "rules"), "the input", interface)
    rules = ingress.rules
    match ingress.trust:
        case Trust.NONE:
            rules = _untrusted(system, ingress)
            _as_rules(unmapped, interface, "an untrusted port gives packets the marks of the port")
        case Trust.DSCP:
            if system.queue_on_input and system.dscp_to_queue:
                rules = (*rules, *_by_dscp(system.dscp_to_queue, None))
            _as_rules(unmapped, interface, "a trusted DSCP is one that no rule sets")
        case Trust.COS:
            unmapped.add(
                "openconfig-trust-not-carried",
                Severity.WARNING,
                "trust in the CoS is left out: the model does not match it",
                interface=interface,
                direction="input",
                hint="trust the DSCP",
            )
        case Trust.KEEP:
            pass
    if ingress.port_cos and ingress.trust is not Trust.NONE:
        unmapped.add(
            "openconfig-trust-not-carried",
            Severity.WARNING,
            f"the port's own CoS {ingress.port_cos} is left out",
            interface=interface,
            direction="input",
            hint="remove the port's CoS",
        )
    return ingress.model_copy(update={"rules": rules})


def _untrusted(system: System, ingress: Ingress) -> tuple[Rule, ...]:
    cos = ingress.port_cos
    dscp = system.cos_to_dscp[cos] if system.cos_to_dscp and cos else 0
    marked = [
        r.model_copy(
            update={
                "set_dscp": dscp if r.set_dscp is None else r.set_dscp,
                "set_cos": cos if r.set_cos is None and r.set_dscp is None else r.set_cos,
            }
        )
        for r in ingress.rules
    ]
    return (*marked, Rule(name="untrusted", any_of=(Term(),), set_dscp=dscp, set_cos=cos))


def _as_rules(unmapped: UnmappedFields, interface: str, message: str) -> None:
    unmapped.add("openconfig-trust-as-rules", Severity.INFO, message, interface=interface, direction="input")


def output_by_marks(
    system: System, scheduler: Scheduler | None, unmapped: UnmappedFields, interface: str
) -> tuple[Rule, ...]:
    """Rules that choose the queues of an output as the device's maps do, by DSCP; none where queues are chosen on
    input or the device has no maps.
    """
    if scheduler is None or system.queue_on_input:
        return ()
    table = system.dscp_to_queue
    if table is None and system.cos_to_queue is not None and system.dscp_to_cos is not None:
        table = tuple(system.cos_to_queue[cos] for cos in system.dscp_to_cos)
    if table is None:
        if system.cos_to_queue is not None:
            unmapped.add(
                "openconfig-map-not-carried",
                Severity.WARNING,
                "the map from CoS to queue is left out: the model does not match the CoS",
                interface=interface,
                direction="output",
                hint="map DSCPs to queues",
            )
        return ()
    return _by_dscp(table, {q.number for q in scheduler.queues})


def _by_dscp(table: tuple[int, ...], known: set[int] | None) -> tuple[Rule, ...]:
    by_queue: dict[int, list[int]] = {}
    for dscp, queue in zip(DSCPS, table, strict=True):
        by_queue.setdefault(queue, []).append(dscp)
    return tuple(
        Rule(name=f"dscp-queue-{queue}", any_of=(Term(dscp=tuple(dscps)),), queue=queue)
        for queue, dscps in sorted(by_queue.items())
        if known is None or queue in known
    )
