"""Snapshots for Batfish: analysis copies of what the devices hold now and of what they will hold."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from qosforge.batfish.analysis_copy import AnalysisCopy, analysis_copy
from qosforge.batfish.class_filters import ClassFilters, class_filters
from qosforge.batfish.copy_rules import CopyRules, copy_rules
from qosforge.batfish.question_list import AFTER, BEFORE, CLASSES
from qosforge.batfish.text_changes import may_forward_otherwise
from qosforge.compiler.compile import Compilation, CompiledDevice
from qosforge.compiler.merged_configuration import PredictedConfiguration, predict_configuration
from qosforge.configtree import Tree
from qosforge.configtree.tree_text import tree_text
from qosforge.errors import Place
from qosforge.intent.loader import LoadedIntent
from qosforge.platforms.base import platform
from qosforge.platforms.device_text import Configuration, DeviceWords, words_of

_BEYOND = re.compile(r"[^a-z0-9._-]")
"""What the name of a host or file does not have."""


@dataclass(frozen=True)
class DeviceCopies:
    """Both copies of a device, and what its answers are read by; nothing in it is a secret.

    Batfish calls it ``node``; ``known`` is whether its configuration was read. ``classes`` are the intent's places
    of what the device calls a class. ``own`` are the lines that are rendered; of ``resized`` interfaces the policy
    sets the longest packet. ``unanswered`` is what Batfish does not model of the platform.
    """

    name: str
    node: str
    known: bool
    before: AnalysisCopy
    after: AnalysisCopy
    classes: Mapping[str, Place]
    own: frozenset[str]
    resized: frozenset[str]
    unanswered: tuple[str, ...]

    @property
    def file(self) -> str:
        """Its file in both snapshots."""
        return f"{self.node}.cfg"

    def place_of(self, name: str) -> Place:
        """Where something of what the device calls a class of this name stands."""
        return self.classes.get(name, Place(device=self.name))


@dataclass(frozen=True)
class Snapshots:
    """The copies of devices whose format Batfish has, by the name that it has for them, and their classes."""

    devices: Mapping[str, DeviceCopies]
    classes: ClassFilters

    @property
    def before(self) -> dict[str, str]:
        """Texts by file name, of what the devices hold now."""
        return {copies.file: copies.before.text for copies in self.devices.values()}

    @property
    def after(self) -> dict[str, str]:
        """Texts by file name, of what they will hold."""
        return {copies.file: copies.after.text for copies in self.devices.values()}

    @property
    def may_forward_otherwise(self) -> bool:
        """Whether the change has a line that forwarding may depend on, on any device."""
        return any(may_forward_otherwise(copies.before, copies.after) for copies in self.devices.values())

    @property
    def files(self) -> dict[str, dict[str, str]]:
        """All files by snapshot."""
        return {BEFORE: self.before, AFTER: self.after, CLASSES: dict(self.classes.files)}


def make_snapshots(
    compilation: Compilation,
    running: Mapping[str, Configuration],
    predicted: Mapping[str, PredictedConfiguration] | None = None,
) -> Snapshots:
    """Both snapshots of every compiled device whose format Batfish has; a device not known starts empty.

    Both texts pass through the same tree, so that they differ in the change alone. ``predicted`` are the
    configurations that the candidates are made of, where they are made already.
    """
    devices: dict[str, DeviceCopies] = {}
    plans = {}
    for device in compilation.devices:
        rules = copy_rules(device.request.platform)
        if rules is None:
            continue
        node = _BEYOND.sub("-", device.name.lower())  # Batfish writes the names of hosts so
        while node in devices:
            node += "-"
        held = running.get(device.name)
        made = (predicted or {}).get(device.name) or predict_configuration(device.request, device.blocks, held)
        words = words_of(held or "", device.name, device.request.platform)
        plans[node] = device.plan
        devices[node] = DeviceCopies(
            device.name,
            node,
            known=made.current is not None,
            before=_copy(device, made.current or (), words, rules, node),
            after=_copy(device, made.target, words, rules, node),
            classes=_places(device, compilation.intent),
            own=frozenset(line.strip() for block in device.blocks for line in block.text.splitlines()),
            resized=frozenset(i.name for i in device.plan.interfaces if i.efficiency.ip_mtu is not None),
            unanswered=rules.unanswered,
        )
    copies = {node: (device.name, device.after, plans[node]) for node, device in devices.items()}
    return Snapshots(devices, class_filters(copies.values()))


def _copy(device: CompiledDevice, tree: Tree, words: DeviceWords, rules: CopyRules, node: str) -> AnalysisCopy:
    lines = tree_text(tree, platform(device.request.platform, device.name).grammar).splitlines()
    return analysis_copy(lines, words.covered(lines), rules, node)


def _places(device: CompiledDevice, intent: LoadedIntent) -> dict[str, Place]:
    lines = {entry.name: entry.line for entry in device.request.classes}
    places = {}
    for held, name in device.classes.items():
        where = intent.class_place(name, lines.get(name))
        file, line = (where.file, where.line) if where else (None, None)
        places[held] = Place(device=device.name, traffic_class=name, file=file, line=line)
    return places
