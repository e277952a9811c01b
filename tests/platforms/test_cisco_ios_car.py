"""CAR where images have no class-based policing: what is asked for, what the box takes, and what others wrote."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qosforge.audit.audit import audit
from qosforge.compiler.candidate import find_plan_differences
from qosforge.configtree import merge, transition
from qosforge.findings import Severity
from qosforge.inventory.models import Device, DeviceRole, Interface, Network
from qosforge.plan.model import DROP, TRANSMIT, Action, InterfacePolicer, Policer, PortRange, Term
from qosforge.plan.request import ClassRequest
from qosforge.plan.request import TermRequest as Alternative
from qosforge.platforms.base import LoweredDevice
from qosforge.platforms.cisco_ios import PLATFORM
from qosforge.platforms.cisco_ios.capabilities import CAPABILITIES

from .ios_support import (
    BEFORE_LLQ,
    STARTUP,
    a_class,
    errors,
    lan,
    line,
    lowered,
    of,
    port,
    pushed,
    requested,
    rest,
    text_of,
)

LAN = "FastEthernet0/0"
ON_LAN: dict[str, Any] = {"image": BEFORE_LLQ, "interfaces": (lan(),)}


def flow(name: str, port_number: int, **more: Any) -> ClassRequest:
    """A class of one UDP port."""
    term = Alternative(
        protocol=(17,), destination=("192.0.2.9/32",), destination_port=((port_number, port_number),)
    )
    return a_class(name, terms=(term,), **more)


def police(**more: Any) -> dict[str, Any]:
    return {"police": {"rate": 1_000_000, "burst": 8000, **more}}


def policers(*classes: ClassRequest, image: str = BEFORE_LLQ) -> tuple[InterfacePolicer, ...]:
    return port(lowered(requested(*classes, image=image, interfaces=(lan(),))), LAN).ingress.policers


def test_one_line_marks_and_polices() -> None:
    wanted = requested(
        flow("seven", 50001, mark={"precedence": 7}, treatment=police()),
        flow("six", 50002, mark={"precedence": 6}, treatment=police(exceed={"precedence": 1})),
        flow("five", 50003, mark={"precedence": 5}),
        image=BEFORE_LLQ,
        interfaces=(lan(),),
    )

    result, box = pushed(wanted)

    assert errors(result) == []
    assert port(result, LAN).ingress.policy is None
    assert (
        " rate-limit input access-group 150 1000000 8000 8000 conform-action set-prec-transmit 7"
        " exceed-action drop\n"
        " rate-limit input access-group 151 1000000 8000 8000 conform-action set-prec-transmit 6"
        " exceed-action set-prec-transmit 1\n"
        " rate-limit input access-group 152 100000000 50000 50000 conform-action set-prec-transmit 5"
        " exceed-action set-prec-transmit 5\n"
    ) in text_of(wanted, result)
    assert "access-list 150 permit udp any host 192.0.2.9 eq 50001\n" in box.running_text()


def test_a_class_with_nothing_to_do_keeps_its_packets_from_those_behind_it() -> None:
    first, second = policers(flow("first", 1), flow("second", 2, mark={"dscp": 46}), flow("third", 3))

    assert (first.police.conform, first.police.exceed) == (TRANSMIT, TRANSMIT)
    assert (second.police.conform, second.police.exceed) == (Action(set_dscp=46), Action(set_dscp=46))


def test_everything_else_is_policed_without_a_list() -> None:
    (first, last) = policers(flow("first", 1), rest(**police(rate=64_000)))

    assert (last.any_of, last.access_list) == ((), None)
    assert last.police == Policer(rate=64_000, burst=8000, conform=TRANSMIT, exceed=DROP)
    assert first.police.exceed == TRANSMIT


@pytest.mark.parametrize(
    ("image", "car"), [("12.0(7)T", True), ("12.1", True), ("12.1(5)T", False), ("12.4", False)]
)
def test_the_train_decides(image: str, car: bool) -> None:
    ingress = port(
        lowered(requested(flow("gold", 9, mark={"dscp": 46}), image=image, interfaces=(lan(),))), LAN
    ).ingress

    assert (bool(ingress.policers), ingress.policy is None) == (car, car)


@pytest.mark.parametrize(
    ("treatment", "numbers"),
    [
        (police(rate=1_001_000), [("1001000 b/s", "1000000 b/s")]),
        (police(rate=20_000_000, burst=1500), [("1500 bytes", "10000 bytes")]),
        (police(rate=8_000, burst=999), [("999 bytes", "1000 bytes")]),
        (police(), []),
    ],
)
def test_steps_and_least_bursts_are_told_with_numbers(
    treatment: dict[str, Any], numbers: list[tuple[str, str]]
) -> None:
    result = lowered(
        requested(
            flow("gold", 9, treatment=treatment), image=BEFORE_LLQ, interfaces=(lan(), lan(name="FastEthernet0/1"))
        )
    )

    assert [(f.requested, f.applied) for f in of(result, "police-approximate")] == numbers
    assert errors(result) == []


@pytest.mark.parametrize("prefer", [True, False])
@pytest.mark.parametrize(
    "more", [{"rate": 7_999}, {"rate": 2_000_000_001}, {"excess_burst": 9000}, {"exceed": {"cos": 1}}]
)
def test_what_car_does_not_do_is_refused(more: dict[str, Any], prefer: bool) -> None:
    wanted = flow("gold", 9, mark={"dscp": 46}, treatment=police(**more, prefer=prefer))

    result = lowered(requested(wanted, image=BEFORE_LLQ, interfaces=(lan(),)))

    (finding,) = of(result, "police-unsupported")
    assert finding.severity is (Severity.WARNING if prefer else Severity.ERROR)
    (held,) = port(result, LAN).ingress.policers
    assert held.police.exceed == Action(set_dscp=46)  # marked all the same


@pytest.mark.parametrize(
    "more",
    [
        {"terms": (Alternative(cos=(5,)),)},
        {"terms": (Alternative(source=("2001:db8::/32",)),)},
        {"terms": (Alternative(application="http", protocol=(6,)),)},
        {"none_of": (Alternative(dscp=(8,)),)},
    ],
    ids=["cos", "ipv6", "application and flow", "none"],
)
def test_what_no_numbered_list_holds_is_refused(more: dict[str, Any]) -> None:
    wanted = a_class("gold", **{"terms": (Alternative(dscp=(46,)),), **more}, mark={"dscp": 46})

    assert "match-combination-unsupported" in errors(
        lowered(requested(wanted, image=BEFORE_LLQ, interfaces=(lan(),)))
    )


def test_applications_are_told_by_their_ports() -> None:
    wanted = a_class("web", terms=(Alternative(application="http"),), mark={"dscp": 18})
    result = lowered(requested(wanted, image=BEFORE_LLQ, interfaces=(lan(),)))

    assert errors(result) == []
    assert len(of(result, "recognised-by-ports")) == 1
    assert Term(protocol=6, destination_ports=(PortRange(first=80, last=80),)) in (
        port(result, LAN).ingress.policers[0].any_of
    )


def test_the_output_tells_classes_by_the_mark_that_the_input_has_set() -> None:
    wanted = flow("gold", 9, mark={"precedence": 5}, treatment={"bandwidth": {"rate": 200_000}})

    result, box = pushed(requested(wanted, image=BEFORE_LLQ, interfaces=(lan(), line(by_mark=True))))

    (rule,) = port(result).egress.rules
    assert (rule.name, rule.any_of) == ("gold", (Term(precedence=(5,)),))
    assert " permit ip any any precedence critical\n" in box.running_text()


@pytest.mark.parametrize("by_mark", [True, False])
def test_an_output_tells_applications_by_ports_or_marks_where_nothing_inspects_packets(by_mark: bool) -> None:
    wanted = a_class("web", terms=(Alternative(application="http"),), mark={"dscp": 18})

    result = lowered(requested(wanted, image=BEFORE_LLQ, interfaces=(lan(), line(by_mark=by_mark))))

    assert errors(result) == []
    (rule,) = port(result).egress.rules
    assert any(t.destination_ports for t in rule.any_of) is not by_mark


def test_a_dscp_is_looked_at_through_a_list_where_class_maps_have_no_line_for_it() -> None:
    wanted = a_class("gold", terms=(Alternative(dscp=(46, 34)),), treatment={"bandwidth": {"rate": 200_000}})

    result, box = pushed(requested(wanted, image=BEFORE_LLQ))

    assert port(result).egress.rules[0].any_of == (Term(dscp=(46,)), Term(dscp=(34,)))
    assert " permit ip any any dscp ef\n permit ip any any dscp af41\n" in box.running_text()


def test_output_is_policed_before_it_is_queued() -> None:
    wanted = flow(
        "gold", 9, mark={"dscp": 46}, treatment={"bandwidth": {"rate": 200_000}, **police(direction="output")}
    )

    result, _ = pushed(requested(wanted, image=BEFORE_LLQ, interfaces=(lan(), line(by_mark=True))))

    (held,) = port(result).egress.policers
    assert (held.any_of, held.police) == ((Term(dscp=(46,)),), Policer(rate=1_000_000, burst=8000))
    assert held.access_list != port(result, LAN).ingress.policers[0].access_list


def test_numbers_of_others_are_left_alone() -> None:
    theirs = STARTUP + "access-list 150 permit ip any host 10.9.9.9\naccess-list 152 deny ip any any\n"
    wanted = requested(
        flow("one", 1, mark={"dscp": 8}), flow("two", 2, mark={"dscp": 10}), image=BEFORE_LLQ, interfaces=(lan(),)
    )

    result, box = pushed(wanted, theirs)
    again = PLATFORM.lower(wanted, PLATFORM.parse(box.running_text(), "r9", BEFORE_LLQ))

    assert [p.access_list for p in port(result, LAN).ingress.policers] == ["151", "153"]
    assert again.plan == result.plan


def test_a_class_below_another_is_told_within_it() -> None:
    inner = a_class("inner", terms=(Alternative(dscp=(46,)),), mark={"dscp": 46})
    outer = flow("outer", 9, mark={"dscp": 10}, children=(inner, rest()))

    first, second = policers(outer)

    below = Term(
        protocol=17, destination="192.0.2.9/32", destination_ports=(PortRange(first=9, last=9),), dscp=(46,)
    )
    assert (first.any_of, first.police.conform) == ((below,), Action(set_dscp=46))
    assert second.police.conform == Action(set_dscp=10)


def test_one_intent_takes_the_place_of_another() -> None:
    first = (
        flow("one", 1, mark={"dscp": 8}),
        flow("two", 2, mark={"dscp": 10}, treatment=police()),
        flow("three", 3, mark={"dscp": 12}),
    )
    second = (
        flow("two", 22, mark={"dscp": 10}, treatment=police(rate=64_000)),
        flow("four", 4, mark={"dscp": 14}),
        flow("one", 1, mark={"dscp": 8}),
        rest(**police(rate=128_000)),
    )
    _, box = pushed(requested(*first, image=BEFORE_LLQ, interfaces=(lan(),)))

    result, _ = pushed(requested(*second, image=BEFORE_LLQ, interfaces=(lan(),)), box.running_text())

    assert len(port(result, LAN).ingress.policers) == 4


def test_the_grammar_owns_the_numbers_that_lowering_gives() -> None:
    numbers = CAPABILITIES.car.access_lists

    def owned(number: int) -> bool:
        return PLATFORM.grammar.find(f"access-list {number} permit ip any any", "") is not None

    assert [n for n in range(1, 2700) if owned(n)] == list(range(numbers.first, numbers.last + 1))


def test_there_are_only_so_many_numbers() -> None:
    taken = "".join(f"access-list {n} permit ip any any\n" for n in range(150, 200))
    held = PLATFORM.parse(STARTUP + taken, "r9", BEFORE_LLQ)
    wanted = requested(flow("one", 1, mark={"dscp": 8}), image=BEFORE_LLQ, interfaces=(lan(),))

    result = PLATFORM.lower(wanted, held)

    assert errors(result) == ["access-lists-exhausted"]
    assert port(result, LAN).ingress.policers == ()


WRITTEN = """\
access-list 101 permit udp any any range 16384 32767
access-list 101 permit ip any any precedence network log
access-list 102 permit tcp any any established
access-list 10 permit 10.0.0.0 0.0.0.255
access-list 10 permit 10.1.1.1
interface FastEthernet0/0
 rate-limit input access-group 101 400000 50000 100000 conform-action set-prec-continue 5 exceed-action drop
 rate-limit input access-group 10 8000 1000 1000 conform-action transmit exceed-action continue
 rate-limit input dscp 46 8000 1000 1000 conform-action set-dscp-transmit 8 exceed-action drop
 rate-limit input access-group 102 8000 1000 1000 conform-action transmit exceed-action drop
 rate-limit input access-group 105 8000 1000 1000 conform-action transmit exceed-action drop
 rate-limit input qos-group 3 8000 1000 1000 conform-action transmit exceed-action drop
 rate-limit input access-group rate-limit 3 8000 1000 1000 conform-action transmit exceed-action drop
 rate-limit output 8000 1000 1000 conform-action set-qos-transmit 3 exceed-action drop
 rate-limit output 64000 8000 8000 conform-action transmit exceed-action drop
