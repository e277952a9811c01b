"""What the E300 refuses or cannot do as asked, and what its configurations mean."""

from __future__ import annotations

from typing import Any

import pytest

from qosforge.commands import ReadLine
from qosforge.errors import InputError
from qosforge.plan.model import Policer, PortRange, Term, Trust
from qosforge.plan.request import DeviceRequest
from qosforge.platforms.force10_e300 import PLATFORM
from qosforge.platforms.force10_e300.access import read_term
from qosforge.platforms.force10_e300.capabilities import acl_name_limit, name_limit
from qosforge.platforms.force10_e300.lines import TABLE
from qosforge.platforms.force10_e300.queues import assign, percentages

from .switch_support import (
    REST,
    VOICE,
    WEB,
    campus,
    codes,
    finding,
    intent,
    lowered,
    marked,
    port,
    rendered,
    request_for,
    startup,
)

DEVICE = "e300"


def lower(*classes: dict[str, Any]) -> dict[str, str]:
    return codes(lowered(DEVICE, intent(*classes))[1])


def test_two_priority_classes() -> None:
    second = marked("signalling", 24, 3, priority={"percent": 5})
    _, result = lowered(DEVICE, intent(VOICE, second, REST))
    assert finding(result, "priority-queues-exceeded").traffic_class == "signalling"
    assert codes(result)["priority-queues-exceeded"] == "error"


def test_more_classes_than_queues() -> None:
    # All in the top three bits of af41, so that the fixed map does not tell them apart.
    many = [marked(f"c{n}", 32 + n, n, bandwidth={"percent": n}) for n in range(1, 8)]
    _, result = lowered(DEVICE, intent(VOICE, *many, {"name": "default"}))
    note = finding(result, "classes-merged")
    assert (note.severity.value, note.requested) == ("warning", "9 queues")
    assert "c1 + c2" in note.message
    assert "up to 2 points" in note.applied
    assert not {"classes-merged", "queues-exceeded"} & lower(VOICE, *many[:6], {"name": "default"}).keys()
    heavy = [marked(f"c{n}", 32 + n, n, bandwidth={"percent": 7}) for n in range(1, 8)]
    assert lower(marked("v", 46, 5, priority={"percent": 5}), *heavy)["queues-exceeded"] == "error"


def test_rate_shares() -> None:
    found = lower(VOICE, {**WEB, "treatment": {"bandwidth": {"rate": "20 Mb/s"}}}, {"name": "default"})
    assert found["rate-share-unsupported"] == "error"


def test_cos_match() -> None:
    loaded = intent(VOICE, {**WEB, "match": {"any": [{"cos": [2]}]}}, REST)
    assert codes(lowered(DEVICE, loaded, image="7.4.1.0")[1])["match-unsupported"] == "error"
    assert codes(lowered(DEVICE, loaded)[1])["match-line-unsupported"] == "error"


def test_ports_and_dscp_in_one_alternative() -> None:
    joined = {**WEB, "name": "web", "match": {"any": [{"application": ["http"], "dscp": [18]}]}}
    request, result = lowered(DEVICE, intent(VOICE, joined, REST))
    lines = ["class-map match-all web-a", " match ip access-group QOSFORGE-web-a", " match ip dscp 18"]
    assert "\n".join(lines) in rendered(DEVICE, request, result)
    mixed = {**WEB, "match": {"any": [{"application": ["http"], "dscp": [18]}, {"dscp": [20]}]}}
    request, result = lowered(DEVICE, intent(VOICE, mixed, REST))
    assert codes(result)["match-combination-unsupported"] == "error"
    assert "class-map match-any web-and-file\n match ip dscp 20" in rendered(DEVICE, request, result)


def test_a_strict_queue_that_the_intent_does_not_know() -> None:
    running = startup(DEVICE) + "strict-priority unicast 3\n"
    _, result = lowered(DEVICE, intent(WEB, REST), running)
    assert finding(result, "strict-queue-held").applied == "queue 3 strict"
    _, alike = lowered(DEVICE, campus(), running)
    assert "strict-queue-held" not in codes(alike)


