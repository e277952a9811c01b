"""Requests for the 5510 and the E300, and the emulated devices to feed."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

from qosforge.compiler.resolve import resolve
from qosforge.configtree import Tree, merge, transition
from qosforge.intent.loader import LoadedIntent, load_intent, parse_intent
from qosforge.inventory.loader import load_network
from qosforge.plan.model import InterfacePlan, Plan
from qosforge.plan.request import DeviceRequest
from qosforge.platforms.base import LoweredDevice, Platform
from qosforge.platforms.force10_e300 import PLATFORM as FORCE10
from qosforge.platforms.nortel_5510 import PLATFORM as NORTEL
from qoslab.box import Box
from qoslab.clock import Clock
from qoslab.spec import BoxSpec
from qoslab.storage import Storage
from tests.answers import refusals

ROOT = Path(__file__).resolve().parents[2]
BOXES: dict[str, Platform] = {"e300": FORCE10, "ers5510": NORTEL}
EMULATED = {"e300": ("force10_e300", "Force10E300"), "ers5510": ("nortel_5510", "Nortel5510")}

VOICE = {
    "name": "voice-video",
    "match": {"any": [{"application": ["rtp-audio", "rtp-video"]}, {"dscp": ["ef", "af41"]}]},
    "mark": {"dscp": "af41", "cos": 5},
    "treatment": {"priority": {"percent": 50}},
}
WEB = {
    "name": "web-and-file",
    "match": {"any": [{"application": ["http", "ftp"]}, {"dscp": ["af21"]}]},
    "mark": {"dscp": "af21", "cos": 2},
    "treatment": {"bandwidth": {"remaining_percent": 70}},
}
REST = {"name": "default", "treatment": {"bandwidth": {"remaining_percent": 30}}}


def marked(name: str, dscp: int, cos: int, **treatment: Any) -> dict[str, Any]:
    """A class that is told by its DSCP and keeps it."""
    return {
        "name": name,
        "match": {"any": [{"dscp": [dscp]}]},
        "mark": {"dscp": dscp, "cos": cos},
        "treatment": treatment,
    }


def intent(*classes: dict[str, Any], tolerance: str = "5 %") -> LoadedIntent:
    """An intent with these classes for every port of a switch."""
    document = {
        "version": 1,
        "intent": "test",
        "tolerance": tolerance,
        "classes": list(classes),
        "apply": [
            {"role": ["access", "core"], "interfaces": ["lan", "trunk"], "direction": d}
            for d in ("input", "output")
        ],
    }
    return parse_intent(json.dumps(document), "test.yaml")


def campus() -> LoadedIntent:
    """The campus intent as it ships."""
    return load_intent(ROOT / "policies/campus-collaboration.yaml")


def request_for(device: str, loaded: LoadedIntent, image: str = "") -> DeviceRequest:
    """The part of an intent that a device of the campus network has; ``image`` is another than the inventory's."""
    requests, _ = resolve(loaded, load_network(ROOT / "inventories/campus"))
    found = next(r for r in requests if r.device == device)
    return found.model_copy(update={"image": image or found.image})


def startup(device: str) -> str:
    """What the device boots with."""
    return (ROOT / f"inventories/campus/startup/{device}.cfg").read_text()


def lowered(
    device: str, loaded: LoadedIntent, running: str | None = None, image: str = ""
) -> tuple[DeviceRequest, LoweredDevice]:
    """A request and its plan; ``running`` is what the device holds before."""
    request = request_for(device, loaded, image)
    held = None if running is None else BOXES[device].parse(running, device, request.image)
    return request, BOXES[device].lower(request, held)


def rendered(device: str, request: DeviceRequest, result: LoweredDevice) -> str:
    """The configuration of a plan."""
    return "!\n".join(b.text for b in BOXES[device].blocks(result.plan, result, request))


def codes(result: LoweredDevice) -> dict[str, str]:
    """Severity of every finding by its code."""
    return {f.code: f.severity.value for f in result.findings}


def finding(result: LoweredDevice, code: str) -> Any:
    """The one finding with this code."""
    (found,) = [f for f in result.findings if f.code == code]
    return found


def as_config(tree: Tree, depth: int = 0) -> str:
    """A tree as a running configuration."""
    return "".join(" " * depth + line.text + "\n" + as_config(line.children, depth + 1) for line in tree)


def delta(device: str, running: str, wanted: str) -> tuple[list[str], Tree]:
    """Lines that put a configuration into a running one, and what it becomes."""
    grammar = BOXES[device].grammar
    current = grammar.parse(running)
    target = merge(current, grammar.parse(wanted), grammar)
    return transition(current, target, grammar), target


def undo(device: str, running: str, original: str) -> list[str]:
    """Lines that bring a device back to its original configuration."""
    grammar = BOXES[device].grammar
    return transition(grammar.parse(running), grammar.parse(original), grammar)


def booted(device: str, folder: Path, text: str, image: str = "") -> Box:
    """An emulated device that runs a configuration."""
    module, name = EMULATED[device]
    image = request_for(device, campus(), image).image if device == "e300" else image
    spec = BoxSpec(name=device, platform=module, image=image, username="u", password="p")
    box: Box = getattr(import_module(f"qoslab.boxes.{module}"), name)(spec, Storage(folder, text), Clock())
    box.boot()
    assert box.boot_messages == []
    return box


def push(device: str, box: Box, loaded: LoadedIntent, image: str = "") -> tuple[DeviceRequest, LoweredDevice]:
    """Put an intent into a device, which must take every line."""
    before = box.running_text()
    request, result = lowered(device, loaded, before, image)
    lines, _ = delta(device, before, rendered(device, request, result))
    assert refusals(box.configure(lines)) == []
    return request, result


def port(plan: Plan, name: str) -> InterfacePlan:
    """The interface of a plan, which must have it."""
    found = plan.interface(name)
    assert found is not None
    return found
