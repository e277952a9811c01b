"""ATM PVCs and Frame Relay circuits: contracts, map classes, and the policies on them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qosforge.configtree import merge, transition
from qosforge.findings import Severity
from qosforge.inventory.models import Circuit, Framing
from qosforge.plan.model import CircuitPlan as Contract
from qosforge.plan.request import EfficiencyRequest, InterfaceRequest
from qosforge.platforms.cisco_ios import PLATFORM

from .ios_support import a_class, booted, errors, lowered, of, port, pushed, requested, text_of

ATM = """\
hostname R9
ip cef
interface ATM1/0
 no ip address
interface ATM1/0.108 point-to-point
 description to the other side
 ip address 192.0.2.1 255.255.255.252
 pvc 4/108
  encapsulation aal5snap
"""
RELAY = """\
hostname R9
ip cef
interface Serial0/0
 no ip address
 encapsulation frame-relay
 tx-ring-limit 7
interface Serial0/0.1 point-to-point
 ip address 192.0.2.1 255.255.255.252
 frame-relay interface-dlci 100
interface Serial0/0.2 point-to-point
 ip address 192.0.2.5 255.255.255.252
 frame-relay interface-dlci 200
"""
GOLD = a_class("gold", 5, treatment={"bandwidth": {"rate": 40_000}})
SUB, PVC = "Serial0/0.1", "ATM1/0.108"


def pvc(rate: int = 155_000_000, usable: int = 2_000_000, **more: Any) -> InterfaceRequest:
    wanted = {
        "name": PVC, "rate": rate, "usable": usable, "shape": usable, "framing": Framing.ATM, "schedule": True,
        "circuit": Circuit(vpi=4, vci=108),
    }  # fmt: skip
    return InterfaceRequest(**{**wanted, **more})


def relayed(usable: int = 64_000, **more: Any) -> InterfaceRequest:
    wanted = {
        "name": SUB, "rate": 2_000_000, "usable": usable, "shape": usable, "framing": Framing.FRAME_RELAY,
        "schedule": True, "circuit": Circuit(dlci=100),
    }  # fmt: skip
    return InterfaceRequest(**{**wanted, **more})


def test_a_pvc_holds_its_contract_its_ring_and_the_policy() -> None:
    ring = EfficiencyRequest(transmit_ring=5)

    result, box = pushed(requested(GOLD, interfaces=(pvc(efficiency=ring),)), ATM)

    assert errors(result) == []
    held = port(result, PVC)
    assert held.circuit == Contract(vpi=4, vci=108, sustained=2_000_000, peak=2_000_000, burst=1)
    assert (held.bandwidth_kbps, held.egress.transmit_ring) == (2000, 5)
    text = box.running_text()
    assert "interface ATM1/0.108 point-to-point\n" in text
    for line in ("  vbr-nrt 2000 2000 1\n", "  tx-ring-limit 5\n", "  service-policy output QOSFORGE-OUT\n"):
        assert line in text
    assert "encapsulation aal5snap\n" in text
    assert "shape" not in text


def test_the_rule_of_three_quarters_is_of_the_circuit() -> None:
    def judged(rate: int) -> list[str]:
        voice = a_class("voice", 7, treatment={"priority": {"rate": 800_000}})
        others = [a_class(f"p{n}", n, treatment={"bandwidth": {"rate": 100_000}}) for n in range(1, 7)]
        last = a_class("default", treatment={"bandwidth": {"rate": rate}})
        return errors(lowered(requested(voice, *others, last, interfaces=(pvc(),))))

    assert judged(100_000) == []
    assert judged(101_000) == ["reserved-bandwidth-exceeded"]


def test_a_contract_that_the_box_has_stays() -> None:
    result, box = pushed(requested(GOLD, interfaces=(pvc(),)), ATM + "  vbr-nrt 4000 2000 32\n")

    assert port(result, PVC).circuit == Contract(vpi=4, vci=108, sustained=2_000_000, peak=4_000_000, burst=32)
    assert "  vbr-nrt 4000 2000 32\n" in box.running_text()


def test_a_constant_rate_stays_too() -> None:
    held = PLATFORM.parse(ATM + "  cbr 2000\n", "r9", "12.4")
    wanted = requested(GOLD, interfaces=(pvc(),))
    result = PLATFORM.lower(wanted, held)
    grammar = PLATFORM.grammar
    current = grammar.parse(ATM + "  cbr 2000\n")

    target = merge(current, grammar.parse(text_of(wanted, result)), grammar)

    assert "vbr-nrt" not in text_of(wanted, result)
    assert not any("cbr" in line for line in transition(current, target, grammar))
    assert port(result, PVC).circuit == Contract(vpi=4, vci=108, sustained=2_000_000, peak=2_000_000)


@pytest.mark.parametrize(
    ("startup", "code"),
    [
        (ATM + "  vbr-nrt 1000 1000 1\n", "bandwidth-differs"),
        (ATM.replace("4/108", "4/109"), "circuit-missing"),
        (ATM + " pvc 4/109\n", "circuit-missing"),
    ],
    ids=["other rate", "other circuit", "two circuits"],
)
def test_circuits_that_are_not_the_inventorys_are_told(startup: str, code: str) -> None:
    result = PLATFORM.lower(requested(GOLD, interfaces=(pvc(),)), PLATFORM.parse(startup, "r9", "12.4"))

    assert errors(result) == [code]


def test_other_circuits_of_an_interface_are_left_alone() -> None:
    grammar = PLATFORM.grammar
    startup = ATM + " pvc 4/109\n  service-policy output THEIRS\n"
    current = grammar.parse(startup)

    target = merge(current, grammar.parse(text_of(requested(GOLD, interfaces=(pvc(),)))), grammar)

    assert not any("109" in line or "THEIRS" in line for line in transition(current, target, grammar))


def test_a_circuit_is_shaped_by_a_map_class() -> None:
    cut = EfficiencyRequest(header_compression=True, fragment_bytes=80, blocking_delay=0.01)

    result, box = pushed(requested(GOLD, interfaces=(relayed(efficiency=cut),)), RELAY)

    assert errors(result) == []
    held = port(result, SUB)
    assert held.circuit == Contract(dlci=100, sustained=64_000, peak=64_000, burst=640)
    assert held.bandwidth_kbps == 64
    assert (held.efficiency.frame_relay_fragment, held.efficiency.header_compression) == (80, True)
    text = box.running_text()
    for line in (
        " frame-relay traffic-shaping\n",
        " frame-relay ip rtp header-compression\n",
        "  class QOSFORGE-Serial0/0.1\n",
        "map-class frame-relay QOSFORGE-Serial0/0.1\n",
        " frame-relay cir 64000\n",
        " frame-relay bc 640\n",
        " frame-relay be 0\n",
        " frame-relay mincir 64000\n",
        " frame-relay fragment 80\n",
        " service-policy output QOSFORGE-OUT\n",
        " tx-ring-limit 7\n",
    ):
        assert line in text
    assert [(f.requested, f.applied) for f in of(result, "circuits-shaped-beside")] == [("no shaping", "56 kb/s")]


def test_circuits_have_their_rates_before_all_are_shaped() -> None:
    text = text_of(requested(GOLD, interfaces=(relayed(),)))

    assert text.index("  class QOSFORGE-Serial0/0.1\n") < text.index(" frame-relay traffic-shaping\n")


def test_a_change_gives_circuits_their_rates_before_all_are_shaped() -> None:
    """A circuit that is shaped without a map class has 56 kb/s: Cisco CNAP 8.4.7, and FRTS of samples."""
    wanted = requested(GOLD, interfaces=(relayed(),))
    grammar = PLATFORM.grammar
    current = grammar.parse(booted("12.4", RELAY).running_text())
    target = merge(current, grammar.parse(text_of(wanted)), grammar)

    delta, inverse = transition(current, target, grammar), transition(target, current, grammar)

    assert delta.index(" frame-relay traffic-shaping") > delta.index("  class QOSFORGE-Serial0/0.1")
    assert inverse.index(" no frame-relay traffic-shaping") < inverse.index("  no class QOSFORGE-Serial0/0.1")


def test_values_that_the_box_takes_of_itself_are_not_entered() -> None:
    assert "frame-relay cir" not in text_of(requested(GOLD, interfaces=(relayed(56_000),)))
    assert "frame-relay bc" not in text_of(requested(GOLD, interfaces=(relayed(700_000),)))


def test_two_circuits_of_one_interface_have_a_map_class_each() -> None:
    other = relayed(128_000, name="Serial0/0.2", circuit=Circuit(dlci=200))

    result, box = pushed(requested(GOLD, interfaces=(relayed(), other)), RELAY)

    assert of(result, "circuits-shaped-beside") == []
    assert box.running_text().count("map-class frame-relay") == 2
    assert [i.bandwidth_kbps for i in result.plan.interfaces] == [64, 128]


def test_a_circuit_without_a_schedule_loses_its_map_class_and_that_is_told() -> None:
    startup = RELAY.replace("dlci 100\n", "dlci 100\n  class SLOW\n").replace(
        " encapsulation frame-relay\n", " encapsulation frame-relay\n frame-relay traffic-shaping\n"
    )
    startup += "map-class frame-relay SLOW\n frame-relay cir 128000\n"
    wanted = requested(GOLD, interfaces=(relayed(64_000, schedule=False, recognise=True),))

    # A map class of others stays.
    assert of(PLATFORM.lower(wanted, PLATFORM.parse(startup, "r9", "12.4")), "circuit-contract-dropped") == []
    startup += " service-policy output QOSFORGE-OUT\npolicy-map QOSFORGE-OUT\n class class-default\n  bandwidth 8\n"
    result = PLATFORM.lower(wanted, PLATFORM.parse(startup, "r9", "12.4"))
    (finding,) = of(result, "circuit-contract-dropped")
    assert (finding.severity, finding.requested, finding.applied) == (Severity.WARNING, "64 kb/s", "56 kb/s")
    assert port(result, SUB).circuit == Contract(dlci=100)


@pytest.mark.parametrize("image", ["12.0(7)T", "12.1(1)T"])
def test_a_circuit_of_an_old_image_is_shaped_without_a_policy_and_that_is_an_error(image: str) -> None:
    """A policy in a map class came with 12.1(2)T ("Low Latency Queueing for Frame Relay")."""
    result, box = pushed(requested(GOLD, image=image, interfaces=(relayed(),)), RELAY)

    (finding,) = of(result, "circuit-policy-unsupported")
    assert errors(result) == ["circuit-policy-unsupported"]
    assert "12.1(2)T" in finding.message
    assert finding.hint is not None
    assert "frame-relay ip rtp priority" in finding.hint
    assert " frame-relay cir 64000\n" in box.running_text()
    assert "policy-map" not in box.running_text()


def test_a_circuit_takes_a_policy_from_the_release_on_that_brought_it() -> None:
    result, box = pushed(requested(GOLD, image="12.1(2)T", interfaces=(relayed(),)), RELAY)

    assert errors(result) == []
    assert " service-policy output QOSFORGE-OUT\n" in box.running_text()


def test_a_rate_that_no_map_class_has_is_refused() -> None:
    assert errors(lowered(requested(GOLD, interfaces=(relayed(45_000_001),)))) == ["circuit-rate-out-of-range"]


@pytest.mark.parametrize(
    ("startup", "first", "second"),
    [
        (ATM, pvc(), pvc(output_policy="OTHER", efficiency=EfficiencyRequest(transmit_ring=9))),
        (RELAY, relayed(), relayed(128_000, output_policy="OTHER")),
        (
            RELAY,
            relayed(efficiency=EfficiencyRequest(fragment_bytes=80, blocking_delay=0.01)),
            relayed(128_000, efficiency=EfficiencyRequest(fragment_bytes=160, blocking_delay=0.01)),
        ),
    ],
    ids=["pvc", "dlci", "fragments"],
)
def test_one_intent_takes_the_place_of_another(
    startup: str, first: InterfaceRequest, second: InterfaceRequest
) -> None:
    _, box = pushed(requested(GOLD, interfaces=(first,)), startup)

    result, _ = pushed(requested(GOLD, interfaces=(second,)), box.running_text())

    assert port(result, second.name).egress.policy == (second.output_policy or "QOSFORGE-OUT")


WRITTEN = """\
interface Serial0/0
 encapsulation frame-relay
 frame-relay traffic-shaping
 frame-relay class COMMON
