"""Policers of the Catalysts: steps, lists of bursts, one policer a class-map, one map of what exceeds."""

from __future__ import annotations

from typing import Any

import pytest

from qosforge.findings import Finding
from qosforge.plan.model import Action, Policer
from qosforge.platforms.base import LoweredDevice
from qosforge.platforms.catalyst_2950.capabilities import CAPABILITIES

from .catalyst_support import BOXES, REST, intent, lowered, port, rendered, request_for


def policed(name: str, dscp: str, rate: str, **police: Any) -> dict[str, Any]:
    return {
        "name": name,
        "match": {"any": [{"dscp": [dscp]}]},
        "mark": {"dscp": dscp},
        "treatment": {"police": {"rate": rate, **police}},
    }


def found(result: LoweredDevice, code: str) -> list[Finding]:
    return [f for f in result.findings if f.code == code]


def policers(result: LoweredDevice, name: str) -> list[Policer | None]:
    return [rule.police for rule in port(result.plan, name).ingress.rules]


def test_ports_of_a_2950_have_policers_of_their_kind() -> None:
    request, result = lowered("s2950", intent(policed("bulk", "af21", "13 Mb/s", burst="10000 B"), REST))
    assert policers(result, "FastEthernet0/1") == [Policer(rate=13_000_000, burst=8192)]
    assert policers(result, "GigabitEthernet0/2") == [Policer(rate=16_000_000, burst=8192)]
    (rate,) = found(result, "police-rate-approximate")
    assert (rate.severity, rate.requested, rate.applied) == ("error", "13 Mb/s", "16 Mb/s")
    assert {(f.requested, f.applied) for f in found(result, "police-burst-approximate")} == {
        ("10000 bytes", "8192 bytes")
    }
    text = rendered("s2950", request, result)
    assert "policy-map QOSFORGE-IN\n class bulk-D\n  set ip dscp 18\n  police 13000000 8192" in text
    assert "policy-map QOSFORGE-IN-G\n class bulk-D\n  set ip dscp 18\n  police 16000000 8192" in text
    assert text.count("service-policy input QOSFORGE-IN\n") == 1
    assert text.count("service-policy input QOSFORGE-IN-G\n") == 1


@pytest.mark.parametrize(
    ("kind", "requested", "held"),
    [
        ("FastEthernet", 64_000, 1_000_000),
        ("FastEthernet", 2_500_000, 2_000_000),
        ("FastEthernet", 2_500_001, 3_000_000),
        ("FastEthernet", 400_000_000, 100_000_000),
        ("GigabitEthernet", 12_000_001, 16_000_000),
        ("GigabitEthernet", 2_000_000_000, 1_016_000_000),
    ],
)
def test_the_nearest_step(kind: str, requested: int, held: int) -> None:
    assert CAPABILITIES.police[kind].rate.nearest(requested) == held


def test_a_preferred_policer_far_from_a_step_is_a_warning() -> None:
    _, result = lowered("s2950", intent(policed("bulk", "af21", "13 Mb/s", prefer=True), REST))
    assert {f.severity for f in found(result, "police-rate-approximate")} == {"warning"}


def test_a_2970_polices_at_any_rate() -> None:
    _, result = lowered("s2970", intent(policed("bulk", "af21", "1234567 b/s", burst="9001 B"), REST))
    assert policers(result, "GigabitEthernet0/5") == [Policer(rate=1_234_567, burst=9001)]
    assert found(result, "police-rate-approximate") == []


def test_a_2970_has_one_map_of_what_exceeds() -> None:
    first = policed("first", "af31", "8 Mb/s", exceed={"remark": "af32"})
    request, result = lowered(
        "s2970", intent(first, policed("second", "af21", "8 Mb/s", exceed={"precedence": 1}), REST)
    )
    assert result.plan.system.policed_dscp is not None
    assert {d: to for d, to in enumerate(result.plan.system.policed_dscp) if d != to} == {26: 28, 18: 8}
    assert "mls qos map policed-dscp 18 to 8\nmls qos map policed-dscp 26 to 28\n" in rendered(
        "s2970", request, result
    )

    clash = policed("clash", "cs3", "8 Mb/s", exceed={"remark": "cs1"}) | {"mark": {"dscp": "af31"}}
    _, result = lowered("s2970", intent(first, clash, REST))
    (refused,) = found(result, "police-unsupported")
    assert (refused.severity, refused.traffic_class) == ("error", "clash")
    assert "class first has it make af32 of af31, not cs1" in refused.message
    rules = {r.name: r.police for r in port(result.plan, "GigabitEthernet0/5").ingress.rules}
    assert rules["first-D"] == Policer(rate=8_000_000, burst=250_000, exceed=Action(set_dscp=28))
    assert rules["clash-D"] is None


@pytest.mark.parametrize(
    ("device", "police"),
    [
        ("s2950", {"exceed": {"remark": "af22"}}),
        ("s2950", {"exceed": {"cos": 1}}),
        ("s2950", {"exceed": "transmit"}),
        ("s2970", {"exceed": {"cos": 1}}),
        ("s2970", {"exceed": "transmit"}),
    ],
)
@pytest.mark.parametrize("prefer", [False, True])
def test_what_a_policer_cannot_do(device: str, police: dict[str, Any], prefer: bool) -> None:
    _, result = lowered(device, intent(policed("bulk", "af21", "8 Mb/s", prefer=prefer, **police), REST))
    (refused,) = found(result, "police-unsupported")
    assert refused.severity == ("warning" if prefer else "error")
    assert refused.applied == "not policed"
    host = "FastEthernet0/1" if device == "s2950" else "GigabitEthernet0/5"
    assert policers(result, host) == [None]


@pytest.mark.parametrize("device", ["s2950", "s2970"])
def test_class_maps_that_cannot_be_one_are_policed_apart(device: str) -> None:
    entry = policed("bulk", "af21", "8 Mb/s") | {
        "match": {"any": [{"dscp": ["af21"]}, {"source_mac": "00:1b:54:aa:bb:cc"}]}
    }
    _, result = lowered(device, intent(entry, REST))
    assert {(f.severity.value, f.requested, f.applied) for f in found(result, "police-per-match")} == {
        ("error", "8 Mb/s together", "8 Mb/s each, up to 16 Mb/s together")
    }


def test_a_fast_port_of_a_2950_has_six_policers() -> None:
    points = ("cs1", "af11", "cs2", "af21", "cs3", "af31", "cs4")
    entries = [policed(f"c{n}", dscp, "8 Mb/s") for n, dscp in enumerate(points)]
    _, result = lowered("s2950", intent(*entries, REST))
    (over,) = found(result, "too-many-policers")
    assert (over.severity, over.requested, over.applied) == ("error", "7 policers", "6 policers at most")
    _, six = lowered("s2950", intent(*entries[:6], REST))
    assert found(six, "too-many-policers") == []


def test_a_standard_image_polices_nothing() -> None:
    request = request_for("s2950", intent(policed("bulk", "cs2", "8 Mb/s"), REST), image="12.1EA-SI")
    result = BOXES["s2950"].lower(request, None)
    (refused,) = found(result, "police-unsupported")
    assert (refused.severity, refused.traffic_class) == ("error", "bulk")
