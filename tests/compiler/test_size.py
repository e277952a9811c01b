"""What a policy expands to is counted first: too much is an error at its line, in no time and no memory."""

from __future__ import annotations

import time
import timeit
import tracemalloc
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qosforge.compiler.compile import Compilation, compile_intent
from qosforge.compiler.resolve import resolve
from qosforge.findings import Severity
from qosforge.intent.loader import parse_intent
from qosforge.inventory.loader import load_network
from qosforge.inventory.models import Device, DeviceRole, Interface, Network
from qosforge.plan.request import DeviceRequest
from qosforge.platforms.base import installed, platform

from .support import CAMPUS, made_text

pytestmark = pytest.mark.hostile

PROPERTY = settings(max_examples=40, deadline=None, derandomize=True, database=None)


@cache
def network() -> Network:
    """The campus, and beside it a device of each platform that it has none of."""
    campus = load_network(CAMPUS)
    lacking = sorted(set(installed()) - {device.platform for device in campus.devices})
    return campus.model_copy(update={"devices": (*campus.devices, *map(_device_of, lacking))})


def _device_of(name: str) -> Device:
    port = {"catalyst_9000": "GigabitEthernet1/0/1", "linux_tc": "eth1"}[name]
    interface = Interface(name=port, rate=10**9, role=DeviceRole.EDGE)
    image = platform(name).family.images[0]
    return Device(
        name=name, platform=name, image=image, role=DeviceRole.ACCESS, driver="ios", interfaces=(interface,)
    )


def one_of_each() -> Network:
    devices = {device.platform: device for device in reversed(network().devices)}
    return network().model_copy(update={"devices": tuple(devices.values())})


def everywhere() -> list[dict[str, Any]]:
    """Scopes of every device, so that each recognises what arrives on its ports towards hosts."""
    names = [device.name for device in network().devices]
    return [{"devices": names, "direction": direction} for direction in ("input", "output")]


def classes_text(classes: list[dict[str, Any]]) -> str:
    return made_text(classes, apply=everywhere())


def text_of(terms: list[dict[str, Any]]) -> str:
    return classes_text([{"name": "bulk", "match": {"any": terms}, "mark": {"dscp": "af11"}}])


def compiled(text: str) -> Compilation:
    return compile_intent(parse_intent(text, "big.yaml"), one_of_each())


def apart(first: int, count: int) -> list[int]:
    """Ports that no range joins."""
    return list(range(first, first + 2 * count, 2))


def poison(ports: int) -> list[dict[str, Any]]:
    return [{"protocol": "tcp", "destination_port": apart(1024, ports), "source_port": apart(1025, ports)}]


POISON = poison(4500)