interface Serial0/0.1 point-to-point
 frame-relay interface-dlci 100
  class OWN
interface Serial0/0.2 point-to-point
 frame-relay interface-dlci 200
interface Serial0/0.3 point-to-point
 frame-relay interface-dlci 300
  class NOWHERE
interface Serial0/1
 encapsulation frame-relay
interface Serial0/1.1 point-to-point
 frame-relay interface-dlci 100
  class OWN
interface ATM0/0
 pvc 1/32
  ubr 1000
  random-detect
 pvc 1/33
  service-policy output P
map-class frame-relay OWN
 frame-relay cir out 128000
 frame-relay bc 1280
 frame-relay be 0
 no frame-relay adaptive-shaping
 frame-relay fragment 160
 service-policy P
map-class frame-relay COMMON
 frame-relay be 8000
map-class frame-relay UNUSED
 frame-relay holdq 30
class-map match-all C
 match ip dscp ef
policy-map P
 class C
  priority 24
"""


def test_what_people_wrote_is_read_and_the_rest_reported() -> None:
    plan = PLATFORM.parse(WRITTEN, "r9", "12.4")

    own, common, nowhere = (plan.interface(f"Serial0/0.{n}") for n in (1, 2, 3))
    unshaped = plan.interface("Serial0/1.1")
    assert own is not None
    assert own.circuit == Contract(dlci=100, peak=128_000, sustained=64_000, burst=1280)
    assert (own.egress.policy, own.efficiency.frame_relay_fragment, own.bandwidth_kbps) == ("P", 160, 64)
    assert common is not None
    assert common.circuit == Contract(dlci=200, peak=56_000, sustained=28_000, burst=7000)
    assert nowhere is not None
    assert unshaped is not None
    assert (nowhere.circuit, unshaped.circuit) == (Contract(dlci=300), Contract(dlci=100))
    assert unshaped.egress.policy is None
    assert [u.text for u in sorted(plan.unknown, key=lambda u: u.line)] == [
        "class NOWHERE",
        "class OWN",
        "random-detect",
        "service-policy output P",
        "frame-relay be 8000",
        "frame-relay holdq 30",
    ]


ODD = """\
 pvc
 pvc 4/x
 pvc NAME 4/108
 frame-relay interface-dlci
 frame-relay interface-dlci x
  class
 frame-relay class
