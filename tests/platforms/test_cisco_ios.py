"""IOS lowering and parsing: what cannot be had is told, and what people wrote is read or reported."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qosforge.errors import InputError
from qosforge.findings import Severity
from qosforge.intent.applications import load_catalogue
from qosforge.intent.models import Mark, Treatment
from qosforge.inventory.models import DeviceRole, Framing
from qosforge.plan.model import (
    Action,
    Discipline,
    Efficiency,
    InterfacePlan,
    Policer,
    PortRange,
    Share,
    ShareUnit,
    Term,
)
from qosforge.plan.request import ClassRequest, DeviceRequest, EfficiencyRequest, InterfaceRequest
from qosforge.plan.request import TermRequest as Alternative
from qosforge.platforms.base import LoweredDevice
from qosforge.platforms.cisco_ios import PLATFORM

SETTINGS = settings(max_examples=150, deadline=None, derandomize=True, database=None)
HALF = Treatment.model_validate({"bandwidth": {"percent": 50}})
EVERYTHING_ELSE = ClassRequest(name="default")


def a_class(name: str = "gold", **more: Any) -> ClassRequest:
    return ClassRequest(**{"name": name, "terms": (Alternative(application="http"),), "treatment": HALF, **more})


def request(
    *classes: ClassRequest, image: str = "12.4", role: DeviceRole = DeviceRole.EDGE, **line: Any
) -> DeviceRequest:
    wan = {
        "name": "Serial0/0",
        "rate": 256_000,
        "usable": 256_000,
        "framing": Framing.HDLC,
        "schedule": True,
        **line,
    }
    lan = InterfaceRequest(
        name="FastEthernet0/0", rate=10**8, usable=10**8, framing=Framing.ETHERNET, recognise=True
    )
    return DeviceRequest(
        device="r9",
        platform="cisco_ios",
        image=image,
        role=role,
        intent="made",
        tolerance=0.05,
        classes=(*classes, EVERYTHING_ELSE) if not any(c.is_default for c in classes) else classes,
        interfaces=(InterfaceRequest(**wan), lan),
        applications=dict(load_catalogue()),
    )


def text(wanted: DeviceRequest) -> str:
    lowered = PLATFORM.lower(wanted, None)
    return "!\n".join(block.text for block in PLATFORM.blocks(lowered.plan, lowered, wanted))


def codes(lowered: LoweredDevice, severity: Severity) -> list[str]:
    return [f.code for f in lowered.findings if f.severity is severity]


def line(lowered: LoweredDevice, name: str = "Serial0/0") -> InterfacePlan:
    found = lowered.plan.interface(name)
    assert found is not None
    return found


def test_more_values_than_a_line_holds_take_several_lines() -> None:
    wanted = request(a_class(terms=(Alternative(dscp=tuple(range(8, 18))), Alternative(cos=(0, 1, 2, 3, 4)))))

    rule = line(PLATFORM.lower(wanted, None)).egress.rules[0]

    assert rule.any_of == (
        Term(dscp=tuple(range(8, 16))),
        Term(dscp=(16, 17)),
        Term(cos=(0, 1, 2, 3)),
        Term(cos=(4,)),
    )
    assert " match dscp cs1  9  af11  11  af12  13  af13  15\n match dscp cs2  17\n" in text(wanted)


def test_conditions_that_hold_together_are_joined() -> None:
    wanted = request(a_class(terms=(Alternative(application="http", dscp=(46,)),)))

    assert codes(PLATFORM.lower(wanted, None), Severity.ERROR) == []
    assert "class-map match-all gold\n match dscp ef\n match protocol http\n" in text(wanted)


@pytest.mark.parametrize(
    "more",
    [
        {"terms": (Alternative(application="http", dscp=(46,)), Alternative(application="ftp", dscp=(46,)))},
        {"terms": (Alternative(cos=(1,), dscp=tuple(range(9))),)},
        {"terms": (Alternative(cos=(1,), dscp=(46,)), Alternative(cos=(1,), dscp=(46,), protocol=(6,)))},
        {"none_of": (Alternative(cos=(1,), dscp=(46,)),)},
        {"terms": (Alternative(protocol=tuple(range(201))),)},
        {"terms": (Alternative(source_mac=("001b.54aa.bbcc", "001b.54aa.bbcd"), cos=(1,)),)},
    ],
    ids=["alternatives", "values", "mixed", "none of two", "entries", "two addresses"],
)
def test_what_no_class_map_holds_is_refused_not_dropped(more: dict[str, Any]) -> None:
    lowered = PLATFORM.lower(request(a_class(**more)), None)

    assert codes(lowered, Severity.ERROR) == ["match-combination-unsupported"]
    assert line(lowered).egress.rules[0].any_of == ()


def test_flows_become_one_access_list_and_exceptions_another() -> None:
    wanted = request(
        a_class(
            terms=(
                Alternative(protocol=(6, 17), source=("10.1.0.0/16",), destination_port=((80, 80), (8000, 8080))),
                Alternative(protocol=(47,), destination=("10.2.0.9/32",), precedence=(5,)),
                Alternative(dscp=(46,)),
            ),
            none_of=(Alternative(source=("10.1.9.0/24",)), Alternative(dscp=(8,))),
        )
    )

    assert text(wanted).startswith(
        "ip access-list extended QOSFORGE-gold\n"
        " permit tcp 10.1.0.0 0.0.255.255 any eq www\n"
        " permit tcp 10.1.0.0 0.0.255.255 any range 8000 8080\n"
        " permit udp 10.1.0.0 0.0.255.255 any eq 80\n"
        " permit udp 10.1.0.0 0.0.255.255 any range 8000 8080\n"
        " permit gre any host 10.2.0.9 precedence critical\n"
        " permit ip any any dscp ef\n"
        "!\n"
        "ip access-list extended QOSFORGE-gold.NOT\n"
        " permit ip 10.1.9.0 0.0.0.255 any\n"
        "!\n"
        "class-map match-all gold\n"
        " match access-group name QOSFORGE-gold\n"
        " match not dscp cs1\n"
        " match not access-group name QOSFORGE-gold.NOT\n"
    )


def treated(image: str = "12.4", name: str = "gold", **treatment: Any) -> LoweredDevice:
    requested = Treatment.model_validate({"bandwidth": {"percent": 20}} | treatment)
    return PLATFORM.lower(request(a_class(name, treatment=requested), image=image), None)


@pytest.mark.parametrize("prefer", [True, False])
@pytest.mark.parametrize(
    ("code", "treatment"),
    [
        ("queue-limit-unsupported", {"queue_limit": {"packets": 513}}),
        ("queue-limit-unsupported", {"queue_limit": {"packets": 10}, "wred": {}}),
        ("queue-limit-unsupported", {"queue_limit": {"packets": 10}, "bandwidth": None}),
        (
            "queue-limit-unsupported",
            {"queue_limit": {"packets": 10}, "bandwidth": None, "priority": {"percent": 9}},
        ),
        ("police-unsupported", {"police": {"rate": 7_999}}),
        ("police-unsupported", {"police": {"rate": 64_000, "burst": 999, "direction": "output"}}),
        ("shape-unsupported", {"shape": {"rate": 154_400_001}}),
    ],
)
def test_limits_that_the_box_does_not_take_are_told_and_left_out(
    code: str, treatment: dict[str, Any], prefer: bool
) -> None:
    key = code.removesuffix("-unsupported").replace("-", "_")
    treatment = {**treatment, key: {**treatment[key], "prefer": prefer}}

    lowered = treated(**treatment)

    assert codes(lowered, Severity.WARNING if prefer else Severity.ERROR) == [code]
    egress = line(lowered).egress
    assert egress.scheduler is not None
    assert (egress.scheduler.queues[0].limit_packets, egress.scheduler.queues[0].shape_rate) == (64, None)
    rules = (*egress.rules, *line(lowered, "FastEthernet0/0").ingress.rules)
    assert all(rule.police is None for rule in rules)


def test_a_policer_stands_on_its_side_and_the_classes_before_it_keep_their_packets() -> None:
    policed = Treatment.model_validate({"police": {"rate": 64_000, "exceed": {"remark": 12}}})
    wanted = request(
        a_class("first"), a_class("second", treatment=policed), a_class("third", treatment=Treatment())
    )

    lan = line(PLATFORM.lower(wanted, None), "FastEthernet0/0").ingress

    assert [(r.name, r.police) for r in lan.rules] == [
        ("first", None),
        ("second", Policer(rate=64_000, burst=2000, exceed=Action(set_dscp=12))),
    ]
    assert (
        "  police cir 64000 bc 2000\n   conform-action transmit\n   exceed-action set-dscp-transmit af12\n"
        in text(wanted)
    )


def test_an_old_image_and_an_interface_that_is_not_there_are_told() -> None:
    policed = a_class(
        terms=(Alternative(dscp=(8,)),), treatment=Treatment.model_validate({"police": {"rate": 7999}})
    )
    away = a_class(terms=(Alternative(input_interface=("FastEthernet0/9",)),))
    held = PLATFORM.parse(WRITTEN_BY_PEOPLE, "r9", "12.4")

    assert "police-unsupported" in codes(PLATFORM.lower(request(policed, image="12.1"), None), Severity.ERROR)
    assert "interface-missing" in codes(PLATFORM.lower(request(away), held), Severity.ERROR)


@pytest.mark.parametrize("name", ["class-default", "match-any", "match-all", "match", "M", "Class-Default"])
def test_a_name_that_the_box_takes_for_a_word_of_its_own_is_changed(name: str) -> None:
    lowered = PLATFORM.lower(request(a_class(name), a_class("silver", treatment=Treatment())), None)

    (changed,) = [held for held, intended in lowered.classes.items() if intended == name]
    assert changed != name
    assert len(changed) <= 40
    assert lowered.classes["class-default"] == "default"
    assert lowered.classes["silver"] == "silver"


def test_the_mark_of_everything_else_is_set_on_input() -> None:
    rest = ClassRequest(name="default", mark=Mark(dscp=0))

    wanted = request(a_class(mark=Mark(dscp=18)), rest)

    assert " class gold\n  set dscp af21\n class class-default\n  set dscp default\n" in text(wanted)
    assert "class-map match-any class-default" not in text(wanted)


@pytest.mark.parametrize(("prefer", "severity"), [(True, Severity.WARNING), (False, Severity.ERROR)])
def test_wred_without_a_bandwidth_is_told(prefer: bool, severity: Severity) -> None:
    wanted = request(a_class(treatment=Treatment.model_validate({"wred": {"prefer": prefer}})))

    lowered = PLATFORM.lower(wanted, None)

    assert codes(lowered, severity) == ["wred-unsupported"]
    scheduler = line(lowered).egress.scheduler
    assert scheduler is not None
    assert scheduler.queues[0].red is None


def test_a_mark_of_the_second_layer_alone_is_refused() -> None:
    assert "mark-needed" in codes(PLATFORM.lower(request(a_class(mark=Mark(cos=5))), None), Severity.ERROR)


@pytest.mark.parametrize(
    ("image", "own", "ports"),
    [
        ("12.4", False, False),
        ("12.2(8)T", False, False),
        ("12.1", False, True),
        ("12.0(7)T", False, True),
        ("12.4", True, True),
    ],
)
def test_what_an_image_does_not_inspect_is_told_by_its_ports(image: str, own: bool, ports: bool) -> None:
    requested = request(a_class(), image=image)
    if own:  # an intent's own meaning of the name is not that of the device
        http = requested.applications["http"].model_copy(update={"ports": ((8080, 8080),)})
        requested = requested.model_copy(update={"applications": {**requested.applications, "http": http}})
    result = PLATFORM.lower(requested, None)

    assert codes(result, Severity.ERROR) == []
    assert ("recognised-by-ports" in codes(result, Severity.INFO)) is ports
    (rule,) = (r for r in line(result).egress.rules if r.name == "gold")
    assert all((t.application is None) is ports for t in rule.any_of)
    assert any(t.destination_ports for t in rule.any_of) is ports


@pytest.mark.parametrize(("name", "words"), [("https", "secure-http"), ("rtp-audio", "rtp audio"), ("sip", "sip")])
def test_the_box_has_words_of_its_own_for_applications(name: str, words: str) -> None:
    requested = request(a_class(terms=(Alternative(application=name),)))
    result = PLATFORM.lower(requested, None)
    text = "\n".join(b.text for b in PLATFORM.blocks(result.plan, result, requested))

    assert f" match protocol {words}\n" in text
    (rule,) = (r for r in line(result).egress.rules if r.name == "gold")
    (held,) = (r for r in PLATFORM.parse(text, "r9", "12.4").interfaces if r.name == "Serial0/0")
    assert held.egress.rules[0].any_of == rule.any_of == (Term(application=name),)


def test_what_no_inspection_knows_is_told_by_its_ports() -> None:
    result = PLATFORM.lower(request(a_class(terms=(Alternative(application="iscsi"),))), None)

    (rule,) = (r for r in line(result).egress.rules if r.name == "gold")
    assert [(t.protocol, [(p.first, p.last) for p in t.destination_ports]) for t in rule.any_of] == [
        (6, [(3260, 3260)])
    ]


def test_ports_and_other_flows_do_not_join_where_nothing_inspects() -> None:
    joined = a_class(terms=(Alternative(application="iscsi", source=("10.0.0.0/8",)),))

    assert codes(PLATFORM.lower(request(joined), None), Severity.ERROR) == ["recognition-unsupported"]


@pytest.mark.parametrize("image", ["", "newest", "12", "x.y", "(12.4)"])
def test_an_image_without_a_train_is_wrong_input(image: str) -> None:
    with pytest.raises(InputError) as caught:
        PLATFORM.lower(request(a_class(), image=image), None)

    assert caught.value.where.device == "r9"
    assert "12.4" in caught.value.hint


@pytest.mark.parametrize(("rate", "refused"), [("7 kb/s", True), ("8 kb/s", False)])
def test_a_rate_below_the_boxes_range_is_refused(rate: str, refused: bool) -> None:
    voice = a_class(treatment=Treatment.model_validate({"priority": {"rate": rate}}))

    assert ("share-out-of-range" in codes(PLATFORM.lower(request(voice), None), Severity.ERROR)) is refused


ASKED = EfficiencyRequest(header_compression=True, fragment_bytes=512, blocking_delay=0.016)


@pytest.mark.parametrize(
    ("framing", "command"),
    [
        (Framing.HDLC, "ip rtp header-compression\n"),
        (Framing.PPP, "ip rtp header-compression iphc-format\n"),
        (Framing.MLPPP, "ip rtp header-compression iphc-format\n"),
    ],
)
def test_the_format_of_compression_follows_the_framing(framing: Framing, command: str) -> None:
    wanted = request(a_class(), framing=framing, efficiency=ASKED)

    assert f" {command}" in text(wanted)
    assert ("ip-mtu-fragments" in codes(PLATFORM.lower(wanted, None), Severity.WARNING)) is (
        framing is not Framing.MLPPP
    )


@pytest.mark.parametrize(("image", "command"), [("12.4", "fragment delay 16"), ("12.2", "fragment-delay 16")])
def test_fragmentation_is_spelled_as_the_train_does(image: str, command: str) -> None:
    wanted = request(a_class(), image=image, name="Multilink1", framing=Framing.MLPPP, efficiency=ASKED)

    assert f" ppp multilink {command}\n" in text(wanted)
    assert line(PLATFORM.lower(wanted, None), "Multilink1").efficiency.fragment_bytes == 512


@pytest.mark.parametrize(("delay", "size"), [(0.0005, 16), (0.001, 32)])
def test_fragments_too_small_for_the_box_are_not_made_larger(delay: float, size: int) -> None:
    requested = EfficiencyRequest(fragment_bytes=size, blocking_delay=delay)

    lowered = PLATFORM.lower(request(a_class(), framing=Framing.MLPPP, efficiency=requested), None)

    assert line(lowered).efficiency == Efficiency(multilink=True)
    (finding,) = [f for f in lowered.findings if f.code == "fragment-size-approximate"]
    assert (finding.requested, finding.applied) == (f"{size} bytes", "no fragmentation")


WRITTEN_BY_PEOPLE = """\
class-map GOLD
 match ip precedence 5
