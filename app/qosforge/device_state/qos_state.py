"""The QoS of a network's ports by their last known configuration: none, a policy, or drifted from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from qosforge.artifacts.store import Artifacts
from qosforge.device_state.drift import (
    Baseline,
    StateChange,
    baseline_text,
    port_changes,
    port_differences,
    running_plan,
    system_changes,
    system_differences,
)
from qosforge.inventory.models import Network
from qosforge.memoise import memoise_by_value
from qosforge.plan.description import discipline_words
from qosforge.plan.model import InterfacePlan, Plan, System
from qosforge.plan.state import PortState, port_state
from qosforge.platforms.base import platform
from qosforge.platforms.device_text import DeviceText, DeviceWords
from qosforge.runs.record.run import Run


class QosStatus(StrEnum):
    """What is known of a port at a glance."""

    UNKNOWN = "unknown"
    """The device was never read, or has no such port."""
    NONE = "none"
    """What the port sends is not told apart by class."""
    POLICY = "policy"
    DRIFTED = "drifted"
    """It is not as the last run left it that was kept."""


@dataclass(frozen=True)
class PortQos:
    """One port: its plan, what it does with classes, and where it drifted, in words and in the plan's own terms.

    ``device_drifted``: the device as a whole did, and the port has no scheduler of its own.
    """

    name: str
    plan: InterfacePlan | None = None
    state: PortState | None = None
    changes: tuple[StateChange, ...] = ()
    differences: tuple[str, ...] = ()
    device_drifted: bool = False

    @property
    def qos(self) -> QosStatus:
        """At a glance."""
        if self.state is None:
            return QosStatus.UNKNOWN
        if self.differences or self.device_drifted:
            return QosStatus.DRIFTED
        return QosStatus.POLICY if self.state.by_class else QosStatus.NONE

    @property
    def service(self) -> str:
        """How the queues share the port, in words; empty where nothing is known of it."""
        return discipline_words(self.state.scheduler) if self.state and self.state.scheduler else ""


@dataclass(frozen=True)
class DeviceState:
    """A device by one reading of it: its ports, where the device as a whole drifted, and since which run.

    ``settled`` is the run that it is compared with: the last that was kept, or needed no changes.
    """

    plan: Plan
    ports: Mapping[str, PortQos]
    settled: Run | None
    changes: tuple[StateChange, ...] = ()
    differences: tuple[str, ...] = ()

    @property
    def drifted(self) -> bool | None:
        """Whether it is not as the run left it; ``None`` where there is no run to compare with."""
        if self.settled is None:
            return None
        return bool(self.differences) or any(port.differences for port in self.ports.values())


def device_state(
    network: Network, device: str, text: DeviceText, baseline: Baseline | None, artifacts: Artifacts
) -> DeviceState:
    """What a device's configuration amounts to, port by port of the inventory, against the run that settled it.

    What it tells in words has no secret of the configuration, or of the one that it is compared with.

    Raises:
        StoreError: the run's artifact is missing or damaged.
    """
    last = None if baseline is None else baseline_text(artifacts, network, device, baseline)
    found = compare_device(network, device, text, last)
    own = found.own
    redacted = _Redacted(text.words if last is None else text.words.with_secrets_of(last.words))
    if found.before is None or baseline is None:
        return redacted.state(DeviceState(found.now, found.ports, None))
    changes = system_changes(found.before, found.now) if own else ()
    return redacted.state(DeviceState(found.now, found.ports, baseline.run, changes, own))


@dataclass(frozen=True)
class ComparedDevice:
    """Two configurations of a device, port by port; ``own`` is where it differs as a whole. May quote secrets.

    ``before`` is ``None`` where there is nothing to compare with.
    """

    now: Plan
    before: Plan | None
    ports: Mapping[str, PortQos]
    own: tuple[str, ...]

    @property
    def differs(self) -> bool:
        """Whether anything does."""
        return bool(self.own) or any(port.differences for port in self.ports.values())


def compare_device(network: Network, device: str, text: DeviceText, last: DeviceText | None) -> ComparedDevice:
    """A configuration of a device beside the one that a run settled, if any; of the ports of the inventory, and of
    others that differ.
    """
    entry = network.device(device)
    now = running_plan(network, device, text)
    before = None if last is None else _before(network, device, text, now, last)
    delivered = _as_delivered(entry.platform, entry.image)
    own = system_differences(before, now) if before is not None and before is not now else ()
    ports = {i.name: _port(i.name, now, delivered, before, device_drifted=bool(own)) for i in entry.interfaces}
    if before is not None and before is not now:
        others = [_port(i.name, now, delivered, before) for i in before.interfaces if i.name not in ports]
        ports |= {port.name: port for port in others if port.differences}
    return ComparedDevice(now, before, ports, own)


@memoise_by_value(64)
def _as_delivered(platform_id: str, image: str) -> tuple[System, ...]:
    """What a device can hold as a whole before anybody gave it a policy."""
    target = platform(platform_id)
    return tuple(target.parse(text, "", image).system for text in target.family.without_policy)


class _Redacted:
    """Copies of a device state without the secrets of its configurations."""

    def __init__(self, words: DeviceWords) -> None:
        self._text = words.shown

    def state(self, state: DeviceState) -> DeviceState:
        unknown = tuple(line.shown(self._text) for line in state.plan.unknown)
        return replace(
            state,
            plan=state.plan.model_copy(update={"unknown": unknown}),
            ports={name: self._port(port) for name, port in state.ports.items()},
            changes=self._changes(state.changes),
            differences=self._texts(state.differences),
        )

    def _port(self, port: PortQos) -> PortQos:
        if not (port.changes or port.differences):
            return port
        return replace(port, changes=self._changes(port.changes), differences=self._texts(port.differences))

    def _changes(self, changes: Iterable[StateChange]) -> tuple[StateChange, ...]:
        return tuple(StateChange(*map(self._text, (one.about, one.was, one.now))) for one in changes)

    def _texts(self, texts: Iterable[str]) -> tuple[str, ...]:
        return tuple(map(self._text, texts))


def _before(network: Network, device: str, text: DeviceText, now: Plan, before: DeviceText) -> Plan:
    return now if before == text else running_plan(network, device, before)


def _port(
    name: str, now: Plan, delivered: Iterable[System], before: Plan | None, *, device_drifted: bool = False
) -> PortQos:
    found = port_differences(before, now, name) if before is not None and before is not now else ()
    changes = port_changes(before, now, name) if before is not None and found else ()
    interface = now.interface(name)
    if interface is None:
        return PortQos(name, None, None, changes, found)
    state = port_state(now, interface, delivered)
    return PortQos(name, interface, state, changes, found, device_drifted and state.shared)
