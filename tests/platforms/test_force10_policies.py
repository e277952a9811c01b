"""Class maps, rates and drop profiles of the E300: what they become, round trip, and on the emulated device."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qosforge.compiler.candidate import find_plan_differences
from qosforge.configtree.tree_text import tree_text
from qosforge.findings import Fidelity
from qosforge.intent.loader import LoadedIntent, parse_intent
from qosforge.plan.model import TRANSMIT, Policer, Rule, Term
from qosforge.platforms.force10_e300 import PLATFORM
from qosforge.platforms.force10_e300.lines import TABLE
from qosforge.platforms.force10_e300.matching import cam_entries, in_box_order, orders
from qosforge.platforms.force10_e300.policing import meter_text, read_meter
from qoslab.boxes.force10_e300 import Force10E300
from qoslab.boxes.force10_e300.plane import ingress
from qoslab.packets import Packets
from tests.answers import refusals

from .switch_support import booted, codes, delta, finding, lowered, marked, port, push, rendered, startup, undo

DEVICE = "e300"
LAYER2 = "7.4.1.0"
"""The first image with policies of layer 2."""
SCOPES = [{"interfaces": ["lan", "trunk"], "direction": direction} for direction in ("input", "output")]
FLOW = {
    "protocol": ["tcp"],
    "destination_port": ["3000-3010"],
    "source": ["10.1.0.0/16"],
    "destination": ["10.9.9.9/32"],
}
BULK: dict[str, Any] = {
    "name": "bulk",
    "match": {"any": [FLOW]},
    "mark": {"dscp": "af11"},
    "treatment": {
        "bandwidth": {"remaining_percent": 20},
        "police": {
            "rate": "20500 kb/s",
            "burst": "60 kB",
            "peak_rate": "40 Mb/s",
            "excess_burst": "80 kB",
            "exceed": "transmit",
            "violate": "drop",
        },
        "shape": {"rate": "41 Mb/s"},
    },
}
VOICE: dict[str, Any] = {
    "name": "voice",
    "match": {"any": [{"application": ["rtp-audio"], "dscp": ["ef"]}, {"application": ["sip"], "dscp": ["ef"]}]},
    "mark": {"dscp": "ef"},
    "treatment": {"priority": {"percent": 20}, "police": {"rate": "10 Mb/s", "direction": "output"}},
}
ORDERS: dict[str, Any] = {
    "name": "orders",
    "match": {"any": [{"precedence": [3]}, {"dscp": ["af21"]}]},
    "mark": {"precedence": 3},
    "treatment": {
        "bandwidth": {"remaining_percent": 50},
        "wred": {
            "prefer": True,
            "profiles": [
                {"colour": "green", "minimum": "1024 kB", "maximum": "2048 kB"},
                {"colour": "yellow", "minimum": "100 packets", "maximum": "200 packets", "probability": "100 %"},
            ],
        },
    },
}
REST: dict[str, Any] = {"name": "default", "treatment": {"bandwidth": {"remaining_percent": 30}}}


def rich(*classes: dict[str, Any], apply: list[dict[str, Any]] | None = None) -> LoadedIntent:
    document = {"version": 1, "intent": "rich", "classes": list(classes), "apply": apply or SCOPES}
    return parse_intent(json.dumps(document), "rich.yaml")


def by_ethernet(*, priority: bool = True) -> LoadedIntent:
    treatment = {"priority": True} if priority else {"bandwidth": {"weight": 4}}
    mac = {"source_mac": ["00:04:23:aa:00:01"], "cos": [5]}
    other = {"any": [{"destination_mac": ["00:04:23:aa:00:02"]}, {"cos": [3, 4]}, {"vlan": [8, 9]}]}
    return rich(
        {"name": "platinum", "match": {"any": [mac]}, "mark": {"cos": 7, "dscp": "cs7"}, "treatment": treatment},
        {"name": "gold", "match": other, "mark": {"cos": 6}, "treatment": {"bandwidth": {"weight": 3}}},
        {"name": "default", "treatment": {"bandwidth": {"weight": 1}}},
    )


CASES = {
    "rates and profiles": rich(BULK, VOICE, ORDERS, REST),
    "ethernet": by_ethernet(),
    "trusted priorities": rich(
        {"name": "one", "match": {"any": [{"cos": [5, 6]}]}, "treatment": {"priority": True}},
        {"name": "two", "match": {"any": [{"cos": [3, 4]}]}, "treatment": {"bandwidth": {"weight": 3}}},
        {"name": "default", "treatment": {"bandwidth": {"weight": 1}}},
        apply=[{**SCOPES[0], "trust": "cos"}, SCOPES[1]],
    ),
    "nothing trusted": rich(
        marked("one", 46, 5, priority={"percent": 10}),
        {"name": "default"},
        apply=[{**SCOPES[0], "trust": "none"}, SCOPES[1]],
    ),
    "more classes than queues": rich(
        marked("v", 46, 5, priority={"percent": 10}),
        *(marked(f"c{n}", 32 + n, 4, bandwidth={"percent": n}) for n in range(1, 9)),
        {"name": "default"},
    ),
}


BY_ETHERNET = ("ethernet", "trusted priorities")


@pytest.mark.parametrize("case", CASES)
def test_round_trip_and_the_box_takes_it(case: str, tmp_path: Path) -> None:
    image = LAYER2 if case in BY_ETHERNET else ""
    box = booted(DEVICE, tmp_path, startup(DEVICE), image)
    original = box.running_text()
    request, result = push(DEVICE, box, CASES[case], image)
    wanted = rendered(DEVICE, request, result)
    _, target = delta(DEVICE, original, wanted)
    for text in (box.running_text(), tree_text(target, PLATFORM.grammar)):
        held = PLATFORM.parse(text, DEVICE, request.image)
        assert find_plan_differences(result.plan, held) == ()
        assert held.unknown == ()
    assert delta(DEVICE, box.running_text(), wanted)[0] == []
    assert refusals(box.configure(undo(DEVICE, box.running_text(), original))) == []
    assert box.running_text() == original


def test_from_layer_3_to_layer_2_and_back(tmp_path: Path) -> None:
    box = booted(DEVICE, tmp_path, startup(DEVICE), LAYER2)
    push(DEVICE, box, CASES["rates and profiles"], LAYER2)
    first = box.running_text()
    request, result = push(DEVICE, box, by_ethernet(), LAYER2)
    held = PLATFORM.parse(box.running_text(), DEVICE, request.image)
    assert find_plan_differences(result.plan, held) == ()
    assert refusals(box.configure(undo(DEVICE, box.running_text(), first))) == []
    assert box.running_text() == first


def test_numbers_are_told() -> None:
    _, result = lowered(DEVICE, CASES["rates and profiles"], startup(DEVICE))
    shape = finding(result, "shape-approximate")
    assert (shape.severity.value, shape.requested, shape.applied) == ("info", "41 Mb/s", "40 Mb/s")
    bursts = [f for f in result.findings if f.code == "police-burst-approximate"]
    assert [(f.traffic_class, f.requested, f.applied) for f in bursts] == [("bulk", "60000 bytes", "60416 bytes")]
    approximate = [f for f in result.findings if f.code == "wred-approximate"]
    assert [f.applied for f in approximate] == [
        "1000 to 2000 KB, 100 % at the end",
        "146 to 293 KB, 100 % at the end",
    ]
    assert codes(result)["wred-colour-needs-trust"] == "warning"
    assert finding(result, "precedence-carried-as-dscp").applied == "DSCP cs3"


DROPPED: dict[str, Any] = {
    "name": "bulk",
    "match": {"any": [{"dscp": ["af11", "af12"]}]},
    "treatment": {"bandwidth": {"remaining_percent": 50}, "wred": True},
}
ELSEWHERE = """\
policy-map-input mine
 trust diffserv