def test_classes_without_a_packet_in_common_may_be_tried_in_any_order() -> None:
    early, late = ({**each, "match": {"any": [{"dscp": dscp}]}} for each, dscp in ((WEB, 18), (VOICE, 46)))
    _, result = lowered(DEVICE, intent(early, late, REST))
    assert "match-order-differs" not in codes(result)


def test_the_box_tries_higher_queues_first() -> None:
    late = {**VOICE, "name": "late"}
    _, result = lowered(DEVICE, intent(WEB, late, REST))
    note = finding(result, "match-order-differs")
    assert (note.traffic_class, note.requested) == ("late", "after web-and-file")


@pytest.mark.parametrize("name", ["GigabitEthernet 0/0\nno hostname", "Vlan 4", "gi 0/0"])
def test_ports_are_checked_before_they_reach_a_template(name: str) -> None:
    request = request_for(DEVICE, campus())
    first = request.interfaces[0].model_copy(update={"name": name})
    with pytest.raises(InputError, match="not a port"):
        PLATFORM.lower(request.model_copy(update={"interfaces": (first,)}), None)


def _ten(request: DeviceRequest) -> DeviceRequest:
    first = request.interfaces[0].model_copy(update={"name": "TenGigabitEthernet 1/0"})
    return request.model_copy(update={"interfaces": (first, *request.interfaces[1:])})


def test_faster_ports_have_profiles_of_their_own() -> None:
    request = _ten(request_for(DEVICE, campus()))
    result = PLATFORM.lower(request, None)
    text = rendered(DEVICE, request, result)
    assert "qos-policy-output default-te\n bandwidth-percentage 12\n wred green wred_teng_g" in text
    assert "interface TenGigabitEthernet 1/0\n service-policy input QOSFORGE-TRUST\n" in text
    assert " service-policy output QOSFORGE-OUT-te\n" in text
    held = PLATFORM.parse(text, DEVICE, "6.5")
    assert held.interface("TenGigabitEthernet 1/0") == result.plan.interfaces[0]


def test_long_names_are_cut_and_stay_apart() -> None:
    first = {**VOICE, "name": "synchronous-collaboration-of-campus-one"}
    second = {**WEB, "name": "synchronous-collaboration-of-campus-two"}
    request, result = lowered(DEVICE, intent(first, second, REST))
    names = {rule.name for rule in port(result.plan, "GigabitEthernet 0/2").ingress.rules}
    assert len(names) == 3
    assert all(len(name) <= 13 for name in names)
    assert {result.classes[name] for name in names} == {c.name for c in request.classes}
    assert (name_limit("6.5"), name_limit("8.1.1"), name_limit("8.4.2.7")) == (16, 16, 32)


def test_lists_of_like_classes_keep_names_of_their_own() -> None:
    share = {"bandwidth": {"remaining_percent": 20}}
    classes = [
        {**WEB, "name": f"web-and-file-{n}", "mark": {"dscp": f"af{n + 1}1"}, "treatment": share} for n in range(3)
    ]
    text = rendered(DEVICE, *lowered(DEVICE, intent(*classes, REST)))
    names = [line.split()[-1] for line in text.splitlines() if line.startswith("ip access-list")]
    assert len(names) == len(set(names)) == 4
    assert max(map(len, names)) <= 16
    assert (acl_name_limit("6.5"), acl_name_limit("7.7.1"), acl_name_limit("7.8.1.0")) == (16, 16, 140)


def test_percentages_meet_odd_ratios_within_a_point() -> None:
    third = marked("bulk", 10, 1, bandwidth={"remaining_percent": 13})
    loaded = intent(
        VOICE, {**WEB, "treatment": {"bandwidth": {"remaining_percent": 57}}}, third, REST
    )  # 57 : 13 : 30
    request = request_for(DEVICE, loaded)
    requested = {"voice-video": 0.5, "web-and-file": 0.285, "bulk": 0.065, "default": 0.15}
    chosen = assign(request, requested)
    table = percentages(request.classes, requested, chosen)
    assert sum(table) == 100
    assert all(share >= 1 for share in table)
    given = [table[chosen.queue_of[name]] for name in ("web-and-file", "bulk", "default")]
    for value, wanted in zip(given, (0.285, 0.065, 0.15), strict=True):
        assert 0.5 * value / sum(given) == pytest.approx(wanted, abs=0.01)


