"""Express trust and mark-to-queue maps as rules, as OpenConfig has classifiers only."""

from __future__ import annotations

from qosforge.openconfig.unmapped_fields import UnmappedFields
from qosforge.plan.model import Ingress, Rule, Scheduler, System, Term, Trust

DSCPS = range(64)


def note_maps(system: System, unmapped: UnmappedFields) -> None:
    """Tell that the device's maps are no part of the document."""
    if any((system.cos_to_dscp, system.dscp_to_cos, system.cos_to_queue, system.dscp_to_queue)):
        unmapped.note(
            "openconfig-map-as-rules",
        )


def carried_input(system: System, ingress: Ingress, unmapped: UnmappedFields, interface: str) -> Ingress:
    """An input whose trust is a rule where it can be one; rules without marks get those that a port gives."""
    unmapped.others(ingress, ("policy", "trust", "port_cos", "rules"), "the input", interface)
    rules = ingress.rules
    match ingress.trust:
        case Trust.NONE:
            rules = _untrusted(system, ingress)
            _as_rules(unmapped, interface, "untrusted")
        case Trust.DSCP:
            if system.queue_on_input and system.dscp_to_queue:
                rules = (*rules, *_by_dscp(system.dscp_to_queue, None))
            _as_rules(unmapped, interface, "dscp")
        case Trust.COS:
            unmapped.note(
                "openconfig-trust-not-carried",
                interface=interface,
                direction="input",
            )
        case Trust.KEEP:
            pass
    if ingress.port_cos and ingress.trust is not Trust.NONE:
        unmapped.note(
            "openconfig-trust-not-carried",
            interface=interface,
            direction="input",
            variant="port-cos",
            cos=ingress.port_cos,
        )
    return ingress.model_copy(update={"rules": rules})


def _untrusted(system: System, ingress: Ingress) -> tuple[Rule, ...]:
    cos = ingress.port_cos
    dscp = system.untrusted_dscp(cos)
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


def _as_rules(unmapped: UnmappedFields, interface: str, variant: str) -> None:
    unmapped.note("openconfig-trust-as-rules", interface=interface, direction="input", variant=variant)


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
            unmapped.note(
                "openconfig-map-not-carried",
                interface=interface,
                direction="output",
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
