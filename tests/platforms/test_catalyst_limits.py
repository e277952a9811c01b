"""What the Catalysts can do beyond the campus intent: the emulated device takes it, holds it and gives it back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from qosforge.compiler.candidate import find_plan_differences, make_candidate
from qosforge.compiler.compile import CompiledDevice, compile_intent
from qosforge.findings import Severity

from .catalyst_support import BOXES, PHONES, REST, VOICE, WEB, booted, intent, network, startup

DEVICES = ("s2950", "s2970")


def a_class(name: str, match: dict[str, Any], dscp: str | None = None, **treatment: Any) -> dict[str, Any]:
    mark = {} if dscp is None else {"mark": {"dscp": dscp}}
    return {"name": name, "match": {"any": [match]}, "treatment": treatment} | mark


def compiled(device: str, classes: tuple[dict[str, Any], ...], running: str, **more: Any) -> CompiledDevice:
    loaded = intent(*classes, **more)
    return next(d for d in compile_intent(loaded, network(), {device: running}).devices if d.name == device)


def pushed(
    device: str, folder: Path, *classes: dict[str, Any], before: str | None = None, **more: Any
) -> CompiledDevice:
    """Compile, put into the emulated device, read back, compare, and take back."""
    box = booted(device, folder, before or startup(device))
    original = box.running_text()
    result = compiled(device, classes, original, **more)
    candidate = make_candidate(result, original)
    assert box.configure(candidate.delta) == []
    held = BOXES[device].parse(box.running_text(), device, result.request.image)
    assert find_plan_differences(result.plan, held) == ()
    assert held.unknown == ()
    assert make_candidate(compiled(device, classes, box.running_text(), **more), box.running_text()).empty
    assert box.configure(candidate.inverse) == []
    assert box.running_text() == original
    return result


def errors(device: CompiledDevice) -> list[str]:
    return [f.code for f in device.findings if f.severity is Severity.ERROR]


INTENTS: dict[str, tuple[dict[str, Any], ...]] = {
    "mac": (
        a_class("phones", {"source_mac": "00:1b:54:aa:bb:cc"}, "cs3", bandwidth={"remaining_percent": 40}),
        REST,
    ),
    "precedence": (
        a_class("gold", {"precedence": [3, 4]}, "cs3", bandwidth={"remaining_percent": 40}),
        REST,
    ),
    "flow": (
        a_class("calls", {"protocol": "udp", "destination_port": "5060", "dscp": ["cs3", "af31"]}, "cs3"),
        REST,
    ),
    "police": (
        PHONES | {"treatment": {"priority": {"percent": 30}, "police": {"rate": "24 Mb/s", "burst": "32768 B"}}},
        WEB,
        REST,
    ),
    "police-default": (PHONES, REST | {"treatment": {"police": {"rate": "16 Mb/s"}}}),
    "remark": (
        a_class("bulk", {"dscp": "af21"}, "af21", police={"rate": "8 Mb/s", "exceed": {"remark": "cs1"}}),
        REST,
    ),
    "weights": (
        PHONES,
        a_class("a", {"dscp": "af31"}, "af31", bandwidth={"weight": 7}),
        {"name": "default", "treatment": {"bandwidth": {"weight": 3}}},
    ),
}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", INTENTS)
def test_both_boxes_take_it_hold_it_and_give_it_back(device: str, name: str, tmp_path: Path) -> None:
    result = pushed(device, tmp_path, *INTENTS[name])
    assert errors(result) == []


BULK_LIMIT = {"queue_limit": {"packets": 90}}
CURVES = {
    "profiles": [
        {"dscp": "af21", "minimum": "30 packets", "maximum": "60 packets"},
        {"dscp": "af22", "minimum": "20 packets", "maximum": "40 packets"},
        {"dscp": "af23", "minimum": "10 packets", "maximum": "20 packets"},
    ]
}
SRR: dict[str, tuple[dict[str, Any], ...]] = {
    "shape": (
        a_class("bulk", {"dscp": "af11"}, "af11", shape={"rate": "20 Mb/s"}, bandwidth={"remaining_percent": 70}),
        REST,
    ),
    "bounded": (
        a_class("bulk", {"dscp": "af11"}, "af11", bandwidth={"remaining_percent": 25}, bounded=True),
        REST,
    ),
    "limits": (a_class("bulk", {"dscp": "af11"}, "af11", bandwidth={"remaining_percent": 70}, **BULK_LIMIT), REST),
    "limit-bytes": (VOICE, WEB | {"treatment": {"queue_limit": {"bytes": "60 kB"}}}, REST),
    "curves": (
        VOICE,
        a_class(
            "data", {"dscp": ["af21", "af22", "af23"]}, "af21", bandwidth={"remaining_percent": 60}, wred=CURVES
        ),
        REST,
    ),
    "colours": (
        a_class("data", {"dscp": ["af21", "af22", "af23"]}, "af21", bandwidth={"remaining_percent": 60}, wred=True),
        REST,
    ),
}


@pytest.mark.parametrize("name", SRR)
def test_a_2970_takes_it_holds_it_and_gives_it_back(name: str, tmp_path: Path) -> None:
    result = pushed("s2970", tmp_path, *SRR[name])
    assert errors(result) == []


def test_a_policy_on_another_port_may_look_at_a_list_that_is_not_there() -> None:
    lost = """\
class-map match-all lost
 match access-group name NOWHERE
policy-map lost
 class lost
  set ip dscp 46
interface FastEthernet0/20
 service-policy input lost
"""
    text = lost + startup("s2950")
    flow = {"protocol": ["tcp"], "destination_port": [80]}
    assert compiled("s2950", (a_class("web", flow, "af21"), {"name": "default"}), text).text