class-map match-all BOTH
 match protocol http
 match ip dscp af21
policy-map P
 description by hand
 class GOLD
  priority 128 8000
 class BOTH
  bandwidth 64
  queue-limit 30
  shape average 64000
 class class-default
  fair-queue
interface Serial0/0
 service-policy output P
 no fair-queue
interface Serial0/1.1 point-to-point
 bandwidth 64
 ip rtp header-compression
interface Serial0/2
 no fair-queue
interface FastEthernet0/0
 service-policy input NOWHERE
"""


def test_what_people_wrote_is_read_and_the_rest_reported() -> None:
    plan = PLATFORM.parse(WRITTEN_BY_PEOPLE, "r9", "12.4")

    serial = plan.interface("Serial0/0")
    assert serial is not None
    assert serial.bandwidth_kbps == 1544
    assert [rule.any_of for rule in serial.egress.rules] == [
        (Term(precedence=(5,)),),
        (Term(application="http", dscp=(18,)),),
    ]
    scheduler = serial.egress.scheduler
    assert scheduler is not None
    voice, both, rest = scheduler.queues
    assert (voice.priority, voice.share) == (True, Share(unit=ShareUnit.KBPS, value=128))
    assert (both.share, both.limit_packets) == (Share(unit=ShareUnit.KBPS, value=64), 30)
    assert both.shape_rate == 64_000
    assert rest.fair
    sub, bare = plan.interface("Serial0/1.1"), plan.interface("Serial0/2")
    assert sub is not None
    assert (sub.bandwidth_kbps, sub.efficiency.header_compression) == (64, True)
    assert bare is not None
    assert bare.egress.scheduler is not None
    assert bare.egress.scheduler.discipline is Discipline.FIFO
    assert [entry.text for entry in plan.unknown] == [
        "description by hand",
        "service-policy input NOWHERE",
    ]
    assert all(WRITTEN_BY_PEOPLE.splitlines()[entry.line - 1].strip() == entry.text for entry in plan.unknown)


ODD = """\
 set dscp cos
  set cos dscp table T
  random-detect precedence rsvp 37 40
  random-detect precedence 1 2 3 4
 bandwidth inherit
  bandwidth remaining percent x
  bandwidth
  priority level 1
  queue-limit ²
  police cir 8000
 match not protocol http
 match ip dscp 99
 match
 ppp multilink fragment delay 10 5
 ip mtu x
 class