"""


def test_what_people_wrote_is_read_and_the_rest_reported() -> None:
    plan = PLATFORM.parse(WRITTEN, "r9", "12.0")

    held = plan.interface(LAN)
    assert held is not None
    first, second, third = held.ingress.policers
    assert first.any_of == (
        Term(protocol=17, destination_ports=(PortRange(first=16384, last=32767),)),
        Term(precedence=(7,)),
    )
    assert first.police == Policer(
        rate=400_000, burst=50_000, excess_burst=100_000, conform=Action(set_precedence=5, proceed=True)
    )
    assert second.any_of == (Term(source="10.0.0.0/24"), Term(source="10.1.1.1/32"))
    assert second.police.exceed == Action(proceed=True)
    assert (third.any_of, third.access_list) == ((Term(dscp=(46,)),), None)
    assert [p.any_of for p in held.egress.policers] == [()]
    assert sorted(u.text.split(" conform")[0] for u in plan.unknown) == [
        "access-list 102 permit tcp any any established",
        "rate-limit input access-group 102 8000 1000 1000",
        "rate-limit input access-group 105 8000 1000 1000",
        "rate-limit input access-group rate-limit 3 8000 1000 1000",
        "rate-limit input qos-group 3 8000 1000 1000",
        "rate-limit output 8000 1000 1000",
    ]
    assert [(u.line, u.undefined) for u in plan.unknown if u.undefined] == [(11, "access-group 105")]
    assert plan.foreign_lists == (101, 102, 10)


def test_policers_that_are_not_the_intents_are_told_before_they_go() -> None:
    held = PLATFORM.parse(WRITTEN, "r9", BEFORE_LLQ)

    def result(**more: Any) -> LoweredDevice:
        wanted = requested(flow("one", 1, mark={"dscp": 8}), image=BEFORE_LLQ, interfaces=(lan(**more),))
        return PLATFORM.lower(wanted, held)

    told = [[f.direction for f in of(result(**more), "rate-limits-replaced")] for more in ({}, {"schedule": True})]
    # The side that no scope names is left as it is.
    assert told == [["input"], ["input", "output"]]
    assert len(of(result(), "car-needs-cef")) == 1


PAPER = """\
class-map pre7          /* precedence 7 traffic */
  match access-group 180
