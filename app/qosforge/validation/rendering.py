"""Check that rendered configuration parses back to the plan."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from qosforge.compiler.candidate import find_plan_differences
from qosforge.compiler.compile import CompiledDevice
from qosforge.errors import Place
from qosforge.findings import Finding
from qosforge.note import note
from qosforge.plan.model import InterfacePlan, Plan
from qosforge.validation.context import ValidationContext


def check_rendering(context: ValidationContext) -> Iterator[Finding]:
    """``round-trip`` of every compiled device."""
    for device in context.compilation.devices:
        yield from _round_trip(device, context.predicted_plan(device), alone=device.name not in context.running)


def _round_trip(device: CompiledDevice, running: Plan, *, alone: bool) -> Iterator[Finding]:
    meant = _comparable(device.plan, running, alone=alone)
    if found := find_plan_differences(meant, running):
        more: dict[str, Any] = {"variant": "several", "more": len(found) - 1} if len(found) > 1 else {}
        yield note("round-trip", Place(device=device.name), difference=found[0], **more)


_BOOTED = ("queue_set", "scheduler", "cos_to_queue", "dscp_to_queue")
"""Device-wide state that follows from the queue set a device has booted with."""


def _comparable(plan: Plan, running: Plan, *, alone: bool) -> Plan:
    """The plan without what no block can set.

    The ``bandwidth`` of an interface is the device's own statement (the platform's check compares it), and so are
    the sizes and default queues that follow from it. A text that stands ``alone``, without the running
    configuration around it, says nothing of interfaces it does not name, of bundles and of a booted queue set.
    """
    interfaces = []
    for planned in plan.interfaces:
        got = running.interface(planned.name)
        if got is not None:
            interfaces.append(_aligned(planned, got, alone=alone))
        elif not alone:
            interfaces.append(planned)
    system = plan.system
    if alone and system.queue_set != running.system.queue_set:
        system = system.model_copy(update={f: getattr(running.system, f) for f in _BOOTED})
    return plan.model_copy(update={"interfaces": tuple(interfaces), "system": system})


def _aligned(expected: InterfacePlan, got: InterfacePlan, *, alone: bool) -> InterfacePlan:
    changes: dict[str, object] = {}
    efficiency = expected.efficiency
    if expected.bandwidth_kbps != got.bandwidth_kbps:
        changes["bandwidth_kbps"] = got.bandwidth_kbps
        if expected.egress.policy is None:
            changes["egress"] = got.egress
        if efficiency.fragment_bytes is not None and got.efficiency.fragment_bytes is not None:
            efficiency = efficiency.model_copy(update={"fragment_bytes": got.efficiency.fragment_bytes})
    if alone:
        efficiency = efficiency.model_copy(update={"multilink": got.efficiency.multilink})
    changes["efficiency"] = efficiency
    return expected.model_copy(update=changes)
