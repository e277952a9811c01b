"""Policies of layer 2 of the E300: which release has them, in the product and on the emulated device.

Command history of ``qos-policy-input`` (E600i command line reference p. 1133) and ``service-policy input`` (S4820T
reference p. 1115): "Version 7.4.1.0 E-Series Only: Expanded to add support for Layer 2".
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from qosforge.importing import import_configurations, read_configuration
from qosforge.intent.loader import LoadedIntent, parse_intent
from qosforge.plan.model import Trust
from qosforge.platforms.base import platform
from qosforge.platforms.line_rules import ConfigurationLines

from .switch_support import booted, codes, finding, lowered, push, rendered, startup

DEVICE = "e300"
LAYER2 = "7.4.1.0"
SCOPES = [{"interfaces": ["lan", "trunk"], "direction": direction} for direction in ("input", "output")]
REST: dict[str, Any] = {"name": "default", "treatment": {"bandwidth": {"weight": 1}}}
LINES = {
    "class-map": ["class-map match-any one layer2"],
    "QoS policy": ["qos-policy-input one layer2"],
    "policy map": ["policy-map-input one layer2"],
    "service queue": ["policy-map-input one", "service-queue 1 class-map c qos-policy p layer2"],
    "attachment": ["interface GigabitEthernet 0/2", "service-policy input one layer2"],
}


def rich(*classes: dict[str, Any], apply: list[dict[str, Any]] | None = None) -> LoadedIntent:
    document = {"version": 1, "intent": "layers", "classes": list(classes), "apply": apply or SCOPES}
    return parse_intent(json.dumps(document), "layers.yaml")


@pytest.mark.parametrize("lines", LINES.values(), ids=LINES)
@pytest.mark.parametrize("image", ["6.5", "7.3.1.0", "7.4.1.0", "8.4.2.7"])
def test_the_emulated_device_knows_the_word_since_7_4_1(lines: list[str], image: str, tmp_path: Path) -> None:
    box = booted(DEVICE, tmp_path, startup(DEVICE), image)
    unknown = [answer for answer in box.configure(lines) if "Invalid input" in answer]
    assert len(unknown) == (image < "7.4")
    if unknown:
        assert "layer2" not in box.running_text()


@pytest.mark.parametrize(
    ("field", "command"),
    [
        ({"cos": [5]}, "match mac dot1p"),
        ({"vlan": [8]}, "match mac vlan"),
        ({"source_mac": ["00:04:23:aa:00:01"]}, "match mac access-group"),
    ],
)
def test_layer_2_came_with_7_4_1(field: dict[str, Any], command: str, tmp_path: Path) -> None:
    """E600i command line reference p. 1133, S4820T reference p. 1115."""
    loaded = rich({"name": "one", "match": {"any": [field]}, "treatment": {"priority": True}}, REST)
    for image in ("6.5", "7.3.1.0", "7.4"):
        request, result = lowered(DEVICE, loaded, startup(DEVICE), image)
        told = finding(result, "match-line-unsupported")
        assert (told.severity.value, told.traffic_class) == ("error", "one")
        assert told.message == f"image {image} has no '{command}': it came with 7.4.1"
        assert told.hint == "load a newer image, or match by dscp or addresses"
        assert "layer2" not in rendered(DEVICE, request, result)
    assert "match-line-unsupported" not in codes(lowered(DEVICE, loaded, startup(DEVICE), LAYER2)[1])
    push(DEVICE, booted(DEVICE, tmp_path, startup(DEVICE), LAYER2), loaded, LAYER2)


def test_trust_in_the_cos_came_with_7_4_1() -> None:
    one = {"name": "one", "match": {"any": [{"dscp": ["ef"]}]}, "mark": {"dscp": "ef", "cos": 5}}
    scopes = [{**SCOPES[0], "trust": "cos"}, SCOPES[1]]
    loaded = rich({**one, "treatment": {"priority": True}}, REST, apply=scopes)
    request, result = lowered(DEVICE, loaded, startup(DEVICE))
    told = [f for f in result.findings if f.code == "trust-unsupported"]
    assert {f.interface for f in told} == {i.name for i in request.interfaces}
    assert {(f.severity.value, f.requested, f.applied) for f in told} == {("error", "trust cos", "trust dscp")}
    assert all("6.5" in f.message and "7.4.1" in f.message and "newer image" in f.hint for f in told)
    assert "layer2" not in rendered(DEVICE, request, result)
    assert {i.ingress.trust for i in result.plan.interfaces} == {Trust.DSCP}


@pytest.mark.parametrize("image", ["6.5", LAYER2])
def test_import_reads_text_of_layer_2_whatever_the_image(image: str) -> None:
    one = {"name": "one", "match": {"any": [{"cos": [5]}]}, "treatment": {"priority": True}}
    request, result = lowered(DEVICE, rich(one, REST), startup(DEVICE), LAYER2)
    text = startup(DEVICE) + rendered(DEVICE, request, result)
    found = import_configurations([read_configuration(text, "e300.cfg", image=image)], "read")
    assert "{cos: 5}" in found.intents[0].text
    told = [f.message for f in found.findings if f.code == "import-does-not-compile"]
    assert [LAYER2.removesuffix(".0") in message for message in told] == [True] * (image != LAYER2)


@pytest.mark.parametrize("lines", LINES.values(), ids=LINES)
def test_lines_of_layer_2_are_wrong_on_older_releases(lines: list[str]) -> None:
    target = platform("force10_e300")
    text = "".join(f"{' ' * at}{line}\n" for at, line in enumerate(lines))

    def too_new(image: str) -> list[str]:
        held = ConfigurationLines(target.commands.place(text), image)
        found = [fault for rule in target.line_rules for fault in rule(held)]
        return [fault.line.text for fault in found if fault.reason.code == "line-too-new"]

    assert too_new("6.5") == [line for line in lines if "layer2" in line]
    assert too_new(LAYER2) == []


@pytest.mark.parametrize("extra", [{"mark": {"cos": 5}}, {"match": {"any": [{"vlan": [5]}]}}])
def test_a_class_of_layer_2_alone_is_unmarked_for_the_release(extra: dict[str, Any]) -> None:
    one = {"name": "one", "match": {"any": [{"cos": [5]}]}, **extra}
    scopes = [{**SCOPES[0], "trust": "dscp"}, SCOPES[1]]
    loaded = rich({**one, "treatment": {"priority": True}}, REST, apply=scopes)
    told = finding(lowered(DEVICE, loaded, startup(DEVICE))[1], "unmarked-class")
    assert "image 6.5" in told.message
    assert "came with 7.4.1" in told.message
    assert told.hint == "give the class a mark with a dscp, or load a newer image"
