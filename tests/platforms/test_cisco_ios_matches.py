"""Matches of routers beyond the mark: IPv6, VLANs, access lists that others wrote, and what needs CEF."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qosforge.configtree import merge, transition
from qosforge.findings import Severity
from qosforge.plan.model import PortRange, Term
from qosforge.plan.request import ClassRequest
from qosforge.plan.request import TermRequest as Alternative
from qosforge.platforms.cisco_ios import PLATFORM
from qosforge.platforms.mqc.access_lists import ipv6_entries

from .ios_support import FAST, STARTUP, a_class, errors, lan, line, lowered, of, port, pushed, requested, text_of

SHARE = {"bandwidth": {"rate": 200_000}}
SIX = Alternative(source=("2001:db8::/32",), protocol=(6,), destination_port=((80, 80),))
FOUR = Alternative(source=("10.1.0.0/16",))


def gold(*terms: Alternative, **more: Any) -> ClassRequest:
    return a_class("gold", terms=terms, treatment=SHARE, **more)


def held(text: str) -> tuple[tuple[Term, ...], tuple[Term, ...]]:
    """What the first class of the first interface with a policy matches, read from text without unknown lines."""
    plan = PLATFORM.parse(text, "r9", "12.4")
    assert plan.unknown == ()
    rule = next(r for i in plan.interfaces for r in i.egress.rules)
    return rule.any_of, rule.none_of


@pytest.mark.parametrize(
    ("terms", "none_of"),
    [
        ((SIX,), ()),
        ((SIX, FOUR), ()),
        ((SIX, FOUR, Alternative(dscp=(46,)), Alternative(application="http")), ()),
        ((SIX.model_copy(update={"dscp": (46,)}),), ()),
        ((SIX.model_copy(update={"input_interface": ("FastEthernet0/0",)}),), ()),
        ((SIX.model_copy(update={"precedence": (5,)}),), ()),
        ((SIX.model_copy(update={"dscp": (46, 34)}),), ()),
        ((Alternative(destination=("2001:db8::9/128",)),), ()),
        ((Alternative(dscp=(46,)),), (SIX,)),
        ((FOUR,), (SIX, Alternative(source=("10.1.1.0/24",)))),
        ((Alternative(source=("2001:db8::/32",), protocol=(58,)),), ()),
    ],
    ids=["six", "both", "mixed", "dscp", "joined", "precedence", "two dscps", "host", "not", "neither", "icmp"],
)
def test_prefixes_of_ipv6_stand_in_lists_of_their_own(
    terms: tuple[Alternative, ...], none_of: tuple[Alternative, ...]
) -> None:
    wanted = requested(gold(*terms, none_of=none_of))
    result = lowered(wanted)
    rule = port(result).egress.rules[0]

    assert errors(result) == []
    text = text_of(wanted, result)
    any_of, excepted = held(text)
    assert (set(any_of), set(excepted)) == (set(rule.any_of), set(rule.none_of))
    assert "ipv6 access-list QOSFORGE-gold" in text
    assert "match ip " not in text  # marks of IPv4 alone


def test_a_list_is_written_as_the_box_prints_it() -> None:
    text = text_of(requested(gold(SIX, Alternative(destination=("2001:db8::9/128",)), FOUR)))

    assert text.startswith(
        "ip access-list extended QOSFORGE-gold\n permit ip 10.1.0.0 0.0.255.255 any\n!\n"
        "ipv6 access-list QOSFORGE-gold.V6\n"
        " permit tcp 2001:DB8::/32 any eq www\n"
        " permit ipv6 any host 2001:DB8::9\n!\n"
        "class-map match-any gold\n"
        " match access-group name QOSFORGE-gold\n"
        " match access-group name QOSFORGE-gold.V6\n"
    )


TCP = Alternative(protocol=(6,))


@pytest.mark.parametrize(
    ("terms", "kept"),
    [
        ((TCP, Alternative(protocol=(6,), source_port=((80, 80),), dscp=(46,))), [Term(protocol=6)]),
        ((Alternative(protocol=(6,), dscp=(46,)), FOUR, TCP), [Term(source="10.1.0.0/16"), Term(protocol=6)]),
    ],
)
def test_what_another_alternative_takes_anyway_has_no_entry(
    terms: tuple[Alternative, ...], kept: list[Term]
) -> None:
    wanted = requested(gold(*terms))
    result = lowered(wanted)
    assert errors(result) == []
    assert list(port(result).egress.rules[0].any_of) == kept


def test_ipv6_beside_a_mark_keeps_its_own_entry() -> None:
    result = lowered(requested(gold(SIX.model_copy(update={"dscp": (46,)}), Alternative(dscp=(46,)))))
    assert len(port(result).egress.rules[0].any_of) == 2


def test_a_delta_and_its_inverse_know_lists_of_ipv6() -> None:
    grammar = PLATFORM.grammar
    current = grammar.parse(STARTUP + text_of(requested(gold(SIX))))
    other = text_of(requested(gold(Alternative(source=("2001:db8:1::/48",)))))

    target = merge(current, grammar.parse(other), grammar)

    assert transition(current, target, grammar) == [
        "ipv6 access-list QOSFORGE-gold.V6",
        " permit ipv6 2001:DB8:1::/48 any",
        " no permit tcp 2001:DB8::/32 any eq www",
    ]
    assert transition(target, current, grammar) == [
        "ipv6 access-list QOSFORGE-gold.V6",
        " permit tcp 2001:DB8::/32 any eq www",
        " no permit ipv6 2001:DB8:1::/48 any",
    ]


@pytest.mark.parametrize(
    "wanted",
    [
        gold(
            SIX.model_copy(update={"input_interface": ("FastEthernet0/0",)}),
            FOUR.model_copy(update={"input_interface": ("FastEthernet0/0",)}),
        ),
        gold(SIX, FOUR, none_of=(Alternative(dscp=(8,)),)),
    ],
    ids=["joined with both versions", "both versions and none"],
)
def test_what_no_lists_hold_is_refused(wanted: ClassRequest) -> None:
    assert errors(lowered(requested(wanted))) == ["match-combination-unsupported"]


@pytest.mark.parametrize(
    ("image", "refused"), [("12.1", True), ("12.2(8)T", True), ("12.2(13)T", False), ("12.4", False)]
)
def test_prefixes_of_ipv6_need_their_train(image: str, refused: bool) -> None:
    wanted = a_class("gold", terms=(SIX,))

    assert errors(lowered(requested(wanted, image=image))) == (["match-ipv6-unsupported"] if refused else [])


def test_an_output_that_asks_for_marks_has_class_maps_of_its_own() -> None:
    marked = a_class("gold", terms=(FOUR,), mark={"dscp": 46}, treatment={"bandwidth": {"percent": 20}})
    plain = a_class("plain", terms=(Alternative(dscp=(8,)),), treatment={"bandwidth": {"percent": 20}})
    wanted = requested(marked, plain, interfaces=(lan(), line(by_mark=True), line("Serial0/1", 1_000_000)))

    result, box = pushed(wanted)

    assert [r.any_of for r in port(result, "FastEthernet0/0").ingress.rules] == [(Term(source="10.1.0.0/16"),)]
    assert [(r.name, r.any_of) for r in port(result).egress.rules] == [
        ("gold.MARK", (Term(dscp=(46,)),)),
        ("plain", (Term(dscp=(8,)),)),
    ]
    assert [r.name for r in port(result, "Serial0/1").egress.rules] == ["gold", "plain"]
    assert (result.classes["gold"], result.classes["gold.MARK"]) == ("gold", "gold")
    assert "class-map match-any gold.MARK\n match dscp ef" in box.running_text()


def test_an_edge_without_inputs_needs_no_class_map_but_that_of_the_mark() -> None:
    wanted = a_class("gold", terms=(FOUR,), mark={"dscp": 46}, treatment=SHARE)

    (rule,) = port(lowered(requested(wanted, interfaces=(line(by_mark=True),)))).egress.rules

    assert (rule.name, rule.any_of) == ("gold", (Term(dscp=(46,)),))


PREFIXES = st.sampled_from(["2001:db8::/32", "2001:db8:a::1/128", "fe80::/10", None])
PORTS = st.builds(
    lambda a, b: PortRange(first=min(a, b), last=max(a, b)), st.integers(0, 65535), st.integers(0, 65535)
)


@settings(deadline=None, derandomize=True, database=None)
@given(PREFIXES, PREFIXES, st.sampled_from([6, 17]), PORTS, PORTS, st.sampled_from([(), (0,), (46,), (63,)]))
def test_entries_of_ipv6_read_back(  # noqa: PLR0917 - one value a strategy
    near: str | None, far: str | None, protocol: int, first: PortRange, last: PortRange, dscp: tuple[int, ...]
) -> None:
    term = Term(
        source=near, destination=far or "2001:db8::/32", protocol=protocol, source_ports=(first,),
        destination_ports=(last,), dscp=dscp,
    )  # fmt: skip
    (entry,) = ipv6_entries((term,))
    text = f"ipv6 access-list L\n {entry}\nclass-map C\n match access-group name L\npolicy-map P\n class C\n"

    assert held(text + "interface Serial0/0\n service-policy output P\n")[0] == (term,)


BY_HAND = """\
access-list 7 permit host 10.0.0.9
access-list 7 deny any
access-list 1300 permit any log
ip access-list standard USERS
 permit 10.2.0.0 0.0.255.255
