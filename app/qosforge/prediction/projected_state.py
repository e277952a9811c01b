"""The projected state of a network: every device's plan, and beside it what a policy leaves unchanged."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from qosforge.compiler.compile import Compilation
from qosforge.inventory.models import Device
from qosforge.plan.model import Plan, System
from qosforge.platforms.cached_parse import parse_running
from qosforge.platforms.device_text import Configuration


def project_state(
    compilation: Compilation, running: Mapping[str, Configuration], devices: Collection[str] | None = None
) -> dict[str, Plan]:
    """The plans of all devices (of ``devices`` alone, where given), those out of the policy's scope too.

    A plan speaks only of interfaces and settings that the policy is about. The rest stays as ``running``, the
    configurations that were read, says; a device that was not read is taken as it was delivered.

    Raises:
        InputError: a device has a platform that is not installed.
    """
    made = {device.name: device.plan for device in compilation.devices}
    plans = {}
    for device in compilation.network.devices:
        if devices is not None and device.name not in devices:
            continue
        text = running.get(device.name, _factory_configuration(device))
        running_plan = parse_running(device.platform, text, device.name, device.image)
        plan = made.get(device.name)
        plans[device.name] = running_plan if plan is None else _merge_plan(plan, running_plan)
    return plans


def _factory_configuration(device: Device) -> str:
    """A configuration that sets nothing: every platform heads an interface like this."""
    return "".join(f"interface {interface.name}\n!\n" for interface in device.interfaces)


def _merge_plan(plan: Plan, running: Plan) -> Plan:
    spoken_of = {interface.name for interface in plan.interfaces}
    left = tuple(interface for interface in running.interfaces if interface.name not in spoken_of)
    settings = {
        name: value if (value := getattr(plan.system, name)) is not None else getattr(running.system, name)
        for name in System.model_fields
    }
    return plan.model_copy(update={"interfaces": (*plan.interfaces, *left), "system": System(**settings)})
