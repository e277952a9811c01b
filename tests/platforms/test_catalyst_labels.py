"""A trusted CoS finds its class's queue on a 2970, by the map of CoS as by that of the DSCP that is made of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from qosforge.intent.loader import LoadedIntent, parse_intent
from qoslab.boxes.catalyst_2970 import Catalyst2970
from qoslab.clock import Clock
from qoslab.packets import Packets
from qoslab.spec import BoxSpec
from qoslab.storage import Storage

from .catalyst_support import BOXES, delta, lowered, rendered, startup

BY_COS = """
version: 1
intent: by-cos
classes:
  - {name: q3, match: {any: [{cos: [6, 7]}]}, treatment: {bandwidth: {weight: 4}}}
  - {name: q2, match: {any: [{cos: [4, 5]}]}, treatment: {bandwidth: {weight: 3}}}
  - {name: q1, match: {any: [{cos: [2, 3]}]}, treatment: {bandwidth: {weight: 2}}}
  - {name: default, treatment: {bandwidth: {weight: 1}}}
apply:
  - {role: access, interfaces: [lan, trunk], direction: input, trust: cos}
  - {role: access, interfaces: [lan, trunk], direction: output}
"""
BESIDE_DSCPS = BY_COS.replace("{any: [{cos: [4, 5]}]}", "{any: [{cos: [4, 5]}, {dscp: af41}]}").replace(
    "{any: [{cos: [2, 3]}]}", "{any: [{cos: [2, 3]}, {dscp: 33}]}"
)
"""A DSCP that a class lists stays the class's, whatever CoS it has."""
MAPPED = BY_COS + "cos_to_dscp: [0, 8, 16, ef, 32, 40, 48, 56]\n"
"""A CoS that becomes the DSCP of another precedence."""


def queues(text: str, folder: Path, *, cos_label: bool) -> list[str]:
    """How the packets of each CoS are served that a trunk brings."""
    loaded: LoadedIntent = parse_intent(text, "by-cos.yaml")
    running = startup("s2970")
    request, result = lowered("s2970", loaded, running)
    lines, _ = delta(BOXES["s2970"].grammar, running, rendered("s2970", request, result))
    features = {"cos_label": cos_label}
    spec = BoxSpec(name="s2970", platform="catalyst_2970", username="u", password="p", features=features)
    box = Catalyst2970(spec, Storage(folder, running), Clock())
    box.boot()
    assert box.configure(lines) == []
    offered = [Packets(1, 64, cos=cos) for cos in range(8)]
    return [o.egress_class for o in box.offer("GigabitEthernet0/1", "GigabitEthernet0/5", offered, 1.0)]


@pytest.mark.parametrize("cos_label", [False, True])
@pytest.mark.parametrize("text", [BY_COS, BESIDE_DSCPS, MAPPED])
def test_a_trusted_cos_is_served_as_its_class(text: str, cos_label: bool, tmp_path: Path) -> None:
    shares = queues(text, tmp_path, cos_label=cos_label)

    assert shares == [f"shared {weight}" for weight in (1, 1, 2, 2, 3, 3, 4, 4)]


def test_dscps_that_classes_list_stay_theirs() -> None:
    _, result = lowered("s2970", parse_intent(BESIDE_DSCPS, "by-cos.yaml"))
    to_queue = result.plan.system.dscp_to_queue
    assert to_queue is not None

    assert to_queue[33] == to_queue[16] == to_queue[24]
    assert to_queue[34] == to_queue[32] == to_queue[40]
    assert len({to_queue[d] for d in (0, 16, 32, 48)}) == 4