ipv6 access-list SIX
 sequence 10 permit tcp any 2001:DB8::/32 eq 443
 permit udp 2001:db8::1/64 any sequence 20
 permit ipv6 any any
 deny ipv6 any any
class-map match-any A
 match access-group 7
 match access-group name USERS
 match access-group name SIX
 match access-group 1300
class-map match-any B
 match access-group 99
 match access-group name GONE
 match ip rtp 16384 16383
 match packet length min 60 max 200
 match qos-group 3
 match vlan 7
policy-map P
 class A
  bandwidth 64
 class B
  bandwidth 64
interface Serial0/0
 service-policy output P
 traffic-shape rate 128000
 ip rtp priority 16384 16383 64
"""


def test_what_people_wrote_is_read_and_the_rest_reported() -> None:
    plan = PLATFORM.parse(BY_HAND, "r9", "12.4")

    serial = plan.interface("Serial0/0")
    assert serial is not None
    first, second = serial.egress.rules
    assert first.any_of == (
        Term(source="10.0.0.9/32"),
        Term(source="10.2.0.0/16"),
        Term(destination="2001:db8::/32", protocol=6, destination_ports=(PortRange(first=443, last=443),)),
        Term(source="2001:db8::/64", protocol=17),
        Term(),
    )
    assert second.any_of == (Term(qos_group=(3,)),)
    assert [(u.text, u.undefined) for u in sorted(plan.unknown, key=lambda u: u.line)] == [
        ("match access-group 99", "access-group 99"),
        ("match access-group name GONE", "access-group GONE"),
        ("match ip rtp 16384 16383", None),
        ("match packet length min 60 max 200", None),
        ("match vlan 7", None),
        ("traffic-shape rate 128000", None),
        ("ip rtp priority 16384 16383 64", None),
    ]


@pytest.mark.parametrize(
    ("source", "prefix"),
    [
        ("10.0.0.1 0.0.0.0", "10.0.0.1/32"),
        ("10.0.0.1 0.0.0.255", "10.0.0.0/24"),
        ("10.0.0.1 255.255.255.255", "0.0.0.0/0"),
        ("10.0.0.0 0.0.255.0", None),
    ],
)
def test_wildcards_are_read_as_prefixes_where_they_are_any(source: str, prefix: str | None) -> None:
    lines = f"ip access-list extended L\n permit ip {source} any\nclass-map C\n match access-group name L\n"
    policy = "policy-map P\n class C\n  priority 64\ninterface Serial0/0\n service-policy output P\n"
    plan = PLATFORM.parse(lines + policy, "r9", "12.4")

    (rule,) = plan.interfaces[0].egress.rules
    assert rule.any_of == (() if prefix is None else (Term(source=prefix),))
    assert [u.text for u in plan.unknown] == ([f"permit ip {source} any"] if prefix is None else [])


@pytest.mark.parametrize(
    ("startup", "warned"), [(STARTUP, False), (STARTUP.replace("ip cef\n", ""), True), (None, False)]
)
def test_recognition_needs_express_forwarding(startup: str | None, warned: bool) -> None:
    wanted = requested(gold(Alternative(application="http")))
    running = PLATFORM.parse(startup, "r9", "12.4") if startup else None

    found = of(PLATFORM.lower(wanted, running), "nbar-needs-cef")

    assert [f.severity for f in found] == ([Severity.WARNING] if warned else [])


def test_recognition_inside_a_shaped_port_needs_express_forwarding_too() -> None:
    wanted = requested(gold(Alternative(application="http")), interfaces=(FAST,))
    running = PLATFORM.parse(STARTUP.replace("ip cef\n", ""), "r9", "12.4")

    assert of(PLATFORM.lower(wanted, running), "nbar-needs-cef")
