"""What early releases of a 2970 lack: class-default in input policies, and marking without the word ip."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from qosforge.compiler.candidate import find_plan_differences, make_candidate
from qosforge.compiler.compile import Compilation, compile_intent
from qosforge.validation.context import ValidationContext
from qosforge.validation.rendering import check_rendering
from qoslab.boxes.catalyst_2970 import Catalyst2970
from qoslab.clock import Clock
from qoslab.packets import Packets
from qoslab.spec import BoxSpec
from qoslab.storage import Storage

from .catalyst_support import BOXES, REST, VOICE, WEB, intent, network, startup

POLICED = REST | {"treatment": {"bandwidth": {"remaining_percent": 30}, "police": {"rate": "8 Mb/s"}}}


def compiled(image: str, *classes: dict[str, Any]) -> Compilation:
    campus = network()
    devices = [d.model_copy(update={"image": image}) if d.name == "s2970" else d for d in campus.devices]
    only = [d for d in devices if d.name == "s2970"]
    return compile_intent(intent(*classes), campus.model_copy(update={"devices": tuple(only)}), {})


@pytest.mark.parametrize("image", ["12.2", "12.2(18)SE", "12.2(25)SEE1", "12.2(55)SE"])
def test_what_is_compiled_for_a_release_is_valid_and_its_box_takes_it(image: str, tmp_path: Path) -> None:
    result = compiled(image, VOICE, WEB, POLICED)
    (device,) = result.devices
    assert [f for f in check_rendering(ValidationContext(result, {})) if f.severity == "error"] == []
    spec = BoxSpec(name="s2970", platform="catalyst_2970", image=image, username="u", password="p")
    box = Catalyst2970(spec, Storage(tmp_path, startup("s2970")), Clock())
    box.boot()
    before = box.running_text()
    candidate = make_candidate(device, before)
    assert box.configure(candidate.delta) == []
    running = box.running_text()
    assert ("set ip dscp" in running) == (image == "12.2(18)SE")
    assert "class class-default" not in running
    assert find_plan_differences(device.plan, BOXES["s2970"].parse(running, "s2970", image)) == ()
    assert make_candidate(device, running).delta == ()
    # What no class takes is policed all the same: 8 Mb/s and a burst of a quarter of a second.
    offered = [Packets(1000, 1500, protocol=47)]
    sent, excess = box.offer("GigabitEthernet0/6", "GigabitEthernet0/1", offered, 1.0)
    assert 0 < sent.count < 1000
    assert (excess.count, excess.dropped_in) == (1000 - sent.count,) * 2
    assert box.configure(candidate.inverse) == []
    assert box.running_text() == before


@pytest.mark.parametrize(
    ("image", "applications", "told"),
    [("12.2", True, True), ("12.2", False, False), ("12.2(18)SE", True, False), ("12.2(25)SEE1", True, False)],
)
def test_an_image_without_a_release_is_told_where_it_marks(image: str, applications: bool, told: bool) -> None:
    """Before 12.2(25)SE the switch knows ``set ip dscp`` alone (3560 guide OL-8553-06, p. 34-48)."""
    campus = network()
    devices = [d.model_copy(update={"image": image}) for d in campus.devices if d.name == "s2970"]
    loaded = intent(VOICE, WEB, REST)
    if not applications:
        scopes = tuple(
            s.model_copy(update={"trust": "dscp"}) for s in loaded.intent.apply if s.direction == "input"
        )
        trusting = (*scopes, *(s for s in loaded.intent.apply if s.direction == "output"))
        loaded = replace(loaded, intent=loaded.intent.model_copy(update={"apply": trusting}))
    result = compile_intent(loaded, campus.model_copy(update={"devices": tuple(devices)}), {})

    found = [f for f in result.devices[0].findings if f.code == "release-assumed"]
    assert [(f.severity, "12.2(25)SE" in f.message) for f in found] == [("warning", True)] * told