map-class frame-relay
 frame-relay cir x
 frame-relay fragment 80
  vbr-nrt 2000
  vbr-nrt x y
 rate-limit input
 rate-limit output access-group 9999 8000 1000 1000 conform-action drop exceed-action set-prec-transmit 9
ipv6 access-list S
 permit tcp host
 permit ipv6 2001:db8::/129 any
access-list 150 permit
access-list 5 permit 10.0.0.0 255.0.0
 tx-ring-limit x
"""


@settings(deadline=None, derandomize=True, database=None)
@given(st.lists(st.sampled_from([*WRITTEN.splitlines(), *ODD.splitlines(), "", "!"]), max_size=30))
def test_any_lines_are_read_or_reported(lines: list[str]) -> None:
    plan = PLATFORM.parse("\n".join(lines), "r9", "12.4")

    assert all(entry.text == " ".join(lines[entry.line - 1].split()) for entry in plan.unknown)


@pytest.mark.parametrize(("ietf", "compressed"), [("", True), (" ietf", False)])
def test_headers_are_compressed_in_the_encapsulation_of_cisco_alone(ietf: str, compressed: bool) -> None:
    startup = RELAY.replace("encapsulation frame-relay\n", f"encapsulation frame-relay{ietf}\n")
    smaller = EfficiencyRequest(header_compression=True)

    result, box = pushed(requested(GOLD, interfaces=(relayed(efficiency=smaller),)), startup)

    assert [f.variant for f in of(result, "header-compression-unsupported")] == ([] if compressed else ["ietf"])
    assert (" frame-relay ip rtp header-compression" in box.running_text()) == compressed


def test_a_circuit_may_have_an_encapsulation_of_its_own() -> None:
    startup = RELAY.replace("dlci 100\n", "dlci 100 cisco\n")
    held = [startup.replace("encapsulation frame-relay\n", "encapsulation frame-relay ietf\n")]
    held.append(RELAY.replace("dlci 200\n", "dlci 200 ietf\n"))

    assert [PLATFORM.parse(text, "r9", "12.4").system.ietf_circuits for text in held] == [("Serial0/0.2",)] * 2
