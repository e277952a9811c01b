"""Classes of running configurations that no packet reaches."""

from __future__ import annotations

from collections.abc import Iterator

from qosforge.audit.running_plans import RunningPlans
from qosforge.errors import Place
from qosforge.findings import Finding
from qosforge.note import note
from qosforge.packet_sets.shadowed_rules import shadowed_rules
from qosforge.plan.model import Egress, Rule


def check_shadowed(running: RunningPlans) -> Iterator[Finding]:
    """``class-never-reached``, once for every class and side, policies inside queues included."""
    for name, plan in running.plans.items():
        for interface in plan.interfaces:
            sides = [("input", interface.ingress.rules)]
            sides += [("output", rules) for rules in _levels(interface.egress)]
            for direction, rules in sides:
                for found in shadowed_rules(rules) if len(rules) > 1 else ():
                    place = Place(
                        device=name, interface=interface.name, direction=direction, traffic_class=found.name
                    )
                    yield note("class-never-reached", place, other=found.taken_by, witness=str(found.witness))


def _levels(egress: Egress) -> Iterator[tuple[Rule, ...]]:
    yield egress.rules
    for queue in egress.scheduler.queues if egress.scheduler else ():
        if queue.child is not None:
            yield from _levels(queue.child)
