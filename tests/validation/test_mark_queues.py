"""Proofs that maps give every mark the queue of its class: nothing on right ones, the mark on wrong ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qosforge.compiler.compile import Compilation, compile_intent
from qosforge.findings import Finding, Severity, has_errors
from qosforge.plan.model import InterfacePlan, Plan
from qosforge.validation.context import ValidationContext
from qosforge.validation.mark_queues import check_mark_queues
from tests.compiler.goldens import LIBRARY, library
from tests.properties.budget import tried
from tests.properties.devices import sites
from tests.properties.harness import loaded
from tests.properties.intents import dialect, intents

POLICY = "campus-collaboration"
"""Voice and video are sent as AF41, web and files as AF21, and trusted behind the edge."""
BY_MAPS = ("catalyst_2950", "catalyst_2970", "nortel_5510", "force10_e300")
AF21, AF41, LEFT_OVER = 18, 34, 20


def _found(compilation: Compilation) -> list[Finding]:
    return list(check_mark_queues(ValidationContext(compilation, {})))


def _with_plan(device: str, change: Callable[[Plan], Plan]) -> Compilation:
    made = library(POLICY)
    devices = tuple(replace(d, plan=change(d.plan)) if d.name == device else d for d in made.devices)
    return replace(made, devices=devices)


def _entry(plan: Plan, name: str, at: int, value: int) -> Plan:
    """A plan with another value in one of the maps of the device."""
    table = list(getattr(plan.system, name))
    table[at] = value
    return plan.model_copy(update={"system": plan.system.model_copy(update={name: tuple(table)})})


def _on_inputs(plan: Plan, change: Callable[[InterfacePlan], InterfacePlan]) -> Plan:
    return plan.model_copy(update={"interfaces": tuple(map(change, plan.interfaces))})


def _with_rule(name: str, **values: object) -> Callable[[InterfacePlan], InterfacePlan]:
    def change(port: InterfacePlan) -> InterfacePlan:
        rules = tuple(r.model_copy(update=values) if r.name == name else r for r in port.ingress.rules)
        return port.model_copy(update={"ingress": port.ingress.model_copy(update={"rules": rules})})

    return change


@pytest.mark.parametrize("policy", LIBRARY)
def test_nothing_is_found_in_what_the_library_becomes(policy: str) -> None:
    assert _found(library(policy)) == []


@pytest.mark.parametrize(
    ("device", "change", "seen"),
    [
        ("catalyst-2950-ei", lambda plan: _entry(plan, "cos_to_queue", 2, 4), "one with DSCP af21"),
        ("catalyst-2950-ei", lambda plan: _entry(plan, "dscp_to_cos", AF21, 5), "one with DSCP af21"),
        ("catalyst-2970", lambda plan: _entry(plan, "dscp_to_queue", AF21, 1), "one with DSCP af21"),
        ("nortel-5510", lambda plan: _entry(plan, "dscp_to_cos", AF21, 5), "one with DSCP af21"),
        ("force10-e300", lambda plan: _on_inputs(plan, _with_rule("web-and--d2e4", queue=4)), "one with DSCP af21"),
        ("force10-e300", lambda plan: _on_inputs(plan, _with_rule("web-and-file", queue=4)), "one of its packets"),
        ("catalyst-2970", lambda plan: _on_inputs(plan, _with_rule("web-and-file-A", set_dscp=AF41)), "one of its"),
    ],
)
def test_a_mark_in_the_queue_of_another_class_is_found(
    device: str, change: Callable[[Plan], Plan], seen: str
) -> None:
    found = [f for f in _found(_with_plan(device, change)) if f.severity is Severity.ERROR]
    assert {(f.device, f.code, f.traffic_class, f.direction) for f in found} == {
        (device, "classification-differs", "web-and-file", "output")
    }
    assert all("served as voice-video: one " in f.message and f.interface and f.line for f in found)
    assert any(seen in f.message for f in found)


def test_a_mark_of_nobody_in_the_queue_of_a_class_is_found_where_marks_are_told_apart() -> None:
    found = _found(_with_plan("catalyst-2970", lambda plan: _entry(plan, "dscp_to_queue", LEFT_OVER, 1)))
    assert {(f.severity, f.traffic_class) for f in found} == {(Severity.WARNING, "default")}
    assert all("served as voice-video: one with DSCP af22" in f.message for f in found)


@pytest.mark.parametrize("platform_id", BY_MAPS)
def test_any_intent_gives_marks_the_queues_of_their_classes(platform_id: str) -> None:
    @tried(0.5)
    @given(st.data())
    def check(data: st.DataObject) -> None:
        words = dialect(platform_id)
        site = data.draw(sites(platform_id))
        intent = loaded(data.draw(intents(words, site)))
        compilation = compile_intent(intent, site.network, {site.device.name: site.startup}) if intent else None
        assert compilation is None or has_errors(compilation.findings) or _found(compilation) == []

    check()
