"""The waves of a rollout: which devices change in which order, and which must change in one step. Pure."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from qosforge.errors import InputError, Place
from qosforge.inventory.models import Device, Network
from qosforge.inventory.rollout import DeviceSelection, Rollout
from qosforge.plan.model import Plan

CANARY = "canary"
REST = "the rest"
WHOLE = "all devices"

Pair = frozenset[str]


@dataclass(frozen=True)
class Wave:
    """Devices that change before those of the next wave: ``steps`` are those that change at the same moment."""

    name: str
    steps: tuple[tuple[str, ...], ...]

    @property
    def devices(self) -> tuple[str, ...]:
        """All of them."""
        return tuple(name for step in self.steps for name in step)


def joined_ends(
    network: Network, before: Mapping[str, Plan], after: Mapping[str, Plan], unread: Collection[str] = ()
) -> frozenset[Pair]:
    """Devices at both ends of a link whose link efficiency changes: one end alone would break the link.

    ``after`` are the plans that are to be held, of the devices that change; ``before`` what they hold now, as far
    as it is known; ``unread`` are to change, too, but what they hold, and so their plans, are unknown.

    Cisco's command references ask for header compression and FRF.12 on both ends of a link with the same settings;
    both are part of `Efficiency`, with multilink's fragments and interleaving.
    """
    found = set()
    for name, plan in after.items():
        earlier = before.get(name)
        if earlier is None:
            continue  # what it holds is unknown: whether it has to change with it, the other end says
        for planned in plan.interfaces:
            there = earlier.interface(planned.name)
            if there is not None and there.efficiency == planned.efficiency:
                continue
            if there is None and planned.efficiency == type(planned.efficiency)():
                continue
            link = network.neighbour((name, planned.name))
            if link is not None and (link[1][0] in after or link[1][0] in unread) and link[1][0] != name:
                found.add(frozenset((name, link[1][0])))
    return frozenset(found)


def stranded(joined: Iterable[Pair], missing: Collection[str]) -> frozenset[str]:
    """The devices that must not change because one that they are joined to, directly or by others, is missing."""
    pairs = list(joined)
    found = set(missing)
    while more := {name for pair in pairs if pair & found for name in pair} - found:
        found |= more
    return frozenset(found - set(missing))


def plan_waves(
    network: Network, rollout: Rollout, devices: Collection[str], pairs: Iterable[Pair] = ()
) -> tuple[Wave, ...]:
    """The waves of a rollout, none of them empty: every device of ``devices`` is in one of them.

    Devices come in the order of the inventory. One that is ``pairs`` to another comes with it, in the first wave
    that either is in; so a wave by count may be larger than it says.
    """
    order = [device for device in network.devices if device.name in devices]
    steps = _steps([device.name for device in order], pairs)
    left = {device.name: device for device in order}
    waves = []
    for name, chosen in _selections(rollout):
        names = list(_chosen(chosen, left.values(), len(order)))
        taken = [name for first in names if first in left for name in _pop(steps[first], left)]
        if taken:
            waves.append(Wave(name, _grouped(taken, steps)))
    if left:
        name = REST if waves else WHOLE
        waves.append(Wave(name, _grouped(list(left), steps)))
    return tuple(waves)


def require_canary(network: Network) -> None:
    """Make sure that a canary by a word is of devices: one of none would let a change into all devices at once.

    Raises:
        InputError: no device of the network has the site, role or tag.
    """
    canary = network.changes.rollout.canary
    words = {} if canary is None else {"site": canary.site, "role": canary.role, "tag": canary.tag}
    for kind, word in words.items():
        if word is not None and not any(_has(device, kind, word) for device in network.devices):
            place = Place(file="changes.yaml", path=f"rollout.canary.{kind}")
            hint = f"correct it, or give a device this {kind} in hosts.yaml"
            raise InputError(
                f"no device of {network.name} has the {kind} {word!r}, so there is no canary", place, hint
            )


def _has(device: Device, kind: str, word: str) -> bool:
    return word in {"site": {device.site}, "role": {device.role.value}, "tag": device.tags}[kind]


def without_canary(rollout: Rollout, waves: Sequence[Wave]) -> str:
    """That a rule has a canary and none of it is changed, in words; else empty."""
    if rollout.canary is None or not waves or waves[0].name == CANARY:
        return ""
    return f"no canary: none of {rollout.canary.text} is among what is changed"


def _selections(rollout: Rollout) -> Iterator[tuple[str, DeviceSelection]]:
    if rollout.canary is not None:
        yield CANARY, rollout.canary
    for wave in rollout.waves:
        yield wave.text, wave


def _chosen(selection: DeviceSelection, left: Collection[Device], all_of_them: int) -> Iterator[str]:
    if selection.count is not None or selection.percent is not None:
        most = selection.count or math.ceil(all_of_them * (selection.percent or 0) / 100)
        yield from [device.name for device in left][:most]
        return
    words = (("site", selection.site), ("role", selection.role), ("tag", selection.tag))
    for device in left:
        if any(word is not None and _has(device, kind, word) for kind, word in words):
            yield device.name


def _steps(names: Sequence[str], pairs: Iterable[Pair]) -> dict[str, tuple[str, ...]]:
    """By device, all that change at the same moment as it: those joined to it, directly or by others."""
    step = {name: {name} for name in names}
    for pair in pairs:
        ends = [end for end in pair if end in step]
        together = set().union(*(step[end] for end in ends))
        for name in together:
            step[name] = together
    return {name: tuple(other for other in names if other in step[name]) for name in names}


def _pop(step: Sequence[str], left: dict[str, Device]) -> list[str]:
    for name in step:
        left.pop(name, None)
    return list(step)


def _grouped(names: Sequence[str], steps: Mapping[str, tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    return tuple(dict.fromkeys(steps[name] for name in names))
