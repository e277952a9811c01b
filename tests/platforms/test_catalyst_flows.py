"""A 2970 recognises flows by an access list; what one class-map there cannot hold is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from qosforge.compiler.candidate import find_plan_differences, make_candidate
from qosforge.compiler.compile import compile_intent
from qosforge.findings import Severity
from qosforge.platforms.catalyst_2970 import PLATFORM

from .catalyst_support import REST, booted, intent, network, startup

SHARE = {"bandwidth": {"remaining_percent": 70}}
FLOW = {"protocol": ["tcp", "udp"], "source": "10.1.0.0/16", "destination_port": ["5060", "8000-8080"]}


def a_class(*alternatives: dict[str, Any], **match: Any) -> dict[str, Any]:
    return {
        "name": "calls",
        "match": {"any": list(alternatives), **match},
        "mark": {"dscp": "af31", "cos": 3},
        "treatment": SHARE,
    }


def test_flows_are_taken_by_the_box_and_read_back(tmp_path: Path) -> None:
    loaded = intent(a_class(FLOW, {"destination": "10.2.0.9/32"}, {"dscp": "af31"}), REST)
    box = booted("s2970", tmp_path, startup("s2970"))
    before = box.running_text()
    compiled = compile_intent(loaded, network(), {"s2970": before})
    device = next(d for d in compiled.devices if d.name == "s2970")
    assert [f.message for f in device.findings if f.severity is Severity.ERROR] == []
    assert "permit udp 10.1.0.0 0.0.255.255 any range 8000 8080" in device.text
    assert "permit ip any host 10.2.0.9" in device.text

    candidate = make_candidate(device, before)
    assert box.configure(candidate.delta) == []
    assert find_plan_differences(device.plan, PLATFORM.parse(box.running_text(), "s2970", "12.2")) == ()
    assert box.configure(candidate.inverse) == []
    assert box.running_text() == before


@pytest.mark.parametrize(
    "alternative",
    [
        {**FLOW, "source_mac": "00:1b:54:aa:bb:cc"},
        {"application": "http", "source": "10.1.0.0/16"},
        {"cos": 3, "dscp": "ef"},
    ],
)
def test_what_one_class_map_cannot_hold_is_refused(alternative: dict[str, Any]) -> None:
    compiled = compile_intent(intent(a_class(alternative), REST), network())

    device = next(d for d in compiled.devices if d.name == "s2970")
    assert [f.code for f in device.findings if f.severity is Severity.ERROR] == ["match-unsupported"]
    assert "permit" not in device.text
