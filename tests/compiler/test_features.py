"""What a platform does not declare is refused before it is asked, once for each class and device."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from qosforge.compiler.compile import compile_intent
from qosforge.compiler.features import CORE_MATCH, MATCH_FEATURES, find_unsupported, without_unsupported
from qosforge.findings import Finding, Severity
from qosforge.intent.loader import parse_intent
from qosforge.intent.models import MatchTerm, Treatment
from qosforge.inventory.loader import load_network
from qosforge.inventory.models import Network
from qosforge.plan.request import Feature, TermRequest
from qosforge.platforms.base import installed, platform

from .support import CAMPUS, ROOT, a_class, made, made_text, routers

EVERYWHERE = [
    {"role": ["edge", "middle"], "interfaces": "wan", "direction": "output"},
    {"role": "edge", "interfaces": "lan", "direction": "input"},
    {"role": ["access", "core"], "interfaces": ["lan", "trunk"], "direction": "input"},
    {"role": ["access", "core"], "interfaces": ["lan", "trunk"], "direction": "output"},
]
CORE_TREATMENT = {"priority", "bandwidth", "wred"}
MATCHES: dict[Feature, dict[str, Any]] = {
    Feature.MATCH_PRECEDENCE: {"any": [{"precedence": 5}]},
    Feature.MATCH_FLOW: {"any": [{"protocol": "udp", "destination_port": 5060}]},
    Feature.MATCH_IPV6: {"any": [{"source": "2001:db8::/32"}]},
    Feature.MATCH_VLAN: {"any": [{"vlan": 10}]},
    Feature.MATCH_MAC: {"any": [{"destination_mac": "001b.54aa.bbcc"}]},
    Feature.MATCH_INPUT_INTERFACE: {"any": [{"input_interface": "FastEthernet0/0"}]},
    Feature.MATCH_MPLS: {"any": [{"mpls_experimental": 5}]},
    Feature.MATCH_QOS_GROUP: {"any": [{"qos_group": 3}]},
    Feature.MATCH_NONE: {"any": [{"dscp": "af21"}], "none": [{"dscp": "cs1"}]},
}
TREATMENTS: dict[Feature, dict[str, Any]] = {
    Feature.MARK_OUTPUT: {"mark": {"dscp": "ef"}},
    Feature.FAIR_QUEUE: {"fair_queue": {}},
    Feature.QUEUE_LIMIT: {"queue_limit": {"packets": 10}},
    Feature.QUEUE_LIMIT_BYTES: {"queue_limit": {"bytes": "15 kB"}},
    Feature.QUEUE_LIMIT_TIME: {"queue_limit": {"time": "20 ms"}},
    Feature.QUEUE_LIMIT_PERCENT: {"queue_limit": {"percent": 80}},
    Feature.BUFFERS: {"buffers": {"percent": 20}},
    Feature.WRED_PERCENT: {"wred": {"profiles": [{"dscp": "af31", "minimum": "60 %", "maximum": "80 %"}]}},
    Feature.POLICE_INPUT: {"police": {"rate": "64 kb/s"}},
    Feature.POLICE_OUTPUT: {"police": {"rate": "64 kb/s", "direction": "output"}},
    Feature.SHAPE: {"shape": {"rate": "64 kb/s"}},
    Feature.WRED_PROFILES: {
        "wred": {"profiles": [{"dscp": "af31", "minimum": "20 packets", "maximum": "40 packets"}]}
    },
    Feature.WRED_WEIGHT: {"wred": {"weight_exponent": 8}},
    Feature.ECN: {"wred": {"ecn": True}},
}
DETAILS: dict[Feature, dict[str, Any]] = {
    Feature.POLICE_PERCENT: {"police": {"percent": 10}},
    Feature.POLICE_TWO_BUCKETS: {"police": {"rate": "64 kb/s", "peak_rate": "128 kb/s"}},
    Feature.POLICE_REMARK: {"police": {"rate": "64 kb/s", "exceed": {"remark": "af12"}}},
    Feature.POLICE_CONFORM: {"police": {"rate": "64 kb/s", "conform": {"remark": "af11"}}},
}
"""Details of policing on input: told where the device has that."""
SHAPERS: dict[Feature, dict[str, Any]] = {
    Feature.SHAPE_BURST: {"rate": "64 kb/s", "burst": "1000 B"},
    Feature.SHAPE_PERCENT: {"percent": 10},
}
"""Details of a shaper: told where the device shapes."""
CLASSES: dict[Feature, dict[str, Any]] = {
    Feature.MARK_PRECEDENCE: {"mark": {"precedence": 3}},
    Feature.MARK_DROP_PRECEDENCE: {"mark": {"dscp": 40, "drop_precedence": "high"}},
    Feature.MARK_QOS_GROUP: {"mark": {"dscp": "af31", "qos_group": 3}},
    Feature.MARK_MPLS: {"mark": {"dscp": "af31", "mpls_topmost": 3}},
    Feature.WEIGHT: {"treatment": {"bandwidth": {"weight": 3}}},
    Feature.BOUNDED: {"treatment": {"bandwidth": {"remaining_percent": 10}, "bounded": True}},
    Feature.LEVEL: {"treatment": {"bandwidth": {"remaining_percent": 10}, "level": 2}},
    Feature.STRICT: {"treatment": {"priority": True}},
    Feature.PRIORITY_BURST: {"treatment": {"priority": {"percent": 5, "burst": "3200 B"}}},
    Feature.CHILDREN: {
        "treatment": {
            "bandwidth": {"remaining_percent": 10},
            "children": [a_class("inner", treatment={"bandwidth": {"percent": 50}})],
        }
    },
}
"""What a class says beside its match and the treatments that may be preferred."""
WISHES = frozenset({Feature.LEVEL, Feature.PRIORITY_BURST})
SCOPES: dict[Feature, dict[str, Any]] = {
    Feature.TUNNELS: {"direction": "output", "tunnels": ["Tunnel0"]},
    Feature.SHAPE_PORT: {"direction": "output", "shape": {"rate": "1 Mb/s"}},
    Feature.TRUST: {"direction": "input", "trust": "dscp"},
    Feature.TRUST_PHONE: {"direction": "input", "trust": "phone"},
}

EFFICIENCY: dict[Feature, dict[str, Any]] = {
    Feature.TRANSMIT_RING: {"transmit_ring": {"packets": 5, "prefer": False}},
    Feature.HEADER_COMPRESSION: {"header_compression": "rtp", "prefer": False},
    Feature.FRAGMENTS: {"fragment": {"size": "400 B"}, "prefer": False},
}


@cache
def campus() -> Network:
    return load_network(CAMPUS)


def refused(entry: dict[str, Any], **first: Any) -> list[Finding]:
    text = made_text([a_class(mark={"dscp": "af21"}, **first), entry], apply=EVERYWHERE)
    found = compile_intent(parse_intent(text, "made.yaml"), campus()).findings
    return [f for f in found if f.code == "feature-unsupported"]


def lacking(feature: Feature, devices: list[str]) -> list[str]:
    return [n for n in devices if feature not in platform(campus().device(n).platform).features]


def test_every_field_of_the_language_is_core_or_a_feature() -> None:
    assert set(MatchTerm.model_fields) == CORE_MATCH | MATCH_FEATURES.keys() == set(TermRequest.model_fields)
    assert set(Treatment.model_fields) == CORE_TREATMENT | {
        "fair_queue",
        "mark",
        "queue_limit",
        "buffers",
        "police",
        "shape",
        "bounded",
        "level",
        "children",
    }
    told = MATCHES.keys() | TREATMENTS.keys() | DETAILS.keys() | CLASSES.keys() | SCOPES.keys()
    told |= {Feature.REQUIRES_PHONE, Feature.KEEP_MARK}
    told |= {Feature.COS_TO_DSCP}
    assert set(Feature) == told | EFFICIENCY.keys() | SHAPERS.keys()


@pytest.mark.parametrize("feature", MATCHES)
def test_a_match_that_a_platform_lacks_is_an_error_once_for_each_device(feature: Feature) -> None:
    found = refused(a_class("silver", match=MATCHES[feature], mark={"dscp": "af31"}))

    # R2 is in the middle: it tells the class by its mark.
    assert [f.device for f in found] == lacking(feature, [d.name for d in campus().devices if d.name != "r2"])
    assert {(f.severity, f.traffic_class, f.file, f.line, f.requested) for f in found} <= {
        (Severity.ERROR, "silver", "made.yaml", 1, feature.value)
    }
    assert all(f.hint for f in found)


@pytest.mark.parametrize("prefer", [True, False])
@pytest.mark.parametrize("feature", TREATMENTS)
def test_a_treatment_that_a_platform_lacks_is_a_warning_where_it_is_preferred(
    feature: Feature, prefer: bool
) -> None:
    ((key, value),) = TREATMENTS[feature].items()
    treatment = {"bandwidth": {"remaining_percent": 10}, key: {**value, "prefer": prefer}}
    found = refused(a_class("silver", treatment=treatment, mark={"dscp": "af31"}))

    assert [f.device for f in found] == lacking(feature, [d.name for d in campus().devices])
    assert {f.severity for f in found} <= {Severity.WARNING if prefer else Severity.ERROR}


@pytest.mark.parametrize("feature", DETAILS)
def test_a_detail_of_a_policer_is_told_where_the_box_polices(feature: Feature) -> None:
    treatment = {"bandwidth": {"remaining_percent": 10}, **DETAILS[feature]}
    found = refused(a_class("silver", treatment=treatment, mark={"dscp": "af31"}))

    inputs = [d.name for d in campus().devices if d.name != "r2"]
    police = lacking(Feature.POLICE_INPUT, inputs)
    assert [f.device for f in found if f.requested == feature.value] == [
        n for n in lacking(feature, inputs) if n not in police
    ]
    assert [f.device for f in found if f.requested == Feature.POLICE_INPUT.value] == police


@pytest.mark.parametrize("feature", SHAPERS)
def test_a_detail_of_a_shaper_is_told_where_the_device_shapes(feature: Feature) -> None:
    treatment = {"bandwidth": {"remaining_percent": 10}, "shape": SHAPERS[feature]}
    found = refused(a_class("silver", treatment=treatment, mark={"dscp": "af31"}))

    every = [d.name for d in campus().devices]
    shape = lacking(Feature.SHAPE, every)
    told = [f.device for f in found if f.requested == feature.value]
    assert told == [n for n in lacking(feature, every) if n not in shape]
    assert [f.device for f in found if f.requested == Feature.SHAPE.value] == shape


@pytest.mark.parametrize("feature", CLASSES)
def test_what_a_class_says_and_a_platform_lacks_is_told(feature: Feature) -> None:
    first = {"treatment": {}} if feature is Feature.WEIGHT else {}  # one unit for all
    found = refused(a_class("silver", **{"mark": {"dscp": "af31"}, **CLASSES[feature]}), **first)

    marks = feature in (
        Feature.MARK_PRECEDENCE,
        Feature.MARK_DROP_PRECEDENCE,
        Feature.MARK_QOS_GROUP,
        Feature.MARK_MPLS,
    )
    devices = [d.name for d in campus().devices if not (marks and d.name == "r2")]
    mine = [f for f in found if f.requested == feature.value]
    assert [f.device for f in mine] == lacking(feature, devices)
    assert {f.severity for f in mine} <= {Severity.WARNING if feature in WISHES else Severity.ERROR}


@pytest.mark.parametrize("feature", SCOPES)
def test_what_a_scope_says_and_a_platform_lacks_is_told_for_its_interface(feature: Feature) -> None:
    apply = [{"ports": ["Serial0/0", "FastEthernet0/1", "GigabitEthernet0/1"], **SCOPES[feature]}]
    found = compile_intent(parse_intent(made_text([a_class()], apply=apply), "made.yaml"), campus()).findings

    told = [(f.device, f.interface) for f in found if f.code == "feature-unsupported"]
    ports = {(d.name, i.name) for d in campus().devices for i in d.interfaces if i.name in apply[0]["ports"]}
    names = {name for name, _ in ports}
    assert set(told) == {(n, p) for n, p in ports if n in lacking(feature, sorted(names))}
    assert len(told) == len(set(told))


def test_the_page_of_the_language_says_which_platform_has_what() -> None:
    page = (ROOT / "docs" / "intent.md").read_text(encoding="utf-8")
    rows = [[c.strip() for c in line.strip("|").split("|")] for line in page.splitlines() if line.startswith("| ")]
    heading = next(row for row in rows if row[1:] and row[1].startswith("`catalyst"))
    names = [name.strip("`") for name in heading[1:]]
    assert sorted(names) == sorted(installed())
    told = {row[0]: [entry == "yes" for entry in row[1:]] for row in rows}
    assert {f: told[f.value] for f in Feature} == {
        f: [f in platform(name).features for name in names] for f in Feature
    }


def test_marks_that_the_default_class_keeps_are_told_where_a_platform_clears_them() -> None:
    found = refused({"name": "default", "mark": {"keep": True}})

    recognising = [d.name for d in campus().devices if d.name != "r2"]
    told = [f.device for f in found if f.requested == Feature.KEEP_MARK.value]
    assert told == lacking(Feature.KEEP_MARK, recognising)


def test_a_phone_that_an_input_requires_is_told_where_classes_are_recognised_and_trusted_elsewhere() -> None:
    apply = [{"ports": ["FastEthernet0/1", "GigabitEthernet0/1"], "direction": "input", "requires_phone": True}]
    made = compile_intent(parse_intent(made_text([a_class()], apply=apply), "made.yaml"), campus())

    told = {(f.device, f.interface, f.requested) for f in made.findings if f.code == "feature-unsupported"}
    assert ("s2950", "FastEthernet0/1", Feature.REQUIRES_PHONE.value) in told
    trunk = next(i for d in made.devices if d.name == "s2970" for i in d.request.interfaces)
    assert (trunk.name, trunk.trust_in) == ("GigabitEthernet0/1", "phone")


def test_dscps_of_trusted_priorities_are_told_where_a_platform_lacks_them_and_a_port_trusts_them() -> None:
    apply = [{"role": ["edge", "distribution", "access", "core"], "direction": "input", "trust": "cos"}]
    text = made_text([a_class()], apply=apply, cos_to_dscp=[0, 8, 16, 24, 32, "ef", 48, 56])
    made = compile_intent(parse_intent(text, "made.yaml"), campus())

    told = [f for f in made.findings if f.requested == Feature.COS_TO_DSCP.value]
    trusting = [d.name for d in made.devices if any(i.trust_in == "cos" for i in d.request.interfaces)]
    assert trusting
    assert [f.device for f in told] == lacking(Feature.COS_TO_DSCP, trusting)
    assert {f.severity for f in told} == {Severity.ERROR}


@pytest.mark.parametrize("feature", EFFICIENCY)
def test_link_efficiency_that_a_platform_lacks_is_told_for_every_output(feature: Feature) -> None:
    rule = {"when": {"rate_below": "100 Gb/s"}, **EFFICIENCY[feature]}
    text = made_text([a_class(mark={"dscp": "af21"})], apply=EVERYWHERE, link_efficiency=[rule])
    compilation = compile_intent(parse_intent(text, "made.yaml"), campus())

    told = [f for f in compilation.findings if f.code == "feature-unsupported"]
    devices = lacking(feature, [d.name for d in campus().devices])
    assert [(f.device, f.interface, f.requested, f.severity) for f in told] == [
        (d.name, i.name, feature.value, Severity.ERROR)
        for d in compilation.devices
        if d.name in devices
        for i in d.request.interfaces
        if i.schedule
    ]


@pytest.mark.parametrize("name", sorted(installed()))
def test_a_platform_is_never_asked_for_what_it_does_not_declare(name: str) -> None:
    everything = {"any": [{"application": "http"}, *(t for m in MATCHES.values() for t in m["any"])]}
    treatment = {"bandwidth": {"remaining_percent": 10}}
    for part in TREATMENTS.values():
        treatment |= part
    loaded = made([a_class(match={**everything, "none": [{"dscp": "cs1"}]}, treatment=treatment)])
    request = compile_intent(loaded, routers()).devices[0].request
    known = platform(name).features

    kept = without_unsupported(request, known)

    assert list(find_unsupported(kept, known)) == []
    assert any(t.application == "http" for t in kept.classes[0].terms)


def test_a_class_of_which_nothing_is_left_does_not_take_everything() -> None:
    loaded = made([a_class(match={"any": [{"vlan": 3}], "none": [{"dscp": "cs1"}]})])

    device = compile_intent(loaded, routers()).devices[0]

    assert [f.code for f in device.findings if f.severity is Severity.ERROR] == ["feature-unsupported"]
    rule = next(r for i in device.plan.interfaces for r in i.egress.rules if r.name == "gold")
    assert rule.any_of == ()
