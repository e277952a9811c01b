"""The context of a validation: compiled plans, and plans of the running configurations beside them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar, cast

from qosforge.compiler.compile import Compilation, CompiledDevice
from qosforge.compiler.merged_configuration import PredictedConfiguration, predict_configuration
from qosforge.configtree.tree_text import tree_text
from qosforge.errors import Place
from qosforge.inventory.models import Device, Port, TrafficFlow
from qosforge.plan.model import InterfacePlan, Plan, Scheduler
from qosforge.plan.request import InterfaceRequest
from qosforge.platforms.base import installed, platform
from qosforge.platforms.cached_parse import parse_running
from qosforge.platforms.device_text import Configuration
from qosforge.tester.scenario.traffic import flow_classes

T = TypeVar("T")


@dataclass(frozen=True)
class ValidationContext:
    """A compilation and the running configurations (by device) that it will be put into.

    ``made`` are the configurations that devices come to hold, where they are made already.
    """

    compilation: Compilation
    running: Mapping[str, Configuration]
    made: Mapping[str, PredictedConfiguration] = field(default_factory=dict)
    _found: dict[Hashable, Any] = field(default_factory=dict, init=False)

    def once(self, key: Hashable, find: Callable[[], T]) -> T:
        """What several checks, or several of their places, need: found when it is first asked for."""
        if key not in self._found:
            self._found[key] = find()
        return cast(T, self._found[key])

    def predicted(self, device: CompiledDevice) -> PredictedConfiguration:
        """What a compiled device comes to hold."""
        made = self.made.get(device.name)
        return made or predict_configuration(device.request, device.blocks, self.running.get(device.name))

    @cached_property
    def compiled(self) -> dict[str, CompiledDevice]:
        """Compiled devices by name."""
        return {device.name: device for device in self.compilation.devices}

    @cached_property
    def _devices(self) -> dict[str, Device]:
        return {device.name: device for device in self.compilation.network.devices}

    def running_plan(self, device: str) -> Plan | None:
        """What a device holds now, where that is known. It is read when it is asked for: most devices never are."""
        entry, text = self._devices.get(device), self.running.get(device)
        if entry is None or text is None or entry.platform not in installed():
            return None
        return _parse(entry, text)

    def plan(self, device: str) -> Plan | None:
        """What a device will do: its compiled plan, or what it does now where the intent leaves it alone."""
        if device in self.compiled:
            return self.compiled[device].plan
        return self.running_plan(device)

    def interface(self, port: Port) -> InterfacePlan | None:
        """What will be at a port; none where neither the plan nor a running configuration tells."""
        return self.once(("interface", port), lambda: self._interface(port))

    def _interface(self, port: Port) -> InterfacePlan | None:
        plan = self.plan(port[0])
        if plan is not None and (found := plan.interface(port[1])) is not None:
            return found
        before = self.running_plan(port[0])
        return before.interface(port[1]) if before is not None else None

    def predicted_plan(self, device: CompiledDevice) -> Plan:
        """What the configuration amounts to that a compiled device comes to hold; read once for all its ports."""
        return self.once(("predicted plan", device.name), lambda: self._predicted_plan(device))

    def _predicted_plan(self, device: CompiledDevice) -> Plan:
        running, predicted = self.running.get(device.name), self.predicted(device)
        request = device.request
        # What stays as it is was read when it was compiled.
        if running is not None and predicted.target == predicted.current:
            return parse_running(request.platform, running, device.name, request.image)
        target = platform(request.platform, device.name)
        return target.parse(tree_text(predicted.target, target.grammar), device.name, request.image)

    def coming(self, port: Port) -> InterfacePlan | None:
        """As `interface`, read from the configuration that the device comes to hold."""
        device = self.compiled.get(port[0])
        found = self.predicted_plan(device).interface(port[1]) if device is not None else None
        return found or self.interface(port)

    def scheduler(self, port: Port) -> Scheduler | None:
        """What serves a port's queues: its own scheduler or the device-wide one."""
        interface, plan = self.interface(port), self.plan(port[0])
        if interface is not None and interface.egress.dividing.scheduler is not None:
            return interface.egress.dividing.scheduler
        return plan.system.scheduler if plan is not None else None

    def request(self, port: Port) -> InterfaceRequest | None:
        """What the intent asks for at a port; none where it asks nothing."""
        return self.once(("request", port), lambda: self._request(port))

    def _request(self, port: Port) -> InterfaceRequest | None:
        device = self.compiled.get(port[0])
        if device is None:
            return None
        return next((entry for entry in device.request.interfaces if entry.name == port[1]), None)

    def flow_classes(self, flow: TrafficFlow) -> list[str]:
        """The class that the intent gives each of the flows that are described as one."""
        intent, network = self.compilation.intent.intent, self.compilation.network
        return self.once(flow, lambda: flow_classes(intent, flow, network))

    def schedules(self, port: Port) -> bool:
        """Whether the intent asks for classes to be served at a port's output."""
        requested = self.request(port)
        return requested is not None and requested.schedule


def class_at(context: ValidationContext, name: str, port: Port, direction: str) -> Place:
    """A class of the intent at one side of a port, with the line where the intent has it."""
    where = context.compilation.intent.class_place(name)
    return Place(
        device=port[0],
        interface=port[1],
        direction=direction,
        traffic_class=name,
        file=where.file if where else None,
        line=where.line if where else None,
    )


def _parse(device: Device, text: Configuration) -> Plan:
    return parse_running(device.platform, text, device.name, device.image)