!
interface GigabitEthernet 3/7
 service-policy input mine
"""


@pytest.mark.parametrize("trusted", [False, True])
def test_packets_have_a_colour_where_a_port_trusts_dscps(tmp_path: Path, trusted: bool) -> None:
    box = booted(DEVICE, tmp_path, ELSEWHERE * trusted + startup(DEVICE))
    _, result = push(DEVICE, box, rich(DROPPED, marked("other", 12, 1), REST))
    assert isinstance(box, Force10E300)
    chassis = box.state
    for interface in chassis.interfaces.values():
        entered = ingress(chassis, interface, Packets(1, 100, dscp=12))
        assert (entered.colour == "yellow") == (trusted and interface.name == "GigabitEthernet 3/7")
    queue = next(q for q in port(result.plan, "GigabitEthernet 0/1").egress.scheduler.queues if q.name == "bulk")
    assert [(12 in p.dscp, p.minimum // 1024) for p in queue.red.profiles] == (
        [(False, 2048), (True, 1024)] if trusted else [(True, 2048)]
    )
    note = finding(result, "wred-colour-needs-trust")
    assert (note.requested, note.variant) == ("af12 yellow", "default" if trusted else "no-trust")
    assert finding(result, "wred-by-colour").variant == ("predefined" if trusted else "predefined-green")
    assert find_plan_differences(result.plan, PLATFORM.parse(box.running_text(), DEVICE, "6.5")) == ()


@pytest.mark.parametrize(("image", "police"), [("8.2.1.0", "kbps 20500"), ("8.2", "21"), ("6.5", "21")])
def test_rates_stand_where_they_work(image: str, police: str) -> None:
    request, result = lowered(DEVICE, CASES["rates and profiles"], startup(DEVICE), image)
    text = rendered(DEVICE, request, result)
    assert f"qos-policy-input bulk\n rate-police {police} 59 peak 40 78\n set ip-dscp 10\n" in text
    assert "qos-policy-output bulk\n bandwidth-percentage 14\n rate-shape 40\n" in text
    assert "qos-policy-output voice\n bandwidth-percentage 20\n rate-limit 10 305\n" in text
    assert "wred-profile orders-y\n threshold min 146 max 293\n" in text


def refused(police: dict[str, Any]) -> Any:
    treatment = {"bandwidth": {"remaining_percent": 20}, "police": police}
    return finding(lowered(DEVICE, rich({**BULK, "treatment": treatment}, REST))[1], "police-unsupported")


def test_policers_that_the_box_does_not_have() -> None:
    assert refused({"rate": "100 kb/s"}).message == "rates are from 1000 to 10000000 kb/s"
    assert refused({"rate": "1 Mb/s", "exceed": "transmit"}).severity.value == "error"
    assert refused({"rate": "1 Mb/s", "excess_burst": "50 kB", "prefer": True}).severity.value == "warning"
    assert refused({"rate": "1 Mb/s", "peak_rate": "2 Mb/s"}).applied == "not policed"


def test_a_shape_below_the_step() -> None:
    slow = {**BULK, "treatment": {"bandwidth": {"remaining_percent": 20}, "shape": {"rate": "9 Mb/s"}}}
    _, result = lowered(DEVICE, rich(slow, REST))
    note = finding(result, "shape-unsupported")
    assert (note.severity.value, note.requested, note.applied) == ("error", "9 Mb/s", "not shaped")


@pytest.mark.parametrize(
    ("rate", "image", "found"),
    [
        ("700 kb/s", "8.2.1.0", {}),
        ("20500 b/s", "8.2.1.0", {"police-unsupported": "error"}),
        ("700 kb/s", "8.1", {"police-unsupported": "error"}),
        ("1400 kb/s", "8.1", {"police-rate-approximate": "error"}),
        ("20500 kb/s", "8.1", {"police-rate-approximate": "info"}),
        ("2 Mb/s", "8.1", {}),
    ],
)
@pytest.mark.parametrize("direction", ["input", "output"])
def test_a_release_without_kilobits_polices_at_whole_megabits(
    rate: str, image: str, found: dict[str, str], direction: str
) -> None:
    police = {"rate": rate, "direction": direction}
    bulk = marked("bulk", 10, 1, bandwidth={"remaining_percent": 50}, police=police)
    told = codes(lowered(DEVICE, rich(bulk, REST), image=image)[1])
    assert {code: severity for code, severity in told.items() if code.startswith("police-")} == found


def test_profiles_that_the_box_does_not_have() -> None:
    for profile in (
        {"colour": "red", "minimum": "10 packets", "maximum": "20 packets"},
        {"precedence": [3], "minimum": "10 packets", "maximum": "20 packets"},
        {"colour": "green", "minimum": "10 ms", "maximum": "20 ms"},
        {"dscp": ["af11", "af12"], "minimum": "10 packets", "maximum": "20 packets"},
        {"colour": "green", "minimum": "10 kB", "maximum": "99000 kB"},
    ):
        wred = {"prefer": False, "profiles": [profile]}
        wanted = {**ORDERS, "treatment": {"bandwidth": {"remaining_percent": 50}, "wred": wred}}
        assert codes(lowered(DEVICE, rich(wanted, REST))[1])["wred-unsupported"] == "error"


def test_ethernet_policies_mark_the_priority_alone() -> None:
    request, result = lowered(DEVICE, by_ethernet(), startup(DEVICE), LAYER2)
    assert finding(result, "dscp-not-written").requested == "platinum DSCP cs7"
    assert "layer2-policy" not in codes(result)
    assert "priority-cap-not-enforced" not in codes(result)
    text = rendered(DEVICE, request, result)
    assert " service-policy input QOSFORGE-IN-L2 layer2\n" in text
    assert "mac access-list extended QOSFORGE-pl-bd74\n seq 5 permit host 00:04:23:aa:00:01 any\n" in text
    lines = ["class-map match-all platinum-2a layer2", " match mac access-group QOSFORGE-pl-bd74"]
    assert "\n".join([*lines, " match mac dot1p 5"]) in text


def test_ports_that_are_not_known_to_be_of_layer_2_are_told() -> None:
    request, result = lowered(DEVICE, by_ethernet(), image=LAYER2)
    assert finding(result, "layer2-policy").interface == ", ".join(i.name for i in request.interfaces)
    head, own, rest = startup(DEVICE).partition("interface GigabitEthernet 0/2\n no ip address\n switchport\n")
    assert own
    text = f"{head}interface GigabitEthernet 0/2\n no ip address\n{rest}"
    _, result = lowered(DEVICE, by_ethernet(), text, LAYER2)
    note = finding(result, "layer2-policy")
    assert (note.interface, "these do not have" in note.message) == ("GigabitEthernet 0/2", True)


def test_weights_that_whole_percentages_hold_are_exact() -> None:
    classes = [
        {"name": f"q{n}", "match": {"any": [{"cos": [2 * n]}]}, "treatment": {"bandwidth": {"weight": n + 1}}}
        for n in (3, 2, 1)
    ]
    rest = {"name": "default", "treatment": {"bandwidth": {"weight": 1}}}
    loaded = rich(*classes, rest, apply=[{**SCOPES[0], "trust": "cos"}, SCOPES[1]])
    request, result = lowered(DEVICE, loaded, startup(DEVICE), LAYER2)
    queues = port(result.plan, request.interfaces[0].name).egress.scheduler.queues
    shares = [q.share.value for q in queues]
    assert (shares[:5], sum(shares)) == ([9, 1, 18, 27, 36], 100)
    assert all(f.fidelity is Fidelity.EXACT for f in result.fidelity)
    # One policy has one percentage.
    assert len({(q.name, q.share.value) for q in queues}) == len({q.name for q in queues})


def test_ip_classes_beside_ethernet_ones_are_refused() -> None:
    mac = {"name": "m", "match": {"any": [{"source_mac": ["00:04:23:aa:00:01"]}]}, "mark": {"dscp": "cs1"}}
    _, result = lowered(DEVICE, rich(VOICE, mac, REST), image=LAYER2)
    assert finding(result, "match-unsupported").traffic_class == "m"


def test_vlans_of_layer_3_came_with_release_8() -> None:
    vlan = {"name": "v", "match": {"any": [{"vlan": [8]}]}, "mark": {"dscp": "cs1"}}
    _, result = lowered(DEVICE, rich(VOICE, vlan, REST))
    assert "6.5" in finding(result, "match-unsupported").message


def test_an_earlier_class_of_a_lower_queue_is_asked_first(tmp_path: Path) -> None:
    box = booted(DEVICE, tmp_path, startup(DEVICE))
    late = {**VOICE, "match": {"any": [{"application": ["http"]}]}}
    early = {**BULK, "match": {"any": [{"protocol": ["tcp"], "source": ["10.1.0.0/16"]}]}}
    _, result = push(DEVICE, box, rich(early, late, REST))
    assert "match-order-differs" not in codes(result)
    assert " seq 5 permit tcp 10.1.0.0/16 any order 1\n" in box.running_text()
    both = [Packets(count=1, bytes=99, protocol=6, src="10.1.2.3", dst_port=80, tagged=False)]
    assert box.offer("GigabitEthernet 0/2", "GigabitEthernet 0/0", both, 0.0)[0].ingress_class == "bulk"


def test_merged_classes_with_marks_of_their_own() -> None:
    many = [
        {**marked(f"c{n}", 32 + n, 4, bandwidth={"percent": 1}), "match": {"any": [{"dscp": [n]}]}}
        for n in range(1, 9)
    ]
    _, result = lowered(DEVICE, rich(*many, {"name": "default"}))
    differ = [f for f in result.findings if f.code == "merged-marks-differ"]
    assert [f.severity.value for f in differ] == ["error"]
    assert differ[0].requested == "c2 DSCP af41, c3 DSCP 35"


@pytest.mark.parametrize(
    "entry", ["permit ip 10.0.0.0 0.255.0.255 any", "permit ip 10.0.0.0/40 any", "permit ip host 10.0.0.300 any"]
)
def test_an_entry_whose_addresses_are_no_prefix_is_kept_as_not_understood(entry: str) -> None:
    text = f"""\