class-map
policy-map
interface
!
"""
LINES = st.sampled_from([*WRITTEN_BY_PEOPLE.splitlines(), *ODD.splitlines(), "", " ² "])


@SETTINGS
@given(st.lists(LINES, max_size=25))
def test_any_lines_are_read_or_reported(lines: list[str]) -> None:
    plan = PLATFORM.parse("\n".join(lines), "r9", "12.4")

    assert all(entry.text == " ".join(lines[entry.line - 1].split()) for entry in plan.unknown)


CLASSES_BY_HAND = """\
ip access-list extended WEB
 remark what people surf
 10 permit tcp any 10.0.0.0 0.0.0.255 eq www
 20 permit udp host 10.1.1.1 any range 16384 32767 dscp ef
 deny ip any any
access-list 105 permit tcp any any established
access-list 106 permit icmp any any
class-map match-all JOINED
 match access-group name WEB
 match input-interface FastEthernet0/0
 match not access-group 106
class-map match-any OPEN
 match access-group 105
 match access-group 107
 match not ip dscp ef
 match source-address mac 001b.54aa.bbcc
class-map match-all TWICE
 match ip dscp ef
 match ip dscp af41
policy-map P
 class JOINED
  police 64000 8000 8000 conform-action transmit  exceed-action set-dscp-transmit af13
 class OPEN
  police cir 64000 bc 8000 pir 128000 be 8000
   conform-action transmit
 class TWICE
  police cir 64000 bc 8000
   conform-action transmit
   exceed-action drop
   violate-action transmit
