"""Filters, meters and shapers of the 5510: what they become, round trip, and on the emulated device."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qosforge.compiler.candidate import find_plan_differences
from qosforge.configtree.tree_text import tree_text
from qosforge.intent.loader import LoadedIntent, parse_intent
from qosforge.plan.model import Action, PortRange, Rule, Term, Trust
from qosforge.plan.terms import meet
from qosforge.platforms.capability_data import nearest
from qosforge.platforms.nortel_5510 import PLATFORM
from qosforge.platforms.nortel_5510.capabilities import CAPABILITIES
from qosforge.platforms.nortel_5510.filters import group_filters, in_box_order, mask, number_filters
from qosforge.platforms.nortel_5510.policing import BUCKETS, bucket_of, typed
from qoslab.packets import Packets

from .switch_support import booted, codes, delta, finding, lowered, port, push, rendered, startup, undo

DEVICE = "ers5510"
BULK = {"remaining_percent": 35}
RICH: list[dict[str, Any]] = [
    {
        "name": "voice",
        "match": {
            "any": [{"application": ["rtp-audio"], "source": ["10.1.0.0/16"]}, {"vlan": [8, 9, 12], "cos": [5]}]
        },
        "mark": {"dscp": "ef", "cos": 5},
        "treatment": {"priority": {"percent": 50}, "police": {"rate": "20 Mb/s", "burst": "60 kB"}},
    },
    {
        "name": "orders",
        "match": {
            "any": [
                {"protocol": ["tcp"], "destination_port": ["3000-3010"], "dscp": ["af21", "af22"]},
                {"precedence": [3]},
                {"source": ["2001:db8::/32"], "protocol": [6]},
            ]
        },
        "mark": {"precedence": 3, "drop_precedence": "high"},
        "treatment": {
            "bandwidth": BULK,
            "police": {"rate": "5500 kb/s", "exceed": {"remark": "af12"}, "prefer": True},
        },
    },
    {
        "name": "lab",
        "match": {
            "any": [
                {"source_mac": ["00:04:23:aa:00:01"]},
                {"destination_mac": ["00:04:23:aa:00:02"], "destination": ["10.2.0.0/16"]},
            ]
        },
        "treatment": {"bandwidth": BULK},
    },
    {"name": "default", "treatment": {"bandwidth": {"remaining_percent": 30}}},
]


def rich(*classes: dict[str, Any], shape: str = "50500 kb/s") -> LoadedIntent:
    document = {
        "version": 1,
        "intent": "rich",
        "classes": list(classes),
        "apply": [
            {"interfaces": ["lan", "trunk"], "direction": "input"},
            {"interfaces": ["lan"], "direction": "output", "shape": {"rate": shape}},
            {"interfaces": ["trunk"], "direction": "output"},
        ],
    }
    return parse_intent(json.dumps(document), "rich.yaml")


def test_everything_at_once_round_trips_and_the_box_takes_it(tmp_path: Path) -> None:
    box = booted(DEVICE, tmp_path, startup(DEVICE))
    original = box.running_text()
    request, result = push(DEVICE, box, rich(*RICH))
    wanted = rendered(DEVICE, request, result)
    _, target = delta(DEVICE, original, wanted)
    for text in (box.running_text(), tree_text(target, PLATFORM.grammar)):
        held = PLATFORM.parse(text, DEVICE, "5.1")
        assert find_plan_differences(result.plan, held) == ()
        assert held.unknown == ()
    assert box.configure(undo(DEVICE, box.running_text(), original)) == []
    assert box.running_text() == original


def test_elements_hold_one_value_or_one_block_of_each_field() -> None:
    request, result = lowered(DEVICE, rich(*RICH), startup(DEVICE))
    lines = rendered(DEVICE, request, result).splitlines()
    elements = [line.split(" ", 3)[3] for line in lines if "-element 5" in line]
    assert elements[:3] == [
        "addr-type ipv4 src-ip 10.1.0.0/16 protocol 17 dst-port-min 16384 dst-port-max 32767",
        "vlan-min 8 vlan-max 9 priority 5",
        "vlan-min 12 vlan-max 12 priority 5",
    ]
    assert "addr-type ipv6 src-ip 2001:db8::/32 next-header 6" in elements
    assert "src-mac 00:04:23:aa:00:01 src-mac-mask ff:ff:ff:ff:ff:ff" in elements
    # One alternative asks for an address and a MAC address: one set of two classifiers.
    both = [line for line in lines if " set-id 50020 " in line]
    assert both[:2] == [
        "qos classifier 50020 set-id 50020 name lab-2 element-type ip element-id 50020",
        "qos classifier 50520 set-id 50020 element-type l2 element-id 50020",
    ]


def test_numbers_are_told() -> None:
    _, result = lowered(DEVICE, rich(*RICH), startup(DEVICE))
    note = finding(result, "range-as-blocks")
    assert (note.traffic_class, note.requested, note.applied) == ("orders", "ports 3000 to 3010", "3 elements")
    assert finding(result, "precedence-as-dscps").applied == "8 elements"
    assert finding(result, "precedence-carried-as-dscp").applied == "DSCP cs3"
    rate = finding(result, "police-rate-approximate")
    assert (rate.severity.value, rate.requested, rate.applied) == ("warning", "5.5 Mb/s", "5 Mb/s")
    assert finding(result, "police-burst-approximate").applied == "65536 bytes"
    shapes = [f for f in result.findings if f.code == "port-shape-approximate"]
    assert [(f.interface, f.severity.value, f.applied) for f in shapes] == [
        (name, "info", "50 Mb/s with a bucket of 32768 bytes") for name in ("1", "2")
    ]


def test_a_port_slower_than_any_shaper() -> None:
    _, result = lowered(DEVICE, rich(*RICH, shape="700 kb/s"), startup(DEVICE))
    assert codes(result)["port-shape-unsupported"] == "error"
    assert port(result.plan, "1").egress.shape_rate is None


def test_what_exceeds_is_remarked_and_stays_in_its_queue(tmp_path: Path) -> None:
    box = booted(DEVICE, tmp_path, startup(DEVICE))
    _, result = push(DEVICE, box, rich(*RICH))
    rule = next(r for r in port(result.plan, "1").ingress.rules if r.name == "orders")
    assert rule.police is not None
    assert rule.police.exceed == Action(set_dscp=12, set_cos=rule.set_cos)
    assert rule.set_drop_precedence == "high"
    offered = [Packets(count=3000, bytes=1000, protocol=6, dscp=24, tagged=False)]
    outcomes = box.offer("1", "48", offered, 1.0)
    assert {o.dscp_out for o in outcomes} == {24, 12}
    assert len({o.queue for o in outcomes}) == 1


def test_a_class_without_a_mark_keeps_what_it_is_told_by() -> None:
    keep = {"name": "keep", "match": {"any": [{"dscp": ["cs2", "af31"]}]}, "treatment": {"bandwidth": BULK}}
    request, result = lowered(DEVICE, rich(keep, {"name": "default"}), startup(DEVICE))
    rules = port(result.plan, "1").ingress.rules
    assert [(r.name, r.set_dscp, [t.dscp for t in r.any_of]) for r in rules] == [
        ("keep-16", 16, [(16,)]),
        ("keep-26", 26, [(26,)]),
    ]
    assert {result.classes[r.name] for r in rules} == {"keep"}
    assert "mark-reset" not in codes(result)
    held = PLATFORM.parse(rendered(DEVICE, request, result), DEVICE, "5.1")
    assert port(held, "1").ingress == port(result.plan, "1").ingress


def test_classes_that_are_called_like_actions_have_actions_of_their_own(tmp_path: Path) -> None:
    police = {"rate": "5 Mb/s", "exceed": {"remark": "af12"}}
    remarked = {"match": {"any": [{"dscp": ["af11"]}]}, "mark": {"dscp": "af11"}, "treatment": {"police": police}}
    kept = {"name": "gold", "match": {"any": [{"dscp": ["ef", "cs5"]}]}}
    loaded = rich(
        {"name": "silver", **remarked},
        {"name": "silver-x", "match": {"any": [{"dscp": ["af21"]}]}, "mark": {"dscp": "af21"}},
        kept,
        {"name": "gold-46", "match": {"any": [{"dscp": ["af31"]}]}, "mark": {"dscp": "af31"}},
        {"name": "default"},
    )
    box = booted(DEVICE, tmp_path, startup(DEVICE))
    request, result = push(DEVICE, box, loaded)
    host = port(result.plan, "1").ingress
    lines = rendered(DEVICE, request, result).splitlines()
    actions = [line.split()[4] for line in lines if line.startswith("qos action")]
    assert len(actions) == len(set(actions)) == 6
    assert {result.classes[r.name]: r.set_dscp for r in host.rules if r.set_dscp != 40} == {
        "silver": 10, "silver-x": 18, "gold": 46, "gold-46": 26,
    }  # fmt: skip
    assert port(PLATFORM.parse(box.running_text(), DEVICE, "5.1"), "1").ingress == host


@pytest.mark.parametrize(
    ("trust", "line", "held"),
    [
        ("cos", "qos if-group name qosforge-cos class unrestricted", Trust.KEEP),
        ("dscp", "qos if-group name qosforge-trunk class trusted", Trust.DSCP),
        ("none", "qos if-group name qosforge-none class untrusted", Trust.NONE),
    ],
)
def test_what_a_port_trusts(trust: str, line: str, held: Trust, tmp_path: Path) -> None:
    document = {
        "version": 1,
        "intent": "trust",
        "classes": [
            {"name": "calls", "match": {"any": [{"cos": [6, 7]}]}, "treatment": {"priority": True}},
            {"name": "default"},
        ],
        "apply": [
            {"interfaces": "lan", "direction": "input", "trust": trust},
            {"interfaces": "lan", "direction": "output"},
        ],
    }
    loaded = parse_intent(json.dumps(document), "trust.yaml")
    box = booted(DEVICE, tmp_path, startup(DEVICE))
    request, result = push(DEVICE, box, loaded)
    assert line in rendered(DEVICE, request, result)
    plan = PLATFORM.parse(box.running_text(), DEVICE, "5.1")
    assert port(plan, "1").ingress.trust is held
    assert find_plan_differences(result.plan, plan) == ()
    assert "priority-cap-not-enforced" not in codes(result)
    offered = [[Packets(count=1, bytes=99, cos=cos, tagged=True)] for cos in (7, 6, 0)]
    queues = [box.offer("1", "2", packets, 0.0)[0].queue for packets in offered]
    # A trusted port leaves the CoS of a DSCP alone that has no row of its own.
    assert queues == (["2"] * 3 if trust == "none" else ["1 strict", "1 strict", "2"])
    assert ("unmarked-class" in codes(result)) is (trust == "dscp")


# -- blocks ---------------------------------------------------------------------------------------

TERMS = st.builds(
    Term,
    dscp=st.sampled_from([(), (10,), (46,)]),
    protocol=st.sampled_from([None, 6, 17]),
    destination_ports=st.sampled_from([(), (PortRange(first=80, last=80),), (PortRange(first=16384, last=32767),)]),
    cos=st.sampled_from([(), (5,)]),
)
RULES = st.lists(st.lists(TERMS, min_size=1, max_size=9, unique=True), min_size=1, max_size=5).map(
    lambda found: tuple(
        Rule(name=f"c{at}", any_of=tuple(dict.fromkeys(terms)), set_dscp=at, set_cos=at)
        for at, terms in enumerate(found)
    )
)


def first_match(rules: tuple[Rule, ...], packet: Term) -> str | None:
    return next((r.name for r in rules if any(meet(t, packet) is not None for t in r.any_of)), None)


@given(RULES)
def test_blocks_keep_the_order_of_the_rules(rules: tuple[Rule, ...]) -> None:
    read = in_box_order(rules)
    packets = [
        Term(
            dscp=(dscp,),
            protocol=protocol,
            cos=(cos,),
            source_ports=(PortRange(first=1, last=1),),
            destination_ports=(PortRange(first=far, last=far),),
        )
        for dscp in (10, 46, 0)
        for protocol in (6, 17, 1)
        for cos in (5, 0)
        for far in (80, 20000, 5)
    ]
    made = number_filters(rules)
    boxes = tuple(Rule(name=f.rule, any_of=(f.term,)) for f in made.filters)
    for packet in packets:
        assert first_match(boxes, packet) == first_match(rules, packet) == first_match(read, packet)


@given(RULES)
def test_the_box_reads_back_as_the_plan_says(rules: tuple[Rule, ...]) -> None:
    plan = in_box_order(rules)
    bare = {r.name: r.model_copy(update={"any_of": ()}) for r in plan}
    # What is made of the plan reads back as the plan, and its blocks look at the same bits.
    made = number_filters(plan)
    read = group_filters((bare[f.rule], f.term) for f in made.filters)
    assert [(r.name, set(r.any_of)) for r in read] == [(r.name, set(r.any_of)) for r in plan]
    for policy in made.policies:
        assert len({mask(f.term) for f in policy.filters}) == 1
    precedences = [policy.precedence for policy in made.policies]
    assert precedences == list(range(15, 15 - len(precedences), -1))


# -- buckets --------------------------------------------------------------------------------------


@given(st.integers(1, 1023), st.sampled_from([4096 << n for n in range(8)]))
def test_a_bucket_is_read_back_as_it_was_meant(rate: int, bucket: int) -> None:
    made = typed(rate * 1_000_000, bucket)
    assert made.burst_rate > made.rate
    assert bucket_of(made.rate, made.burst_rate, made.duration) == bucket


@pytest.mark.parametrize(
    ("bucket", "duration"),
    [(4096, 7), (8192, 13), (16384, 26), (32768, 52), (65536, 105), (131072, 210), (262144, 419), (524288, 839)],
)
def test_the_guides_durations(bucket: int, duration: int) -> None:
    assert bucket_of(10_000, 15_000, duration) == bucket


def test_rates_and_buckets_of_the_ports() -> None:
    assert [CAPABILITIES.meter_rate.nearest(r) for r in (100_000, 1_400_000, 1_500_000, 2 * 10**9)] == [
        10**6,
        10**6,
        10**6,
        1_023 * 10**6,
    ]
    assert [nearest(BUCKETS, b) for b in (1, 6144, 6145, 10**7)] == [4096, 4096, 8192, 524288]


def test_policies_of_a_port_stand_between_those_of_its_group() -> None:
    rates = "committed-rate 10000 max-burst-rate 15000 max-burst-duration 210"
    text = f"""\
