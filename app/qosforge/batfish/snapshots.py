"""Snapshots for Batfish: analysis copies of what the devices hold now and of what they will hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from qosforge.batfish.analysis_copy import analysis_copy
from qosforge.compiler.compile import Compilation
from qosforge.compiler.merged_configuration import PredictedConfiguration, predict_configuration
from qosforge.configtree.tree_text import tree_text
from qosforge.platforms.base import platform
from qosforge.platforms.device_text import Configuration


@dataclass(frozen=True)
class Snapshots:
    """Analysis copies by file name, of what the devices hold now and of what they will hold."""

    before: dict[str, str]
    after: dict[str, str]


def make_snapshots(
    compilation: Compilation,
    running: Mapping[str, Configuration],
    predicted: Mapping[str, PredictedConfiguration] | None = None,
) -> Snapshots:
    """Both snapshots of every compiled device whose format Batfish has; a device not known starts empty.

    Both texts pass through the same tree, so that they differ in the change alone. ``predicted`` are the
    configurations that the candidates are made of, where they are made already.
    """
    before, after = {}, {}
    for device in compilation.devices:
        target = platform(device.request.platform, device.name)
        if target.batfish_format is None:
            continue
        file = f"{device.name}.cfg"
        made = (predicted or {}).get(device.name) or predict_configuration(
            device.request, device.blocks, running.get(device.name)
        )
        held = tree_text(made.current or (), target.grammar)
        coming = tree_text(made.target, target.grammar)
        before[file] = analysis_copy(held, target.batfish_format)
        after[file] = analysis_copy(coming, target.batfish_format)
    return Snapshots(before, after)
