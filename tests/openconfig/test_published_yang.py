"""Documents are valid under the published OpenConfig modules, by a YANG library that checks types, keys,
references and conditions.

This module is collected only where the modules are: in ``shared/yang`` beside the checkout, as in CI.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from yangson.exceptions import YangsonException

from qosforge.compiler.compile import CompiledDevice
from qosforge.openconfig.protocols import PROTOCOLS, protocol_number
from qosforge.openconfig.write import QOS, export_plan
from qosforge.plan.model import Plan

from .plans import APPLICATIONS, PLANS, SETTINGS, compiled
from .schema import check, model


@pytest.mark.parametrize("device", compiled(), ids=lambda d: f"{d.request.intent}-{d.name}")
def test_the_library_is_valid(device: CompiledDevice) -> None:
    check(export_plan(device.plan, APPLICATIONS).document)


@SETTINGS
@given(PLANS)
def test_whatever_is_exported_is_valid(plan: Plan) -> None:
    check(export_plan(plan, APPLICATIONS).document)


def _out_of_range(qos: Any) -> None:
    qos["queues"]["queue"][0]["config"]["queue-id"] = 256


def _dangling(qos: Any) -> None:
    qos["forwarding-groups"]["forwarding-group"][0]["config"]["output-queue"] = "nowhere"


def _unknown_leaf(qos: Any) -> None:
    qos["queues"]["queue"][0]["config"]["colour"] = "green"


def _number_for_text(qos: Any) -> None:
    rows = qos["scheduler-policies"]["scheduler-policy"][0]["schedulers"]["scheduler"]
    rows[-1]["inputs"]["input"][0]["config"]["weight"] = 70


def _port(qos: Any) -> None:
    term = qos["classifiers"]["classifier"][0]["terms"]["term"][0]
    term.setdefault("conditions", {})["transport"] = {"config": {"source-port": "70000..80000"}}


@pytest.mark.parametrize("damage", [_out_of_range, _dangling, _unknown_leaf, _number_for_text, _port])
def test_the_check_sees_what_is_wrong(damage: Callable[[Any], None]) -> None:
    document = copy.deepcopy(export_plan(compiled()[0].plan, APPLICATIONS).document)
    check(document)
    damage(document[QOS])
    with pytest.raises(YangsonException):
        check(document)


def test_every_protocol_of_the_model_has_its_number() -> None:
    published = {
        identity[0]
        for identity, entry in model().schema_data.identity_adjs.items()
        if ("IP_PROTOCOL", "openconfig-packet-match-types") in entry.bases
    }
    assert published == set(PROTOCOLS.values())
    assert {protocol_number(name) for name in published} == set(PROTOCOLS)
