"""The state of a network's ports by what its devices were last known to hold: none, a policy, drifted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from qosforge.artifacts.store import Artifacts
from qosforge.device_state.drift import (
    Baseline,
    Change,
    baseline_text,
    held_plan,
    port_changes,
    port_differences,
    system_changes,
    system_differences,
)
from qosforge.inventory.models import Network
from qosforge.plan.description import discipline_words
from qosforge.plan.model import InterfacePlan, Plan
from qosforge.plan.state import PortState, port_state
from qosforge.platforms.base import platform
from qosforge.platforms.device_text import DeviceText, DeviceWords
from qosforge.runs.record.store import Run


class PortQos(StrEnum):
    """What is known of a port at a glance."""

    UNKNOWN = "unknown"
    """The device was never read, or has no such port."""
    NONE = "none"
    """What the port sends is not told apart by class."""
    POLICY = "policy"
    DRIFTED = "drifted"
    """It is not as the last run left it that was kept."""


@dataclass(frozen=True)
class Port:
    """One port: its plan, what it does with classes, and where it drifted, in words and in the plan's own terms.

    ``device_drifted``: the device as a whole did, and the port has no scheduler of its own.
    """

    name: str
    plan: InterfacePlan | None = None
    state: PortState | None = None
    changes: tuple[Change, ...] = ()
    differences: tuple[str, ...] = ()
    device_drifted: bool = False

    @property
    def qos(self) -> PortQos:
        """At a glance."""
        if self.state is None:
            return PortQos.UNKNOWN
        if self.differences or self.device_drifted:
            return PortQos.DRIFTED
        return PortQos.POLICY if self.state.by_class else PortQos.NONE

    @property
    def service(self) -> str:
        """How the queues share the port, in words; empty where nothing is known of it."""
        return discipline_words(self.state.scheduler) if self.state and self.state.scheduler else ""


@dataclass(frozen=True)
class Held:
    """A device by one reading of it: its ports, where the device as a whole drifted, and since which run.

    ``settled`` is the run that it is compared with: the last that was kept, or needed no changes.
    """

    plan: Plan
    ports: Mapping[str, Port]
    settled: Run | None
    changes: tuple[Change, ...] = ()
    differences: tuple[str, ...] = ()

    @property
    def drifted(self) -> bool | None:
        """Whether it is not as the run left it; ``None`` where there is no run to compare with."""
        if self.settled is None:
            return None
        return bool(self.differences) or any(port.differences for port in self.ports.values())


def held(network: Network, device: str, text: DeviceText, settled: Baseline | None, artifacts: Artifacts) -> Held:
    """What a device's configuration amounts to, port by port of the inventory, against the run that settled it.

    What it tells in words has no secret of the configuration, or of the one that it is compared with.

    Raises:
        StoreError: the run's artifact is missing or damaged.
    """
    entry = network.device(device)
    now = held_plan(network, device, text)
    delivered = platform(entry.platform, device).parse("", device, entry.image)
    last = None if settled is None else baseline_text(artifacts, network, device, settled)
    before = None if last is None else _before(network, device, text, now, last)
    box = system_differences(before, now) if before is not None else ()
    ports = {i.name: _port(i.name, now, delivered, before, device_drifted=bool(box)) for i in entry.interfaces}
    told = _Told(text.words if last is None else text.words.with_secrets_of(last.words))
    if before is None or settled is None:
        return told.held(Held(now, ports, None))
    others = [_port(i.name, now, delivered, before) for i in before.interfaces if i.name not in ports]
    ports |= {port.name: port for port in others if port.differences}
    return told.held(Held(now, ports, settled.run, system_changes(before, now) if box else (), box))


class _Told:
    """The words of what a device holds without the secrets of its configurations."""

    def __init__(self, words: DeviceWords) -> None:
        self._text = words.shown

    def held(self, held: Held) -> Held:
        unknown = tuple(line.shown(self._text) for line in held.plan.unknown)
        return replace(
            held,
            plan=held.plan.model_copy(update={"unknown": unknown}),
            ports={name: self._port(port) for name, port in held.ports.items()},
            changes=self._changes(held.changes),
            differences=self._texts(held.differences),
        )

    def _port(self, port: Port) -> Port:
        if not (port.changes or port.differences):
            return port
        return replace(port, changes=self._changes(port.changes), differences=self._texts(port.differences))

    def _changes(self, changes: Iterable[Change]) -> tuple[Change, ...]:
        return tuple(Change(*map(self._text, (one.about, one.was, one.now))) for one in changes)

    def _texts(self, texts: Iterable[str]) -> tuple[str, ...]:
        return tuple(map(self._text, texts))


def _before(network: Network, device: str, text: DeviceText, now: Plan, before: DeviceText) -> Plan:
    return now if before == text else held_plan(network, device, before)


def _port(name: str, now: Plan, delivered: Plan, before: Plan | None, *, device_drifted: bool = False) -> Port:
    found = port_differences(before, now, name) if before is not None and before is not now else ()
    changes = port_changes(before, now, name) if before is not None and found else ()
    interface = now.interface(name)
    if interface is None:
        return Port(name, None, None, changes, found)
    state = port_state(now, interface, delivered)
    return Port(name, interface, state, changes, found, device_drifted and state.shared)
