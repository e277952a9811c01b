"""Device requests for the Catalysts, and an emulated switch to feed."""

from __future__ import annotations

import json
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from qosforge.compiler.compile import CompiledDevice
from qosforge.compiler.resolve import resolve
from qosforge.configtree import Grammar, Tree, merge, transition
from qosforge.findings import Finding
from qosforge.intent.loader import LoadedIntent, load_intent, parse_intent
from qosforge.inventory.loader import load_network
from qosforge.inventory.models import Network
from qosforge.plan.model import InterfacePlan, Plan
from qosforge.plan.request import DeviceRequest
from qosforge.platforms.base import LoweredDevice, Platform
from qosforge.platforms.catalyst_2950 import PLATFORM as C2950
from qosforge.platforms.catalyst_2970 import PLATFORM as C2970
from qoslab.box import Box
from qoslab.clock import Clock
from qoslab.spec import BoxSpec
from qoslab.storage import Storage

ROOT = Path(__file__).resolve().parents[2]
BOXES: dict[str, Platform] = {"s2950": C2950, "s2970": C2970}
EMULATED = {"s2950": ("catalyst_2950", "Catalyst2950"), "s2970": ("catalyst_2970", "Catalyst2970")}

VOICE = {
    "name": "voice-video",
    "match": {"any": [{"application": ["rtp-audio", "rtp-video"]}, {"dscp": ["ef", "af41"]}]},
    "mark": {"dscp": "af41", "cos": 5},
    "treatment": {"priority": {"percent": 50}},
}
PHONES = VOICE | {"match": {"any": [{"dscp": ["ef", "af41"]}]}}
"""The same class as a 2950 has it: its access lists know no range of ports."""
WEB = {
    "name": "web-and-file",
    "match": {"any": [{"application": ["http", "ftp"]}, {"dscp": ["af21"]}]},
    "mark": {"dscp": "af21", "cos": 2},
    "treatment": {"bandwidth": {"remaining_percent": 70}},
}
REST = {"name": "default", "treatment": {"bandwidth": {"remaining_percent": 30}}}


def a_class(name: str, *alternatives: dict[str, Any], **mark: Any) -> dict[str, Any]:
    """A class with these alternatives, and a part of what priority leaves."""
    share = {"bandwidth": {"remaining_percent": 30}}
    return {"name": name, "match": {"any": list(alternatives)}, "mark": mark, "treatment": share}


def intent(*classes: dict[str, Any], tolerance: str = "5 %") -> LoadedIntent:
    """An intent with these classes for every access port."""
    document = {
        "version": 1,
        "intent": "test",
        "tolerance": tolerance,
        "classes": list(classes),
        "apply": [{"role": "access", "interfaces": ["lan", "trunk"], "direction": d} for d in ("input", "output")],
    }
    return parse_intent(json.dumps(document), "test.yaml")


@cache
def campus() -> LoadedIntent:
    """The campus intent as it ships."""
    return load_intent(ROOT / "policies/campus-collaboration.yaml")


@cache
def network() -> Network:
    """The campus network."""
    return load_network(ROOT / "inventories/campus")


def request_for(device: str, loaded: LoadedIntent, image: str | None = None) -> DeviceRequest:
    """The part of an intent that a switch of the campus network has."""
    requests, _ = resolve(loaded, network())
    found = next(r for r in requests if r.device == device)
    return found if image is None else found.model_copy(update={"image": image})


def startup(device: str) -> str:
    """What the switch boots with."""
    return (ROOT / f"inventories/campus/startup/{device}.cfg").read_text()


def lowered(device: str, loaded: LoadedIntent, running: str | None = None) -> tuple[DeviceRequest, LoweredDevice]:
    """A request and its plan; ``running`` is what the switch holds before."""
    request = request_for(device, loaded)
    held = None if running is None else BOXES[device].parse(running, device, request.image)
    return request, BOXES[device].lower(request, held)


def rendered(device: str, request: DeviceRequest, result: LoweredDevice) -> str:
    """The configuration of a plan."""
    return "!\n".join(b.text for b in BOXES[device].blocks(result.plan, result, request))


def codes(result: LoweredDevice) -> dict[str, str]:
    """Severity of every finding by its code."""
    return {f.code: f.severity.value for f in result.findings}


def found(result: LoweredDevice | CompiledDevice, code: str) -> Finding:
    """The one finding with this code."""
    matching = [f for f in result.findings if f.code == code]
    assert len(matching) == 1, [f.code for f in result.findings]
    return matching[0]


def as_config(tree: Tree, depth: int = 0) -> str:
    """A tree as a running configuration."""
    return "".join(" " * depth + line.text + "\n" + as_config(line.children, depth + 1) for line in tree)


def delta(grammar: Grammar, running: str, wanted: str) -> tuple[list[str], Tree]:
    """Lines that put a configuration into a running one, and what it becomes."""
    current = grammar.parse(running)
    target = merge(current, grammar.parse(wanted), grammar)
    return transition(current, target, grammar), target


def booted(device: str, folder: Path, text: str) -> Box:
    """An emulated switch that runs a configuration."""
    module, name = EMULATED[device]
    spec = BoxSpec(name=device, platform=module, username="u", password="p")
    box: Box = getattr(import_module(f"qoslab.boxes.{module}"), name)(spec, Storage(folder, text), Clock())
    box.boot()
    assert box.boot_messages == []
    return box


def port(plan: Plan, name: str) -> InterfacePlan:
    """The interface of a plan, which must have it."""
    found = plan.interface(name)
    assert found is not None
    return found
