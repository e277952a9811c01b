"""Policies that tunnels get by their NHRP group: read, left as they are, and never changed by the way."""

from __future__ import annotations

from typing import Any

import pytest

from qosforge.compiler.compile import Compilation, compile_intent
from qosforge.findings import Finding
from qosforge.importing import import_configurations, read_configuration
from qosforge.intent.loader import parse_intent
from qosforge.inventory.models import Device, Network
from qosforge.platforms.cisco_ios import PLATFORM
from tests.importing.support import told
from tests.platforms.ios_support import booted

HUB = """\
version 15.4
hostname r9
class-map match-any voice
 match dscp ef
class-map match-any own
 match dscp af31
policy-map TUN
 class voice
  priority percent 10
policy-map WAN
 class own
  bandwidth percent 20
interface Tunnel1
 ip address 10.9.0.1 255.255.255.0
 {words} map group G1 service-policy output TUN
interface GigabitEthernet0/0
 bandwidth 100000
 ip address 10.0.0.1 255.255.255.0
 service-policy output WAN
"""
OLD = HUB.format(words="ip nhrp")


@pytest.mark.parametrize("words", ["ip nhrp", "nhrp"])
def test_the_policy_of_a_group_is_in_the_plan(words: str) -> None:
    plan = PLATFORM.parse(HUB.format(words=words), "r9", "15.4")
    assert plan.unknown == ()
    (held,) = plan.interfaces[0].groups
    assert (held.group, held.egress.policy) == ("G1", "TUN")
    assert [rule.name for rule in held.egress.rules] == ["voice"]
    assert plan.interfaces[0].egress.policy is None


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("map group G1 service-policy output TUN", "map group G1", "ip nhrp map group G1"),
        ("output TUN\n", "output GONE\n", "ip nhrp map group G1 service-policy output GONE"),
        ("  priority percent 10", "  queue-limit 12 %", "queue-limit 12 %"),
    ],
)
def test_what_is_not_understood_of_one_is_named(old: str, new: str, named: str) -> None:
    assert [line.text for line in PLATFORM.parse(OLD.replace(old, new), "r9", "15.4").unknown] == [named]


def test_the_group_of_this_end_is_for_the_other_one() -> None:
    text = OLD.replace(" ip nhrp map group G1 service-policy output TUN\n", " ip nhrp group G1\n")
    assert PLATFORM.parse(text, "r9", "15.4").unknown == ()


def compiled(match: str, percent: int = 10, **scope: Any) -> Compilation:
    ports = [{"name": "GigabitEthernet0/0", "rate": 10**8, "role": "edge"}]
    device = {
        "name": "r9",
        "platform": "cisco_ios",
        "image": "15.4",
        "role": "edge",
        "driver": "ios",
        "interfaces": ports,
    }
    more = "".join(f", {key}: {value}" for key, value in scope.items())
    intent = f"""\
version: 1
intent: made
classes:
  - name: voice
    match: {{any: [{{dscp: {match}}}]}}
    treatment: {{priority: {{percent: {percent}}}}}
  - name: default
apply: [{{devices: r9, ports: GigabitEthernet0/0, direction: output{more}}}]
"""
    network = Network(name="made", devices=(Device.model_validate(device),), links=(), stations=())
    return compile_intent(parse_intent(intent, "made.yaml"), network, {"r9": OLD})


def shared(result: Compilation) -> list[Finding]:
    return [f for f in result.findings if f.code == "policy-shared"]


def test_a_change_of_that_policy_is_refused() -> None:
    (found,) = shared(compiled("ef", 20, policy="TUN"))
    assert (found.interface, found.variant) == ("Tunnel1", "group")
    assert "policy TUN is that of the tunnels of NHRP group G1" in found.message


def test_a_change_of_a_class_of_it_is_refused() -> None:
    (found,) = shared(compiled("cs5"))
    assert (found.interface, found.variant) == ("Tunnel1", "parts")
    assert "voice" in found.message


@pytest.mark.parametrize("policy", [{}, {"policy": "TUN"}])
def test_what_leaves_it_as_it_is_may_share_it(policy: dict[str, str]) -> None:
    assert shared(compiled("ef", **policy)) == []


def test_an_import_says_that_no_intent_has_it() -> None:
    found = import_configurations([read_configuration(OLD, "r9.cfg", device="r9", platform_id="cisco_ios")], "made")
    assert [text for text in told(found) if "G1" in text] != []
    assert [scope.ports for intent in found.intents for scope in intent.loaded.intent.apply] == [
        ("GigabitEthernet0/0",)
    ]


def test_the_emulated_router_keeps_a_policy_that_a_group_has() -> None:
    box = booted("15.4", OLD)
    assert " ip nhrp map group G1 service-policy output TUN\n" in box.running_text()
    assert "being used" in str(box.configure(["no policy-map TUN"]))
    tunnel = ["interface Tunnel1", "ip nhrp map group G2 service-policy output GONE"]
    assert "GONE" in str(box.configure(tunnel))
    assert box.configure(["interface Tunnel1", "no ip nhrp map group G1 service-policy output TUN"]) == []
    assert box.configure(["no policy-map TUN"]) == []
