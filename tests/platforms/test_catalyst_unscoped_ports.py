"""Ports that an intent leaves alone on a switch whose QoS and maps hold for every port."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from qosforge.findings import Severity
from qosforge.intent.loader import LoadedIntent, parse_intent
from qosforge.platforms.base import LoweredDevice
from qoslab.packets import Packets

from .catalyst_support import BOXES, REST, VOICE, booted, delta, found, lowered, rendered, startup

TRUNK, HOST = "GigabitEthernet0/1", "GigabitEthernet0/5"
UNSHAPED = f"interface {TRUNK}\n srr-queue bandwidth shape 0 0 0 0\n"


def scoped(*classes: dict[str, Any], outputs: list[str]) -> LoadedIntent:
    """An intent that trusts marks everywhere, and serves classes on ports with these tags."""
    where = {"role": "access", "trust": "dscp", "interfaces": ["lan", "trunk"], "direction": "input"}
    apply = [where, *({"role": "access", "interfaces": outputs, "direction": "output"} for _ in outputs[:1])]
    document = {"version": 1, "intent": "test", "classes": list(classes), "apply": apply}
    return parse_intent(json.dumps(document), "test.yaml")


def running(more: str) -> str:
    """What the switch boots with, and more behind it."""
    grammar = BOXES["s2970"].grammar
    _, target = delta(grammar, startup("s2970"), more)
    return "".join(f"{line.text}\n" + "".join(f" {below.text}\n" for below in line.children) for line in target)


def told(result: LoweredDevice) -> bool:
    return any(f.code == "scheduler-device-wide" for f in result.findings)


def test_a_port_outside_the_scope_shapes_the_queue_of_the_class_and_is_told(tmp_path: Path) -> None:
    request, result = lowered("s2970", scoped(VOICE, REST, outputs=["lan"]), startup("s2970"))
    box = booted("s2970", tmp_path, startup("s2970"))
    lines, _ = delta(BOXES["s2970"].grammar, startup("s2970"), rendered("s2970", request, result))
    assert box.configure(lines) == []
    (outcome,) = box.offer(HOST, TRUNK, [Packets(1, 64, dscp=34, tagged=False)], 1.0)
    assert outcome.egress_class == "shaped 25"

    finding = found(result, "scheduler-device-wide")
    assert finding.severity is Severity.WARNING
    assert finding.facts == {"ports": TRUNK, "classes": "voice-video", "weight": 25}


def test_what_has_the_queue_as_delivered_is_told_where_no_output_is_in_scope(tmp_path: Path) -> None:
    request, result = lowered("s2970", scoped(VOICE, REST, outputs=[]), startup("s2970"))
    box = booted("s2970", tmp_path, startup("s2970"))
    lines, _ = delta(BOXES["s2970"].grammar, startup("s2970"), rendered("s2970", request, result))
    assert box.configure(lines) == []
    (outcome,) = box.offer(HOST, TRUNK, [Packets(1, 64, dscp=46, tagged=False)], 1.0)
    assert outcome.egress_class == "shaped 25"

    assert found(result, "scheduler-device-wide").facts["classes"] == "DSCP 40 to 47"


def test_nothing_is_told_where_qos_was_on_and_no_output_is_in_scope() -> None:
    _, result = lowered("s2970", scoped(VOICE, REST, outputs=[]), running("mls qos\n"))

    assert not told(result)


def test_a_port_that_shapes_no_queue_is_not_told() -> None:
    _, result = lowered("s2970", scoped(VOICE, REST, outputs=["lan"]), running("mls qos\n" + UNSHAPED))

    assert not told(result)


def test_a_port_as_delivered_is_told_where_qos_was_on() -> None:
    _, result = lowered("s2970", scoped(VOICE, REST, outputs=["lan"]), running("mls qos\n"))

    assert found(result, "scheduler-device-wide").facts["ports"] == TRUNK


def test_without_a_running_configuration_the_other_ports_are_told_without_their_names() -> None:
    _, result = lowered("s2970", scoped(VOICE, REST, outputs=["lan", "trunk"]))

    finding = found(result, "scheduler-device-wide")
    assert finding.severity is Severity.INFO
    assert finding.variant == "shaped-unknown"


def test_nothing_is_told_where_all_ports_are_in_scope() -> None:
    _, result = lowered("s2970", scoped(VOICE, REST, outputs=["lan", "trunk"]), startup("s2970"))

    assert not told(result)
