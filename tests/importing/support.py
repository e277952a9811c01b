"""Configurations to import, and whether what was imported compiles back to them."""

from __future__ import annotations

import re
from pathlib import Path

from qosforge.compiler.candidate import find_plan_differences
from qosforge.compiler.compile import CompiledDevice, compile_intent
from qosforge.configtree import ConfigLine, merge
from qosforge.importing import ImportResult, import_configurations, read_configuration
from qosforge.intent.loader import load_intent
from qosforge.inventory.loader import load_network
from qosforge.plan.model import Plan
from qosforge.platforms.base import platform

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = {name: ROOT / "inventories" / name for name in ("campus", "infn-fnal")}
NETWORKS = {name: load_network(folder) for name, folder in FOLDERS.items()}
LIBRARY = sorted(path.stem for path in (ROOT / "policies").glob("*.yaml"))


def running(device: CompiledDevice, startup: str) -> str:
    """What a device would run that boots with ``startup`` and is given a device's configuration."""
    grammar = platform(device.request.platform).grammar
    if grammar.flat_blocks:
        return startup + device.text
    tree = merge(grammar.parse(startup), grammar.parse(device.text), grammar)
    return "\n".join(_lines(tree, 0)) + "\n"


def _lines(tree: tuple[ConfigLine, ...], depth: int) -> list[str]:
    return [text for line in tree for text in (" " * depth + line.text, *_lines(line.children, depth + 1))]


def imported(text: str, **given: str) -> ImportResult:
    """What one configuration amounts to."""
    return import_configurations([read_configuration(text, "box.cfg", **given)], "made")


def told(found: ImportResult) -> list[str]:
    """The findings that count, in few words."""
    return [f"{f.code}: {f.message}" for f in found.findings if f.severity != "info"]


def compiled_again(found: ImportResult, folder: Path) -> list[CompiledDevice]:
    """The devices that the written files compile to, intent by intent."""
    for name, text in found.files.items():
        (folder / name).write_text(text, encoding="utf-8")
    devices = []
    for intent in found.intents:
        path = folder / f"{intent.name}.yaml"
        path.write_text(intent.text, encoding="utf-8")
        devices += compile_intent(load_intent(path), load_network(folder)).devices
    return devices


def unlike(made: Plan, held: Plan) -> tuple[str, ...]:
    """Where a compiled plan is not the held one; the numbers of access lists mean nothing, and a finding tells of
    classes in packets of IPv4 alone."""
    plain = re.compile(r"\.(?:access_list|ipv4): ")
    return tuple(text for text in find_plan_differences(made, held) if not plain.search(text))
