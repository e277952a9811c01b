"""Ports without an input scope: they clear marks, and an output cannot tell classes by marks that never arrive."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from qosforge.compiler.candidate import make_candidate
from qosforge.compiler.compile import CompiledDevice, compile_intent
from qosforge.findings import Finding, Severity
from qosforge.intent.loader import LoadedIntent, parse_intent
from qoslab.packets import Packets

from .catalyst_support import REST, VOICE, WEB, booted, network, startup

OUTPUT = {"role": "access", "interfaces": ["lan", "trunk"], "direction": "output"}


def applied(*scopes: dict[str, Any]) -> LoadedIntent:
    document = {"version": 1, "intent": "test", "classes": [VOICE, WEB, REST], "apply": list(scopes)}
    return parse_intent(json.dumps(document), "test.yaml")


def compiled(device: str, loaded: LoadedIntent, running: str | None = None) -> CompiledDevice:
    result = compile_intent(loaded, network(), {device: running} if running is not None else {})
    return next(d for d in result.devices if d.name == device)


def found(device: CompiledDevice, code: str) -> list[Finding]:
    return [f for f in device.findings if f.code == code]


@pytest.mark.parametrize("device", ["s2950", "s2970"])
@pytest.mark.parametrize("held", ["unknown", "startup"])
def test_marks_that_no_input_trusts_or_sets_are_an_error_for_each_class(device: str, held: str) -> None:
    result = compiled(device, applied(OUTPUT), startup(device) if held == "startup" else None)
    never = found(result, "mark-never-arrives")
    assert [(f.traffic_class, f.severity, f.applied) for f in never] == [
        ("voice-video", Severity.ERROR, "served as default"),
        ("web-and-file", Severity.ERROR, "served as default"),
    ]


@pytest.mark.parametrize("device", ["s2950", "s2970"])
@pytest.mark.parametrize("scope", [{"interfaces": "lan"}, {"interfaces": "trunk"}, {"trust": "phone"}])
def test_one_input_that_marks_or_trusts_is_enough(device: str, scope: dict[str, Any]) -> None:
    loaded = applied(OUTPUT, {"role": "access", "interfaces": "lan", **scope, "direction": "input"})
    assert not found(compiled(device, loaded), "mark-never-arrives")


def test_a_port_that_trusts_marks_already_brings_them() -> None:
    running = startup("s2970").replace("hostname S2970\n", "hostname S2970\nmls qos\n") + (
        "interface GigabitEthernet0/9\n mls qos trust dscp\n"
    )
    assert not found(compiled("s2970", applied(OUTPUT), running), "mark-never-arrives")
    assert found(
        compiled("s2970", applied(OUTPUT), running.replace(" mls qos trust dscp\n", "")), "mark-never-arrives"
    )


def test_trust_of_nothing_is_no_mark_that_arrives() -> None:
    loaded = applied(OUTPUT, {**OUTPUT, "direction": "input", "trust": "none"})
    assert len(found(compiled("s2970", loaded), "mark-never-arrives")) == 2


HOSTS = {"role": "access", "interfaces": "lan", "direction": "input"}


def test_a_2970_names_ports_with_an_output_scope_alone_when_qos_is_switched_on(tmp_path: Path) -> None:
    offline = compiled("s2970", applied(OUTPUT, HOSTS))
    (told,) = found(offline, "marks-reset-elsewhere")
    assert (told.severity, told.variant) == (Severity.WARNING, "offline")
    assert "GigabitEthernet0/1, and those" in told.message
    assert "GigabitEthernet0/5" not in told.message

    box = booted("s2970", tmp_path, startup("s2970").replace("!\nend\n", "interface GigabitEthernet0/9\nend\n"))
    before = box.running_text()
    result = compiled("s2970", applied(OUTPUT, HOSTS), before)
    (told,) = found(result, "marks-reset-elsewhere")
    assert told.message.endswith(" GigabitEthernet0/1, GigabitEthernet0/9")
    # The emulated switch does what was told.
    voice = [Packets(1, 200, dscp=34, cos=5, tagged=True)]
    (kept,) = box.offer("GigabitEthernet0/1", "GigabitEthernet0/6", voice, 0)
    assert box.configure(make_candidate(result, before).delta) == []
    (reset,) = box.offer("GigabitEthernet0/1", "GigabitEthernet0/6", voice, 0)
    assert (kept.dscp_out, reset.dscp_out) == (34, 0)


def test_a_2970_with_inputs_everywhere_tells_of_ports_outside_the_intent() -> None:
    everywhere = applied(OUTPUT, {**OUTPUT, "direction": "input"})
    (told,) = found(compiled("s2970", everywhere), "marks-reset-elsewhere")
    assert (told.severity, told.variant) == (Severity.INFO, "unknown")
    assert not found(compiled("s2970", everywhere, startup("s2970")), "marks-reset-elsewhere")
    switched_on = startup("s2970").replace("hostname S2970\n", "hostname S2970\nmls qos\n")
    assert not found(compiled("s2970", applied(OUTPUT, HOSTS), switched_on), "marks-reset-elsewhere")
