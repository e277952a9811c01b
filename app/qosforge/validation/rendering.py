"""Check that rendered configuration parses back to the plan."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from qosforge.compiler.candidate import find_plan_differences
from qosforge.compiler.compile import CompiledDevice
from qosforge.configtree import Tree
from qosforge.configtree.tree_text import tree_text
from qosforge.errors import Place
from qosforge.findings import Finding
from qosforge.note import note
from qosforge.plan.model import InterfacePlan, Plan
from qosforge.platforms.base import platform
from qosforge.platforms.cached_parse import parse_running
from qosforge.platforms.device_text import Configuration
from qosforge.validation.context import ValidationContext


def check_rendering(context: ValidationContext) -> Iterator[Finding]:
    """``round-trip`` of every compiled device."""
    for device in context.compilation.devices:
        running = context.running.get(device.name)
        predicted = context.predicted(device)
        tree, current = predicted.target, predicted.current
        # What stays as it is was read when it was compiled.
        held = _read(device, tree) if running is None or tree != current else _held(device, running)
        yield from _round_trip(device, held, alone=running is None)


def _read(device: CompiledDevice, tree: Tree) -> Plan:
    target = platform(device.request.platform, device.name)
    return target.parse(tree_text(tree, target.grammar), device.name, device.request.image)


def _held(device: CompiledDevice, running: Configuration) -> Plan:
    return parse_running(device.request.platform, running, device.name, device.request.image)


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
