"""Classes of routers in both versions of IP: what the images reach, what is told where they do not."""

from __future__ import annotations

import pytest

from qosforge.compiler.candidate import find_plan_differences
from qosforge.configtree import merge, transition
from qosforge.plan.request import ClassRequest, DeviceRequest
from qosforge.plan.request import TermRequest as Alternative
from qosforge.platforms.cisco_ios import PLATFORM
from qoslab.packets import Packets

from .ios_support import STARTUP, a_class, booted, lan, line, lowered, of, pushed, requested, text_of

SIX, FOUR = {"src": "2001:DB8::9", "dst": "2001:db8:1::1"}, {"src": "10.1.0.9", "dst": "10.0.1.1"}
VOICE = a_class("voice", terms=(Alternative(dscp=(46,)),), treatment={"priority": {"percent": 10}})
CALLS = a_class(
    "calls",
    terms=(Alternative(protocol=(6,), destination_port=((5060, 5060),)), Alternative(precedence=(3,))),
    mark={"dscp": 24},
    treatment={"bandwidth": {"percent": 10}},
)
RUNNING_IPV6 = STARTUP.replace("ip cef\n", "ip cef\nipv6 unicast-routing\n").replace(
    " ip address 10.0.0.1 255.255.255.0\n", " ip address 10.0.0.1 255.255.255.0\n ipv6 address 2001:DB8:7::1/64\n"
)


def told(*classes: ClassRequest, startup: str = RUNNING_IPV6, **more: object) -> list[tuple[str | None, str]]:
    """Classes and variants of ``told-in-ipv4`` on a device that runs this."""
    request = requested(*classes, interfaces=(lan(), line()), **more)  # type: ignore[arg-type]
    result = PLATFORM.lower(request, PLATFORM.parse(startup, "r9", request.image))
    return [(f.traffic_class, f.variant) for f in of(result, "told-in-ipv4")]


def classes_of(request: DeviceRequest, *offered: Packets, startup: str = STARTUP) -> list[tuple[str, int]]:
    """The output class and the DSCP of packets on a router that took the request."""
    _, box = pushed(request, startup)
    outcomes = box.offer("FastEthernet0/0", "Serial0/0", offered, 1.0)  # type: ignore[attr-defined]
    return [(outcome.egress_class, outcome.dscp_out) for outcome in outcomes]


@pytest.mark.parametrize(
    ("image", "lines"),
    [
        ("12.2(8)T", "match ip dscp ef"),
        ("12.2(13)T", "match dscp ef"),
        ("12.4", "match dscp ef"),
        ("15.1", "match dscp ef"),
    ],
)
def test_marks_are_matched_in_both_versions_where_the_image_can(image: str, lines: str) -> None:
    request = requested(VOICE, image=image)

    assert f"class-map match-any voice\n {lines}\n" in text_of(request)
    packets = [Packets(1, 200, dscp=46, **FOUR), Packets(1, 200, dscp=46, **SIX)]
    both = [("voice", 46), ("class-default" if " ip " in lines else "voice", 46)]
    assert classes_of(request, *packets) == both


@pytest.mark.parametrize(("startup", "kept"), [(STARTUP, True), (RUNNING_IPV6, False)])
def test_marks_that_a_device_without_ipv6_matches_in_ipv4_stay_so(startup: str, kept: bool) -> None:
    request = requested(VOICE)
    running = startup + (
        "class-map match-any voice\n match ip dscp ef\npolicy-map WAN\n class voice\n  priority percent 20\n"
        "interface Serial0/0\n service-policy output WAN\n"
    )
    lowered = PLATFORM.lower(request, PLATFORM.parse(running, "r9", request.image))
    text = "\n".join(block.text for block in PLATFORM.blocks(lowered.plan, lowered, request))
    assert ("class-map match-any voice\n match ip dscp ef\n" in text, "\n match dscp ef\n" in text) == (
        kept,
        not kept,
    )