def test_a_product_of_long_lists_is_an_error_at_its_line_in_no_memory() -> None:
    text = text_of(POISON)
    compiled(text_of([{"protocol": "tcp", "destination_port": 80}]))  # reads data and templates once
    tracemalloc.start()
    found = compiled(text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    errors = [f for f in found.findings if f.code == "match-too-large"]
    assert {f.device for f in errors} == {d.name for d in one_of_each().devices}
    for error in errors:
        assert error.severity is Severity.ERROR
        assert (error.file, error.line, error.traffic_class) == ("big.yaml", 1, "bulk")
        assert "4,500 source_port × 4,500 destination_port" in error.message
        assert int((error.requested or "").split()[0].replace(",", "")) >= 4500 * 4500
        assert "ranges" in (error.hint or "")
    assert peak < 64 << 20


def test_twice_the_ports_take_no_more_than_about_twice_as_long() -> None:
    def seconds(ports: int) -> float:
        text = text_of(poison(ports))
        return min(timeit.repeat(lambda: compiled(text), timer=time.thread_time, repeat=3, number=1))

    seconds(10)  # reads data and templates once
    assert seconds(4400) < 3 * seconds(2200), "their product is four times as large"


def test_ports_in_a_row_are_one_range() -> None:
    rows = [
        {"protocol": "tcp", "destination_port": list(range(2000, 6500)), "source_port": list(range(9000, 9999))}
    ]
    router = next(d for d in compiled(text_of(rows)).devices if d.request.platform == "cisco_ios")

    assert "permit tcp any range 9000 9998 any range 2000 6499" in router.text
    assert not [f for f in router.findings if f.severity is Severity.ERROR]


def test_what_is_told_by_its_mark_has_a_bound_too() -> None:
    core = next(d for d in network().devices if d.role.value == "core")
    loaded = parse_intent(text_of(POISON), "big.yaml")
    alone = network().model_copy(update={"devices": (core,)})
    for device in compile_intent(loaded, alone).devices:
        assert any(f.code == "match-too-large" for f in device.findings)


def test_many_classes_together_are_counted_too() -> None:
    def classes(letter: str) -> list[dict[str, Any]]:
        sides = {"source_port": apart(1000, 14), "destination_port": apart(1, 14)}
        flow = {"protocol": "tcp", **sides}
        return [{"name": f"{letter}{n}", "match": {"any": [flow]}, "mark": {"dscp": n}} for n in range(60)]

    switch = next(d for d in network().devices if d.platform == "catalyst_2970")
    few, many = classes("c"), [*classes("c"), *classes("d")]
    devices = network().model_copy(update={"devices": (switch,)})
    for listed, expected in ((few, 0), (many, 1)):
        (device,) = compile_intent(parse_intent(classes_text(listed), "many.yaml"), devices).devices
        errors = [f for f in device.findings if f.code == "match-too-large"]
        assert len(errors) == expected
    assert "the classes come to 23,520 conditions together, at most 16,384" in errors[0].message


def test_marks_that_are_joined_with_a_list_of_ports_stand_once() -> None:
    wanted = {"protocol": "tcp", "destination_port": apart(1024, 100), "dscp": [8, 10, 12, 14]}
    router = next(d for d in network().devices if d.platform == "cisco_ios")
    joined = {**wanted, "input_interface": [router.interfaces[0].name]}
    alone = network().model_copy(update={"devices": (router,)})
    (device,) = compile_intent(parse_intent(text_of([joined]), "big.yaml"), alone).devices
    assert not [f for f in device.findings if f.code == "match-too-large"]


PORT = st.integers(1, 65_000)
PORTS = st.lists(PORT | st.tuples(PORT, st.integers(1, 500)).map(lambda p: f"{p[0]}-{p[0] + p[1]}"), max_size=4)
PREFIXES = st.lists(st.integers(1, 250).map(lambda n: f"10.{n}.0.0/16"), max_size=3, unique=True)


@st.composite
def alternatives(draw: st.DrawFn) -> dict[str, Any]:
    """One alternative of flows with or without marks, of an application, or of marks."""
    kind = draw(st.sampled_from(["flow", "application", "mark"]))
    if kind == "application":
        return {"application": draw(st.sampled_from(["http", "ftp", "rtp-audio", "dns"]))}
    marks = {"dscp": draw(st.lists(st.integers(0, 63), min_size=1, max_size=12, unique=True))}
    if kind == "mark":
        return marks
    flow = {
        "protocol": draw(st.sampled_from([["tcp"], ["udp", "tcp"]])),
        "source": draw(PREFIXES),
        "destination": draw(PREFIXES),
        "source_port": draw(PORTS),
        "destination_port": draw(PORTS),
    }
    return {k: v for k, v in {**flow, **(marks if draw(st.booleans()) else {})}.items() if v}


def made_of(request: DeviceRequest) -> int:
    """What a platform really makes of the first class: lines and entries of a router, else conditions of rules."""
    box = platform(request.platform)
    lowered = box.lower(request, None)
    if request.platform == "cisco_ios":
        held = [b for b in box.blocks(lowered.plan, lowered, request) if b.kind in ("access-list", "class-map")]
        return max(entered([b.text for b in held if b.name.startswith(name)]) for name in ("QOSFORGE-bulk", "bulk"))
    rules = {
        (rule.name, rule.any_of): rule
        for interface in lowered.plan.interfaces
        for rule in interface.ingress.rules
        if rule.set_dscp is not None
    }
    return max((len(rule.any_of) for rule in rules.values()), default=0)


def entered(texts: list[str]) -> int:
    """Lines below the first of each text."""
    return sum(len(text.splitlines()) - 1 for text in texts)


def prefixes(count: int, octet: int) -> list[str]:
    return [f"10.{octet}.{n}.0/24" for n in range(count)]


def test_sources_and_destinations_are_two_lists_where_that_is_shorter() -> None:
    flow = {"protocol": "tcp", "source": prefixes(25, 1), "destination": prefixes(30, 2)}
    router = next(d for d in compiled(text_of([flow])).devices if d.request.platform == "cisco_ios")
    assert not [f for f in router.findings if f.severity is Severity.ERROR]
    held = {b.name: b.text for b in router.blocks if b.kind in ("access-list", "class-map")}
    lists = {name: len(text.splitlines()) - 1 for name, text in held.items() if name.startswith("QOSFORGE-")}
    assert lists == {"QOSFORGE-bulk.FROM": 25, "QOSFORGE-bulk.TO": 30}
    assert held["bulk"].splitlines()[0] == "class-map match-all bulk"
    read = platform("cisco_ios").parse(router.text, router.name, router.request.image)
    pairs = {(t.source, t.destination) for i in read.interfaces for r in i.ingress.rules for t in r.any_of}
    assert pairs == {(s, d) for s in flow["source"] for d in flow["destination"]}


def test_two_lists_of_each_protocol_meet_by_protocol() -> None:
    flow = {
        "protocol": ["tcp", "udp"],
        "source_port": apart(1, 8),
        "destination_port": apart(100, 9),
        "dscp": [8, 10],
    }
    router = next(d for d in compiled(text_of([flow])).devices if d.request.platform == "cisco_ios")
    assert entered([b.text for b in router.blocks if b.kind == "access-list"]) == 2 * 8 * 2 + 2 * 9
    read = platform("cisco_ios").parse(router.text, router.name, router.request.image)
    (taken,) = {r.any_of for i in read.interfaces for r in i.ingress.rules if r.name == "bulk"}
    assert len(taken) == len(set(taken)) == 2 * 8 * 9 * 2


@PROPERTY
@given(st.lists(alternatives(), min_size=1, max_size=3))
def test_the_count_is_never_below_what_is_made(terms: list[dict[str, Any]]) -> None:
    for request in resolve(parse_intent(text_of(terms), "big.yaml"), one_of_each())[0]:
        box = platform(request.platform)
        counted = box.count_conditions(request, request.classes[0])
        if counted <= box.most_conditions:
            assert made_of(request) <= counted, request.platform


@pytest.mark.parametrize("name", installed())
def test_every_platform_says_what_it_takes(name: str) -> None:
    assert 0 < platform(name).most_conditions <= 4096