# -- reading --------------------------------------------------------------------------------------


def test_what_is_not_printed() -> None:
    held = PLATFORM.parse(startup(DEVICE), DEVICE, "6.5")
    assert [i.name for i in held.interfaces] == [f"GigabitEthernet 0/{n}" for n in range(4)]
    first = held.interfaces[0]
    assert first.ingress.trust is Trust.KEEP
    assert (first.egress.default_queue, first.egress.scheduler) == (0, None)
    assert held.system.scheduler is not None
    assert [q.share.value for q in held.system.scheduler.queues if q.share] == [1, 2, 3, 4, 5, 10, 25, 50]
    assert held.system.cos_to_queue == (2, 0, 1, 3, 4, 5, 6, 7)
    assert held.unknown == ()


def test_trust_without_fallback_makes_class_maps_dead() -> None:
    text = """\
class-map match-any a
 match ip precedence 5
policy-map-input in
 trust diffserv
 service-queue 3 class-map a
interface GigabitEthernet 0/0
 service-policy input in
"""
    held = PLATFORM.parse(text, DEVICE, "8.4")
    ingress = port(held, "GigabitEthernet 0/0").ingress
    assert (ingress.trust, ingress.rules) == (Trust.DSCP, ())
    assert [u.text for u in held.unknown] == ["service-queue 3 class-map a"]
    alive = PLATFORM.parse(text.replace("diffserv", "dot1p fallback"), DEVICE, "8.4")
    ingress = port(alive, "GigabitEthernet 0/0").ingress
    assert (ingress.trust, [(r.name, r.queue) for r in ingress.rules]) == (Trust.COS, [("a", 3)])


def test_class_maps_people_wrote() -> None:
    text = """\
ip access-list extended servers
 remark the two servers
 seq 5 permit tcp host 10.0.0.1 any range 80 81
 seq 10 permit 47 10.1.0.0/16 any
 seq 15 deny ip any any
class-map match-all both
 match ip access-group servers
 match ip dscp 10 12
qos-policy-input hold
 rate-police 10 100
policy-map-input in
 service-queue 1 class-map both qos-policy hold
interface gigabitethernet 0/0
 service-policy input in
 rate shape 100
"""
    held = PLATFORM.parse(text, DEVICE, "8.4")
    (rule,) = port(held, "GigabitEthernet 0/0").ingress.rules
    assert rule.any_of == (
        Term(
            protocol=6,
            source="10.0.0.1/32",
            destination_ports=(PortRange(first=80, last=81),),
            dscp=(10, 12),
        ),
        Term(protocol=47, source="10.1.0.0/16", dscp=(10, 12)),
    )
    assert rule.police == Policer(rate=10_000_000, burst=100 * 1024)
    assert [u.text for u in held.unknown] == ["seq 15 deny ip any any"]
    egress = port(held, "GigabitEthernet 0/0").egress
    assert (egress.shape_rate, egress.shape_burst) == (100_000_000, 10 * 1024)


def test_queues_without_a_percentage_divide_the_rest() -> None:
    text = """\
strict-priority unicast 5
wred-profile mine
qos-policy-output half
 bandwidth-percentage 50
 wred yellow mine
policy-map-output out
 service-queue 2 qos-policy half
interface GigabitEthernet 0/0
 service-policy output out
"""
    scheduler = port(PLATFORM.parse(text, DEVICE, "8.4"), "GigabitEthernet 0/0").egress.scheduler
    assert scheduler is not None
    assert [q.share.value for q in scheduler.queues if q.share] == [7, 7, 50, 7, 7, 7, 7, 7]
    assert [q.number for q in scheduler.queues if q.priority] == [5]
    red = scheduler.queues[2].red
    assert red is not None
    # A new profile begins as wred_ge_g, and green keeps its default.
    assert {(p.minimum, p.maximum) for p in red.profiles} == {(2048 * 1024, 4096 * 1024)}