@pytest.mark.parametrize("features", [frozenset[str](), frozenset({"ipv6"})])
def test_flows_without_addresses_have_lists_of_both_versions_where_the_device_has_ipv6(
    features: frozenset[str],
) -> None:
    request = requested(CALLS, interfaces=(lan(), line(by_mark=True)), features=features)
    packets = [Packets(1, 200, protocol=6, dst_port=5060, **addresses) for addresses in (FOUR, SIX)]

    assert ("ipv6 access-list QOSFORGE-calls.V6\n permit tcp any any eq 5060\n" in text_of(request)) == bool(
        features
    )
    assert classes_of(request, *packets) == [
        ("calls.MARK", 24),
        ("calls.MARK", 24) if features else ("class-default", 0),
    ]


def test_prefixes_of_ipv6_meet_packets_of_ipv6() -> None:
    wanted = a_class(
        "gold",
        terms=(Alternative(source=("2001:db8::/64",)), Alternative(protocol=(17,), destination_port=((53, 53),))),
        none_of=(Alternative(destination=("2001:db8:1::7/128",)),),
        treatment={"bandwidth": {"percent": 10}},
    )
    request = requested(wanted.model_copy(update={"none_of": ()}))
    excepting = requested(wanted.model_copy(update={"terms": wanted.terms[:1]}))
    packets = [
        Packets(1, 200, **SIX),
        Packets(1, 200, src="2001:db8:0:1::9", dst="2001:db8:1::1"),
        Packets(1, 200, dst_port=53, src="2001:db8:0:1::9", dst="2001:db8:1::1"),
        Packets(1, 200, dst_port=53, **FOUR),
        Packets(1, 200, src="2001:db8::9", dst="2001:db8:1::7"),
    ]

    default = "class-default"
    assert [name for name, _ in classes_of(request, *packets)] == ["gold", default, "gold", "gold", "gold"]
    assert [name for name, _ in classes_of(excepting, *packets)] == ["gold", default, default, default, default]


def test_a_class_map_of_ipv4_alone_is_changed() -> None:
    request = requested(VOICE)
    grammar = PLATFORM.grammar
    meant = text_of(request)
    before = STARTUP + meant.replace("match dscp", "match ip dscp")

    differences = find_plan_differences(lowered(request).plan, PLATFORM.parse(before, "r9", request.image))
    current = grammar.parse(before)
    box = booted(request.image, before)

    assert [d.rpartition(": ")[0] for d in differences] == ["Serial0/0 egress.rules[0].ipv4"]
    assert box.configure(transition(current, merge(current, grammar.parse(meant), grammar), grammar)) == []
    assert find_plan_differences(lowered(request).plan, PLATFORM.parse(box.running_text(), "r9", "12.4")) == ()
    assert "match ip dscp" not in box.running_text()


def test_classes_that_ipv6_does_not_reach_are_told_where_the_device_has_it() -> None:
    joined = a_class(
        "joined", terms=(Alternative(cos=(3,), protocol=(6,)),), treatment={"bandwidth": {"percent": 10}}
    )
    addressed = a_class("addressed", terms=(Alternative(source=("10.0.0.0/8",)),), mark={"dscp": 8})

    assert told(VOICE, CALLS, addressed) == [("calls", "unsaid")]
    assert told(VOICE, CALLS, joined, features=frozenset({"ipv6"})) == [("joined", "lists")]
    assert told(VOICE, image="12.2(8)T") == [("voice", "marks")]
    assert told(VOICE, CALLS, startup=STARTUP) == []
    assert told(VOICE, image="12.2(8)T", startup=STARTUP) == []
    assert lowered(requested(VOICE, CALLS)).findings == ()


@pytest.mark.parametrize(
    ("protocol", "word"), [(47, "47"), (1, "1"), (58, "icmp"), (132, "sctp"), (6, "tcp"), (50, "esp")]
)
def test_lists_of_ipv6_have_their_own_names_of_protocols(protocol: int, word: str) -> None:
    wanted = a_class(
        "gold", terms=(Alternative(source=("2001:db8::/64",), protocol=(protocol,)),), mark={"dscp": 8}
    )
    request = requested(wanted, interfaces=(lan(),))

    _, box = pushed(request)

    assert f" permit {word} 2001:DB8::/64 any\n" in box.running_text()