ip access-list extended WEB
 {entry}
 permit tcp any any eq 80
class-map match-any web
 match ip access-group WEB
policy-map-input IN
 service-queue 1 class-map web
interface GigabitEthernet 0/1
 service-policy input IN
"""
    plan = PLATFORM.parse(text, "e300", "8.4")

    assert [(line.text, line.context) for line in plan.unknown] == [(entry, "ip access-list extended WEB")]
    (rule,) = plan.interfaces[0].ingress.rules
    assert [(term.protocol, term.source) for term in rule.any_of] == [(6, None)]


def test_port_based_qos_stands_in_the_way() -> None:
    running = startup(DEVICE).replace(
        "interface GigabitEthernet 0/2\n",
        "interface GigabitEthernet 0/2\n dot1p-priority 5\n rate police 10 vlan 4\n rate limit kbps 5120 20\n"
        " rate shape 100 50\n",
    )
    held = port(PLATFORM.parse(running, DEVICE, "6.5"), "GigabitEthernet 0/2")
    assert held.ingress.rules == (Rule(name="dot1p-priority", any_of=(Term(),), set_cos=5, queue=5),)
    assert [(p.any_of, p.police) for p in held.ingress.policers] == [
        ((Term(vlan=(4,)),), Policer(rate=10_000_000, burst=50 * 1024))
    ]
    assert held.egress.policers[0].police == Policer(rate=5_120_000, burst=20 * 1024)
    assert (held.egress.shape_rate, held.egress.shape_burst) == (100_000_000, 50 * 1024)
    _, result = lowered(DEVICE, CASES["rates and profiles"], running)
    note = finding(result, "policy-in-the-way")
    assert (note.interface, note.severity.value) == ("GigabitEthernet 0/2", "error")
    assert "no rate shape" in note.hint


# -- pieces ---------------------------------------------------------------------------------------

KBPS = st.integers(512, 10**7).map(lambda k: k * 1000)
BURSTS = st.integers(16, 200_000).map(lambda kb: kb * 1024)


@given(KBPS, BURSTS, st.booleans(), KBPS, BURSTS)
def test_a_meter_reads_back(rate: int, burst: int, two: bool, peak: int, excess: int) -> None:
    police = Policer(rate=rate, burst=burst)
    if two:
        more = {"peak_rate": peak, "excess_burst": excess, "exceed": TRANSMIT, "violate": police.exceed}
        police = police.model_copy(update=more)
    found = TABLE.find(f"rate-police {meter_text(police)}", "input-policy")
    assert found is not None
    assert read_meter(found[1]) == police


QUEUED = st.lists(
    st.tuples(st.integers(1, 7), st.booleans()), min_size=1, max_size=6, unique_by=lambda pair: pair[0]
).map(
    lambda found: tuple(
        Rule(name=f"c{at}", any_of=(Term(protocol=at) if listed else Term(dscp=(at,)),), queue=queue)
        for at, (queue, listed) in enumerate(found)
    )
)


@given(QUEUED)
def test_the_order_that_is_typed_is_the_order_of_the_plan(rules: tuple[Rule, ...]) -> None:
    plan = in_box_order(rules)
    typed = orders(plan)
    looked_at = sorted(plan, key=lambda r: (typed.get(r.name, 254), -(r.queue or 0)))
    assert tuple(looked_at) == plan
    if all(not r.any_of[0].dscp for r in rules):
        assert plan == rules


def test_cam_entries_multiply_where_lines_hold_together() -> None:
    listed = Rule(name="a", any_of=(Term(protocol=6), Term(protocol=17)), queue=1)
    both = Rule(name="b", any_of=tuple(Term(protocol=p, dscp=(10, 12, 14)) for p in (6, 17)), queue=2)
    assert (cam_entries([listed]), cam_entries([both]), cam_entries([listed, both])) == (2, 6, 8)


NAMES = ("one", "two", "three", "four")


@st.composite
def intents(draw: st.DrawFn) -> LoadedIntent:
    """Intents of up to four classes of every kind that a layer-3 policy takes."""
    term = st.one_of(
        st.fixed_dictionaries({"dscp": st.lists(st.integers(0, 63), min_size=1, max_size=12, unique=True)}),
        st.fixed_dictionaries({"precedence": st.lists(st.integers(0, 7), min_size=1, max_size=3, unique=True)}),
        st.fixed_dictionaries(
            {
                "protocol": st.just(["udp"]),
                "destination_port": st.integers(1, 60000).map(lambda n: [f"{n}-{n + 9}"]),
            }
        ),
        st.fixed_dictionaries({"source": st.integers(0, 255).map(lambda n: [f"10.{n}.0.0/16"])}),
    )
    classes: list[dict[str, Any]] = []
    for name in NAMES[: draw(st.integers(1, len(NAMES)))]:
        treatment: dict[str, Any] = {"bandwidth": {"weight": draw(st.integers(1, 20))}}
        if name == "one" and draw(st.booleans()):
            treatment = {"priority": True}
        elif draw(st.booleans()):
            treatment["police"] = {"rate": f"{draw(st.integers(1, 900))} Mb/s"}
            treatment["wred"] = True
        match = {"any": draw(st.lists(term, min_size=1, max_size=4))}
        classes.append(
            {"name": name, "match": match, "mark": {"dscp": draw(st.integers(1, 63))}, "treatment": treatment}
        )
    return rich(*classes, {"name": "default", "treatment": {"bandwidth": {"weight": 2}}})


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(intents())
def test_any_intent_round_trips(loaded: LoadedIntent) -> None:
    request, result = lowered(DEVICE, loaded)
    text = rendered(DEVICE, request, result)
    held = PLATFORM.parse(text, DEVICE, request.image)
    assert find_plan_differences(result.plan, held) == ()
    assert held.unknown == ()
