"""Drift: how a device's running configuration differs from what the last kept run left there."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from qosforge.artifacts.store import Artifacts
from qosforge.compiler.candidate import find_plan_differences
from qosforge.inventory.models import Network
from qosforge.plan.facts import port_facts, system_facts
from qosforge.plan.model import InterfacePlan, Plan, System
from qosforge.platforms.cached_parse import parse_running as read_plan
from qosforge.platforms.device_text import DeviceText, DeviceWords
from qosforge.runs.record.baselines import read_baselines
from qosforge.runs.record.run import Run
from qosforge.runs.record.store import RunStore


@dataclass(frozen=True)
class Drift:
    """Where a device differs, in words. ``run`` is the one that its state is compared with: the last that was kept,
    or needed no changes; without one there is nothing to compare with.
    """

    run: Run | None
    differences: tuple[str, ...]


@dataclass(frozen=True)
class Baseline:
    """The last run that settled what a device should hold, and what the device said it held then (an artifact)."""

    run: Run
    artifact: str


@dataclass(frozen=True)
class StateChange:
    """Something of a port or a device that is not as it was: what it is about, and both sides in words.

    A side is empty where there was, or is, nothing of the kind.
    """

    about: str
    was: str
    now: str


def running_plan(network: Network, device: str, text: DeviceText) -> Plan:
    """What a configuration of a device amounts to, with what was not understood of it."""
    entry = network.device(device)
    return read_plan(entry.platform, text, device, entry.image)


def drift(store: RunStore, artifacts: Artifacts, network: Network, device: str, text: DeviceText) -> Drift:
    """Compare what a device holds now with what a run left on it.

    Raises:
        StoreError: the run's artifact is missing or damaged.
    """
    found = find_baselines(store, network, (device,)).get(device)
    if found is None:
        return Drift(None, ())
    return Drift(found.run, describe_drift(network, device, baseline_text(artifacts, network, device, found), text))


def baseline_text(artifacts: Artifacts, network: Network, device: str, found: Baseline) -> DeviceText:
    """What a device said it held when a run settled it.

    Raises:
        StoreError: the run's artifact is missing or damaged.
    """
    return artifacts.get_configuration(found.artifact, DeviceWords(device, network.device(device).platform))


def describe_drift(network: Network, device: str, before: DeviceText, now: DeviceText) -> tuple[str, ...]:
    """Where one configuration of a device differs from another in what qosforge reads of it, without secrets."""
    words = now.words.with_secrets_of(before.words)
    found = find_plan_differences(running_plan(network, device, before), running_plan(network, device, now))
    return tuple(map(words.shown, found))


def find_baselines(
    store: RunStore, network: Network, devices: Collection[str] | None = None
) -> dict[str, Baseline]:
    """By device of the inventory, the last run that settled it; without those that no run did. Of ``devices`` alone
    where given.
    """
    names = {device.name for device in network.devices if devices is None or device.name in devices}
    wanted = None if devices is None else names
    found = store.database.query(lambda connection: read_baselines(connection, network.name, wanted))
    runs = store.runs_by_id({run_id for run_id, _ in found.values()})
    return {name: Baseline(runs[run_id], artifact) for name, (run_id, artifact) in found.items() if name in names}


def port_differences(before: Plan, now: Plan, port: str) -> tuple[str, ...]:
    """What `find_plan_differences` says of one port."""
    return find_plan_differences(_only(before, port), now)


def system_differences(before: Plan, now: Plan) -> tuple[str, ...]:
    """What `find_plan_differences` says of the device as a whole."""
    return find_plan_differences(before.model_copy(update={"interfaces": ()}), now)


def port_changes(before: Plan, now: Plan, port: str) -> tuple[StateChange, ...]:
    """How a port is not as it was, in plain words."""
    own = (_port_facts(plan, port) for plan in (before, now))
    return _changes(*own)


def system_changes(before: Plan, now: Plan) -> tuple[StateChange, ...]:
    """How a device as a whole is not as it was, in plain words."""
    return _changes(system_facts(before.system), system_facts(now.system))


def _port_facts(plan: Plan, port: str) -> dict[str, str]:
    # Without the device's scheduler, which `system_changes` tells of: each change once.
    interface = plan.interface(port)
    return port_facts(System(), interface) if interface else {}


def _only(plan: Plan, port: str) -> Plan:
    kept: tuple[InterfacePlan, ...] = tuple(entry for entry in plan.interfaces if entry.name == port)
    return plan.model_copy(update={"interfaces": kept, "system": System()})


def _changes(before: Mapping[str, str], now: Mapping[str, str]) -> tuple[StateChange, ...]:
    found = [
        StateChange(about, before.get(about, ""), now.get(about, ""))
        for about in dict.fromkeys((*before, *now))
        if before.get(about) != now.get(about)
    ]
    # That a queue went, or came, says it of its limits, too.
    whole = {(bool(one.was), bool(one.now), one.about) for one in found if not (one.was and one.now)}
    return tuple(one for one in found if (bool(one.was), bool(one.now), one.about.rpartition(", ")[0]) not in whole)
