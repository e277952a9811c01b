"""The compiler's self-check."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qosforge.compiler.compile import CompiledDevice
from qosforge.findings import Severity
from qosforge.plan.model import Efficiency
from qosforge.validation.context import ValidationContext
from qosforge.validation.lines import check_lines
from qosforge.validation.rendering import check_rendering
from tests.validation.support import RUNNING, compiled, with_device, with_interface


def findings(compilation, running):
    return list(check_rendering(ValidationContext(compilation, running)))


def line_faults(compilation, running):
    return list(check_lines(ValidationContext(compilation, running)))


@pytest.mark.parametrize("running", [{}, RUNNING], ids=["alone", "merged"])
def test_sound_compilation_reads_back(running: dict[str, str]) -> None:
    assert findings(compiled(running=running), running) == []


@pytest.mark.parametrize("running", [{}, RUNNING], ids=["alone", "merged"])
def test_text_that_does_not_say_the_plan_is_an_error(running: dict[str, str]) -> None:
    wrong = with_interface(compiled(), "r2", "Multilink1", efficiency=Efficiency(multilink=True, ip_mtu=300))
    found = findings(wrong, running)
    assert {(f.code, f.severity, f.device) for f in found} == {("round-trip", Severity.ERROR, "r2")}
    assert "Multilink1 efficiency" in found[0].message


def test_bundle_that_the_box_does_not_have_is_an_error() -> None:
    running = {**RUNNING, "r3": RUNNING["r3"].replace(" ppp multilink\n", "")}
    assert [(f.code, f.device) for f in findings(compiled(), running)] == [("round-trip", "r3")]


def test_interface_missing_in_text_is_an_error() -> None:
    def lose(device: CompiledDevice) -> CompiledDevice:
        return replace(device, blocks=tuple(b for b in device.blocks if b.name != "Serial0/0"))

    found = findings(with_device(compiled(), "r1", lose), RUNNING)
    assert [f.code for f in found] == ["round-trip"]
    assert "Serial0/0 egress" in found[0].message


def test_bandwidth_of_the_box_is_not_blamed_on_the_compiler() -> None:
    running = {name: text.replace(" bandwidth 2000\n", "") for name, text in RUNNING.items()}
    assert findings(compiled(running=running), running) == []


def _without_class_map(device: CompiledDevice) -> CompiledDevice:
    return replace(device, blocks=tuple(b for b in device.blocks if (b.kind, b.name) != ("class-map", "voice")))


def test_reference_to_nothing_names_the_line() -> None:
    found = line_faults(with_device(compiled(), "r2", _without_class_map), RUNNING)
    dangling = [f for f in found if f.code == "dangling-reference"]
    assert [(f.device, f.severity) for f in dangling] == [("r2", Severity.ERROR)]
    assert "'class voice' in policy-map QOSFORGE-OUT refers to class-map voice" in dangling[0].message


def test_reference_may_be_resolved_by_what_the_box_holds() -> None:
    held = "class-map match-any voice\n match dscp af41\n!\n" + RUNNING["r2"]
    assert line_faults(with_device(compiled(), "r2", _without_class_map), {**RUNNING, "r2": held}) == []


def test_missing_policy_is_found_at_the_interface() -> None:
    def lose(device: CompiledDevice) -> CompiledDevice:
        return replace(device, blocks=tuple(b for b in device.blocks if b.kind != "policy-map"))

    found = [f for f in line_faults(with_device(compiled(), "r2", lose), {}) if f.code == "dangling-reference"]
    assert [f.interface for f in found] == ["Serial0/1", "Multilink1"]