qos if-group name users class untrusted
qos ip-element 1 addr-type ipv4 ds-field 26
qos ip-element 2 addr-type ipv4 ds-field 10
qos l2-element 2 vlan-min 8 vlan-max 15
qos classifier 1 set-id 1 name one element-type ip element-id 1
qos classifier 2 set-id 2 name two element-type ip element-id 2
qos classifier 3 set-id 2 element-type l2 element-id 2
qos meter 1 name metered {rates} in-profile-action 5 out-profile-action 9
qos classifier-block 1 block-number 7 name blocked set-id 1 in-profile-action 3
qos if-assign port 1-2 name users
qos policy 1 name group if-group users clfr-type block clfr-name blocked precedence 4
qos policy 2 name own port 2 clfr-type classifier clfr-name two meter-name metered precedence 9
"""
    held = PLATFORM.parse(text, DEVICE, "5.1")
    assert held.unknown == ()
    assert [r.name for r in port(held, "1").ingress.rules] == ["Bronze_Service"]
    own, group = port(held, "2").ingress.rules
    assert (own.name, own.any_of) == ("Gold_Service", (Term(dscp=(10,), vlan=tuple(range(8, 16))),))
    assert own.police is not None
    assert (own.police.rate, own.police.burst, own.police.exceed) == (10_000_000, 131_072, Action())
    assert group.any_of == (Term(dscp=(26,)),)


# -- any intent -----------------------------------------------------------------------------------

NAMES = ("one", "two", "three", "four")
QUEUES = "! Model = Ethernet Routing Switch 5510-48T\nqos agent queue-set 8\n"


@st.composite
def intents(draw: st.DrawFn) -> LoadedIntent:
    """Intents of up to four classes with matches of every kind."""
    values: dict[str, st.SearchStrategy[Any]] = {
        "dscp": st.lists(st.integers(0, 63), min_size=1, max_size=5, unique=True),
        "precedence": st.lists(st.integers(0, 7), min_size=1, max_size=2, unique=True),
        "cos": st.lists(st.integers(0, 7), min_size=1, max_size=2, unique=True),
        "vlan": st.lists(st.integers(1, 4094), min_size=1, max_size=4, unique=True),
        "source": st.integers(0, 255).map(lambda n: [f"10.{n}.0.0/16"]),
        "source_mac": st.integers(0, 255).map(lambda n: [f"00:04:23:aa:00:{n:02x}"]),
        "protocol": st.just(["udp"]),
    }
    classes: list[dict[str, Any]] = []
    for name in NAMES[: draw(st.integers(1, len(NAMES)))]:
        fields = st.lists(st.sampled_from(sorted(values)), min_size=1, max_size=2, unique=True)
        terms = [{field: draw(values[field]) for field in draw(fields)} for _ in range(draw(st.integers(1, 3)))]
        treatment: dict[str, Any] = {"bandwidth": {"weight": draw(st.integers(1, 20))}}
        if name == "one" and draw(st.booleans()):
            treatment = {"priority": True}
        if draw(st.booleans()):
            treatment["police"] = {"rate": f"{draw(st.integers(1, 900))} Mb/s", "exceed": {"remark": 8}}
        entry: dict[str, Any] = {"name": name, "match": {"any": terms}, "treatment": treatment}
        if draw(st.booleans()):
            entry["mark"] = {"dscp": draw(st.integers(0, 63)), "cos": draw(st.integers(0, 7))}
        classes.append(entry)
    return rich(*classes, {"name": "default", "treatment": {"bandwidth": {"weight": 2}}})


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(intents())
def test_any_intent_round_trips(loaded: LoadedIntent) -> None:
    request, result = lowered(DEVICE, loaded, QUEUES)
    text = QUEUES + rendered(DEVICE, request, result)
    held = PLATFORM.parse(text, DEVICE, request.image)
    assert find_plan_differences(result.plan, held) == ()
    assert held.unknown == ()


def test_rules_that_are_put_into_blocks_twice_read_back_in_their_order() -> None:
    """Read back, the blocks of the first order make rules whose own blocks have another order."""
    police = {"rate": "119 Mb/s", "exceed": {"remark": 8}}
    classes: list[dict[str, Any]] = [
        {"name": "one", "match": {"any": [{"dscp": [28, 10, 34, 46, 37], "source": ["10.58.0.0/16"]}]}},
        {"name": "two", "match": {"any": [{"dscp": [14, 5, 24, 30]}]}, "mark": {"dscp": 30, "cos": 2}},
        {
            "name": "three",
            "match": {
                "any": [
                    {"precedence": [4, 5], "source": ["10.244.0.0/16"]},
                    {"dscp": [40, 5, 3], "vlan": [3223, 4025]},
                    {"precedence": [6, 0], "protocol": ["udp"]},
                ]
            },
        },
    ]
    for entry, weight in zip(classes, (15, 19, 3), strict=True):
        entry["treatment"] = {"bandwidth": {"weight": weight}} | (
            {} if entry["name"] == "three" else {"police": police}
        )
    default = {"name": "default", "treatment": {"bandwidth": {"weight": 2}}}
    request, result = lowered(DEVICE, rich(*classes, default), QUEUES)
    held = PLATFORM.parse(QUEUES + rendered(DEVICE, request, result), DEVICE, request.image)
    assert find_plan_differences(result.plan, held) == ()


def test_a_priority_that_a_later_class_has_too_reads_back() -> None:
    twins = [
        {"name": name, "match": {"any": [{"dscp": [10]}]}, "mark": {"dscp": dscp, "cos": 2}}
        for name, dscp in (("one", 17), ("two", 4))
    ]
    # Both mark priority 2, whose DSCP is the first one's; DSCP 4 has the priority of the class that it marks.
    request, result = lowered(DEVICE, rich(*twins, {"name": "default", "mark": {"dscp": 17, "cos": 1}}), QUEUES)
    held = PLATFORM.parse(QUEUES + rendered(DEVICE, request, result), DEVICE, "5.1")
    assert find_plan_differences(result.plan, held) == ()
