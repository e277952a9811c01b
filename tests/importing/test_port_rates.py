"""Imports of E-Series and 5510 switches whose ports have rates and trust of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from qosforge.findings import has_errors

from .support import compiled_again, imported, told

FTOS = """\
hostname core
qos-policy-output Q1
 bandwidth-percentage 20
qos-policy-output Q3
 bandwidth-percentage 60
policy-map-output pm-out
 service-queue 1 qos-policy Q1
 service-queue 3 qos-policy Q3
policy-map-input pm-in
 trust diffserv
interface GigabitEthernet 1/0
{}
interface GigabitEthernet 1/1
 rate limit 200 vlan 10
"""
PORT = [" dot1p-priority 3", " rate police 400", " rate limit 200 40", " rate shape 500 50"]
POLICIES = [" service-policy input pm-in", " service-policy output pm-out"]
BAYSTACK = "! Model = Ethernet Routing Switch 5510-48T\n"
TRUSTED = f"""\
{BAYSTACK}qos agent queue-set 4
qos if-group name trusted class trusted
qos if-assign port {{}} name trusted
"""


@pytest.mark.parametrize("first", [True, False])
def test_rates_of_a_port_are_told_on_either_side_of_its_policies(first: bool, tmp_path: Path) -> None:
    lines = (*PORT, *POLICIES) if first else (*POLICIES, *PORT)
    found = imported(FTOS.format("\n".join(lines)))
    said = [f"{f.code} {f.interface} {f.message}" for f in found.findings if f.severity != "info"]
    for part in ("output.policers", "output.shape_rate", "input.policers", "input.rules"):
        told_of = f"import-not-expressed GigabitEthernet 1/0 {part} is not what the intent compiles to"
        assert any(line.startswith(told_of) for line in said), part
    assert "import-not-expressed GigabitEthernet 1/1 the language has no word for a meter of the whole port" in said
    assert not any(has_errors(device.findings) for device in compiled_again(found, tmp_path))
    # A queue without a policy of its own has no name: the one that it is given is no loss.
    assert not any(".name is not" in line for line in said)


@pytest.mark.parametrize("ports", ["1-48", "ALL"])
def test_trusted_ports_tell_classes_by_what_they_trust(ports: str, tmp_path: Path) -> None:
    found = imported(TRUSTED.format(ports))
    assert told(found) == []
    (device,) = compiled_again(found, tmp_path)
    assert not has_errors(device.findings)
    assert len(device.plan.interfaces) == 48
    assert device.plan.system.dscp_to_cos is not None
    assert [device.plan.system.dscp_to_cos[dscp] for dscp in (34, 40, 46)] == [5, 6, 6]


def test_a_port_that_is_only_shaped(tmp_path: Path) -> None:
    shaper = "qos if-shaper port 10 shape-rate 20000 max-burst-rate 25000 max-burst-duration 5"
    found = imported(f"{BAYSTACK}interface fastEthernet ALL\n{shaper}\nexit\n")
    (device,) = compiled_again(found, tmp_path)
    assert [(i.name, i.egress.shape_rate) for i in device.plan.interfaces] == [("10", 20_000_000)]
    assert [f.message for f in found.findings if f.severity == "warning"] == [
        "output.shape_burst is not what the intent compiles to"
    ]
