"""What is exported comes back: import after export is exactly the part of a plan that OpenConfig can carry."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from qosforge.compiler.compile import CompiledDevice
from qosforge.openconfig.read import import_document
from qosforge.openconfig.restrict import restrict
from qosforge.openconfig.write import export_plan
from qosforge.plan.model import Plan

from .plans import APPLICATIONS, PLANS, SETTINGS, compiled


def back(plan: Plan) -> Plan:
    text = json.dumps(export_plan(plan, APPLICATIONS).document)
    imported = import_document(text, device=plan.device, platform=plan.platform)
    assert imported.findings == ()
    return imported.plan


@SETTINGS
@given(PLANS)
def test_import_after_export_is_the_restriction(plan: Plan) -> None:
    assert back(plan) == restrict(plan, APPLICATIONS).plan


@SETTINGS
@given(PLANS)
def test_restricting_twice_changes_nothing_more(plan: Plan) -> None:
    once = restrict(plan, APPLICATIONS).plan
    assert restrict(once, {}).plan == once


@pytest.mark.parametrize("device", compiled(), ids=lambda d: f"{d.request.intent}-{d.name}")
def test_the_library_comes_back(device: CompiledDevice) -> None:
    assert back(device.plan) == restrict(device.plan, APPLICATIONS).plan


def test_the_same_plan_gives_the_same_bytes() -> None:
    device = compiled()[0]
    first, second = (json.dumps(export_plan(device.plan, APPLICATIONS).document) for _ in range(2))
    assert first == second