class-map pre5          /* precedence 5 traffic */
  match access-group 105

policy-map cdf          /* scheduling */
  class pre7
    bandwidth 800
  class pre5
    bandwidth 100
    queue-limit 10

interface FastEthernet0/0
  description it says /* this */ itself
  /* marking and policing */
  rate-limit input access-group 150 1000000 8000 8000 conform-action set-prec-transmit 7
  exceed-action drop /* ours */
  rate-limit input access-group 161 1000000 8000 8000 conform-action set-prec-transmit 1
  exceed-action set-prec-transmit 1

interface ATM1/0.108 point-to-point
  pvc 4/108
  tx-ring-limit 5
  service-policy output cdf /* it is on */
  vbr-nrt 2000 2000 1
  encapsulation aal5snap

access-list 150 permit ip any host 192.0.2.1
access-list 161 permit udp any host 192.0.2.2 eq 50001
access-list 180 permit ip any any precedence network
access-list 182 permit ip any any precedence critical
"""


def test_a_configuration_printed_in_a_paper_is_read_with_its_slip() -> None:
    plan = PLATFORM.parse(PAPER, "r9", "12.0")

    inside, outside = plan.interfaces
    assert [p.police.conform.set_precedence for p in inside.ingress.policers] == [7, 1]
    assert outside.circuit is not None
    assert (outside.circuit.vpi, outside.circuit.vci, outside.circuit.sustained) == (4, 108, 2_000_000)
    assert (outside.bandwidth_kbps, outside.egress.transmit_ring, outside.egress.policy) == (2000, 5, "cdf")
    assert [rule.any_of for rule in outside.egress.rules] == [(Term(precedence=(7,)),), ()]
    assert [(u.line, u.text, u.undefined) for u in plan.unknown] == [
        (4, "match access-group 105", "access-group 105")
    ]
    mended = PLATFORM.parse(PAPER.replace("group 105", "group 182"), "r9", "12.0")
    assert mended.unknown == ()
    assert mended.interfaces[1].egress.rules[1].any_of == (Term(precedence=(5,)),)


LINES = tuple(
    f"rate-limit input access-group {150 + n} 8000 1000 1000 conform-action transmit exceed-action drop"
    for n in range(5)
)


def entered(lines: list[str], delta: list[str]) -> list[str]:
    """The list of an interface after a delta: new lines go to the end, and one that is there cannot come again."""
    held = list(lines)
    for text in map(str.strip, delta):
        if text.startswith("no rate-limit"):
            held.remove(text.removeprefix("no "))
        elif text.startswith("rate-limit"):
            assert text not in held
            held.append(text)
    return held


@settings(deadline=None, derandomize=True, database=None)
@given(st.permutations(LINES), st.permutations(LINES), st.integers(0, 5), st.integers(0, 5))
def test_the_order_of_policers_is_kept_both_ways(old: list[str], new: list[str], some: int, more: int) -> None:
    before, after = old[:some], new[:more]
    grammar = PLATFORM.grammar

    def tree(lines: list[str]) -> str:
        return "interface FastEthernet0/0\n ip address 10.0.0.1 255.0.0.0\n" + "".join(f" {x}\n" for x in lines)

    current = grammar.parse(tree(before))
    target = merge(
        current, grammar.parse("interface FastEthernet0/0\n" + "".join(f" {x}\n" for x in after)), grammar
    )

    assert entered(before, transition(current, target, grammar)) == after
    assert entered(after, transition(target, current, grammar)) == before
    assert transition(target, target, grammar) == []


def test_a_middle_router_tells_classes_by_their_marks_but_at_a_boundary_of_its_own() -> None:
    gold = flow("gold", 9, mark={"dscp": 46}, treatment=police())
    there = flow("gold", 9, mark={"dscp": 46}, treatment=police(direction="output"))
    behind = lan(recognise=False, schedule=True)
    inside, outside = (
        lowered(requested(entry, image=BEFORE_LLQ, interfaces=(interface,), role=DeviceRole.MIDDLE))
        for entry, interface in ((gold, lan()), (there, behind))
    )

    (recognised,) = port(inside, LAN).ingress.policers
    (trusted,) = port(outside, LAN).egress.policers

    assert [term.protocol for term in recognised.any_of] == [17]
    assert trusted.any_of == (Term(dscp=(46,)),)


def test_an_audit_tells_the_slip() -> None:
    router = Device(
        name="r9",
        platform="cisco_ios",
        image="12.0",
        role=DeviceRole.EDGE,
        driver="ios",
        interfaces=(Interface(name=LAN, rate=10**8, role=DeviceRole.EDGE),),
    )
    result = audit(Network(name="lab", devices=(router,), links=(), stations=()), {"r9": PAPER})

    (finding,) = [f for f in result.findings if f.code == "undefined-reference"]
    assert (finding.device, finding.line, finding.severity) == ("r9", 4, Severity.WARNING)
    assert "access-group 105" in finding.message


NAMES = ("one", "two", "three", "four")
CLASSES = st.lists(
    st.builds(
        lambda name, port_number, mark, rate, remark: flow(
            name,
            port_number,
            treatment=police(rate=rate, exceed=remark) if rate else {},
            **({"mark": mark} if mark else {}),
        ),
        st.sampled_from(NAMES),
        st.integers(1, 3),
        st.sampled_from([None, {"dscp": 46}, {"precedence": 3}]),
        st.sampled_from([None, 64_000, 100_000, 1_000_000]),
        st.sampled_from(["drop", "transmit", {"remark": 8}, {"precedence": 1}]),
    ),
    max_size=4,
    unique_by=lambda c: c.name,
)


@settings(max_examples=25, deadline=None, derandomize=True, database=None)
@given(CLASSES, CLASSES)
def test_any_intent_takes_the_place_of_any_other(first: list[ClassRequest], second: list[ClassRequest]) -> None:
    _, box = pushed(requested(*first, image=BEFORE_LLQ, interfaces=(lan(),)))

    pushed(requested(*second, image=BEFORE_LLQ, interfaces=(lan(),)), box.running_text())


def test_no_list_is_rewritten_while_a_policer_looks_at_it() -> None:
    """CAR entries look at what their list holds at that moment: another class's packets would get the old mark."""
    first = requested(flow("gold", 1, mark={"dscp": 46}), flow("silver", 2, mark={"dscp": 18}), **ON_LAN)
    second = requested(flow("bronze", 3, mark={"dscp": 10}), flow("gold", 1, mark={"dscp": 46}), **ON_LAN)
    grammar = PLATFORM.grammar
    _, box = pushed(first)
    box.configure(text_of(first).splitlines())
    running = box.running_text()
    held = PLATFORM.parse(running, "r9", first.image)

    result = PLATFORM.lower(second, held)
    current = grammar.parse(running)
    delta = transition(current, merge(current, grammar.parse(text_of(second, result)), grammar), grammar)

    listed = [p.access_list for p in port(result, LAN).ingress.policers]
    assert listed == ["152", "150"]  # gold keeps its list
    assert {text.split("access-list ")[1].split()[0] for text in delta if "access-list " in text} == {"152"}
    assert box.configure(delta) == []
    assert find_plan_differences(result.plan, PLATFORM.parse(box.running_text(), "r9", second.image)) == ()


def test_no_list_of_another_name_for_the_same_packets_is_rewritten_either() -> None:
    """Policers of both sides may look at lists of their own that take the same packets."""
    twice = "".join(
        f"access-list {number} remark QOSFORGE-gold\naccess-list {number} permit udp any host 192.0.2.9 eq 1\n"
        for number in (150, 151)
    )
    marking = "8000 1000 1000 conform-action set-prec-transmit 5 exceed-action set-prec-transmit 5"
    used = (("input", 150), ("output", 151))
    limits = f"interface {LAN}\n" + "".join(f" rate-limit {at} access-group {n} {marking}\n" for at, n in used)
    held = PLATFORM.parse(STARTUP + twice + limits, "r9", BEFORE_LLQ)

    result = PLATFORM.lower(requested(flow("bronze", 3, mark={"dscp": 10}), **ON_LAN), held)

    assert [p.access_list for p in port(result, LAN).ingress.policers] == ["152"]