def _entry(layer: str, text: str) -> ReadLine | None:
    """What an entry of an access list is read as."""
    (held,) = TABLE.read(f"{layer} access-list extended L\n {text}\n").entries
    return held.below[0] if held.below else None


@pytest.mark.parametrize(
    ("layer", "text"),
    [
        ("ip", "deny ip any any"),
        ("ip", "permit"),
        ("ip", "permit gre any any"),
        ("ip", "permit ip any"),
        ("mac", "permit 00:04:23:aa:00:00 00:00:00:00:00:ff any"),
    ],
)
def test_entries_that_a_term_cannot_hold(layer: str, text: str) -> None:
    entry = _entry(layer, text)
    assert entry is None or "rest" in entry


def test_entries_with_an_order() -> None:
    entry = _entry("ip", "seq 5 permit udp any any order 3")
    assert entry is not None
    assert (read_term(entry.values), entry["order"]) == (Term(protocol=17), 3)
    entry = _entry("mac", "permit host 00:04:23:AA:00:01 any")
    assert entry is not None
    assert (read_term(entry.values), "order" in entry) == (Term(source_mac="0004.23aa.0001"), False)


def test_lines_of_os9_are_named_with_all_that_is_below_them() -> None:
    text = """\
hostname blade
!
service-class dynamic dot1p
!
no qos-rate-adjust
!
no dcb enable
!
qos-policy-output storage ets
 bandwidth-percentage 50
dcb-input pfc
 pfc priority 4
priority-group storage
 priority-list 4
dcb-map FLEX
 no pfc mode on
class-map match-any mine cpu-qos
 match ip access-group bfd
interface TenGigabitEthernet 0/4
 rate-interval 60
 dcb-policy output ets
 dcb-map FLEX
"""
    named = [unknown.text for unknown in PLATFORM.parse(text, DEVICE, "6.5").unknown]
    plain = ("hostname blade", "!", "no qos-rate-adjust", "interface TenGigabitEthernet 0/4", "rate-interval 60")
    assert named == [line.strip() for line in text.splitlines() if line.strip() not in plain]


def test_a_standard_list_tells_a_class_by_its_sources() -> None:
    text = """\
mac access-list extended security
 seq 5 deny any any count
ip access-list standard users
 seq 5 permit 10.1.0.0/16 count
 permit host 10.9.0.1 order 3
 deny any
class-map match-any users
 match ip access-group users
policy-map-input mine
 service-queue 3 class-map users
interface GigabitEthernet 0/2
 service-policy input mine
"""
    held = PLATFORM.parse(text, DEVICE, "6.5")
    (rule,) = port(held, "GigabitEthernet 0/2").ingress.rules
    assert rule.any_of == (Term(source="10.1.0.0/16"),)
    assert [u.text for u in held.unknown] == ["permit host 10.9.0.1 order 3", "deny any"]


def test_rates_in_the_words_of_os9() -> None:
    text = """\
ip access-list extended voice
 permit udp any any dscp 46 count byte
class-map match-any voice
 match ip access-group voice
qos-policy-input voice
 rate police 100 60
qos-policy-output shaped
 rate shape 300
 bandwidth-percentage 30
policy-map-input in
 service-queue 3 class-map voice qos-policy voice
policy-map-output out
 service-queue 3 qos-policy shaped
interface TenGigabitEthernet 1/9
 service-policy input in
 service-policy output out
"""
    held = PLATFORM.parse(text, DEVICE, "6.5")
    (rule,) = port(held, "TenGigabitEthernet 1/9").ingress.rules
    assert (rule.any_of, rule.police) == (
        (Term(protocol=17, dscp=(46,)),),
        Policer(rate=100_000_000, burst=60 * 1024),
    )
    queue = port(held, "TenGigabitEthernet 1/9").egress.scheduler.queues[3]
    assert (queue.shape_rate, queue.share.value, held.unknown) == (300_000_000, 30, ())