interface Serial0/0
 service-policy output P
"""


def test_access_lists_exceptions_and_policers_are_read_and_the_rest_reported() -> None:
    plan = PLATFORM.parse(CLASSES_BY_HAND, "r9", "12.4")

    serial = plan.interface("Serial0/0")
    assert serial is not None
    joined, opened, twice = serial.egress.rules
    inside = {"input_interface": "FastEthernet0/0"}
    assert joined.any_of == (
        Term(protocol=6, destination="10.0.0.0/24", destination_ports=(PortRange(first=80, last=80),), **inside),
        Term(
            protocol=17,
            source="10.1.1.1/32",
            destination_ports=(PortRange(first=16384, last=32767),),
            dscp=(46,),
            **inside,
        ),
    )
    assert joined.none_of == (Term(protocol=1),)
    assert joined.police == Policer(rate=64_000, burst=8000, exceed=Action(set_dscp=14))
    assert (opened.any_of, opened.none_of) == ((Term(),), (Term(dscp=(46,)),))
    assert opened.police == Policer(rate=64_000, burst=8000, peak_rate=128_000, excess_burst=8000)
    # No packet has two DSCPs.
    assert (twice.any_of, twice.police) == ((), None)
    assert sorted(entry.text for entry in plan.unknown) == sorted(
        [
            "access-list 105 permit tcp any any established",
            "match access-group 107",
            "match source-address mac 001b.54aa.bbcc",
            "police cir 64000 bc 8000",
        ]
    )
