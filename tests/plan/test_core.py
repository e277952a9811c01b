"""The core of a request: one object for devices alike, with rates only where the classes depend on them."""

from __future__ import annotations

from typing import Any

import pytest

from qosforge.intent.models import Treatment
from qosforge.inventory.models import DeviceRole, Framing
from qosforge.plan.core import NOMINAL, core, depends_on_rate, rate_in
from qosforge.plan.request import ClassRequest, DeviceRequest, InterfaceRequest

DEFAULT = ClassRequest(name="default")


def classes(**treatment: Any) -> tuple[ClassRequest, ...]:
    return (ClassRequest(name="voice", treatment=Treatment.model_validate(treatment)), DEFAULT)


def port(name: str, usable: int, **more: Any) -> InterfaceRequest:
    return InterfaceRequest(name=name, rate=usable, usable=usable, framing=Framing.ETHERNET, **more)


APPLICATIONS: dict[str, Any] = {}


def request(requested: tuple[ClassRequest, ...], *ports: InterfaceRequest, **more: Any) -> DeviceRequest:
    fields = {
        "device": "",
        "platform": "p",
        "image": "1",
        "role": DeviceRole.EDGE,
        "intent": "i",
        "tolerance": 0.05,
        **more,
    }
    return DeviceRequest.model_construct(
        **fields, classes=requested, interfaces=ports, applications=APPLICATIONS, features=frozenset()
    )


def test_ports_alike_are_one_without_a_name() -> None:
    made = core(request(classes(priority={"percent": 20}), port("a", 100_000), port("b", 200_000)))
    assert [(i.name, i.rate, i.usable) for i in made.interfaces] == [("", NOMINAL, NOMINAL)]


def test_devices_alike_have_the_very_same_core() -> None:
    requested = classes(priority={"percent": 20})
    one, other = (core(request(requested, port(name, 100_000, schedule=True))) for name in ("a", "b"))
    assert one is other


@pytest.mark.parametrize("field", ["recognise", "trust", "schedule", "by_mark", "tagged"])
def test_what_is_done_at_a_port_is_kept(field: str) -> None:
    requested = classes(priority={"percent": 20})
    made = core(request(requested, port("a", 100_000), port("b", 100_000, **{field: True})))
    assert [getattr(i, field) for i in made.interfaces] == [False, True]


@pytest.mark.parametrize(
    ("field", "value"), [("image", "2"), ("role", DeviceRole.CORE), ("tolerance", 0.1), ("device", "r1")]
)
def test_devices_that_differ_have_cores_of_their_own(field: str, value: object) -> None:
    requested = classes(priority={"percent": 20})
    one, other = core(request(requested)), core(request(requested, **{field: value}))
    assert getattr(one, field) != getattr(other, field) == value


RATED: list[dict[str, Any]] = [
    {"priority": {"rate": "64 kb/s"}},
    {"bandwidth": {"rate": "64 kb/s"}},
    {"shape": {"rate": "64 kb/s"}},
    {"bandwidth": {"percent": 20}, "bounded": True},
    {
        "bandwidth": {"percent": 20},
        "wred": {"profiles": [{"dscp": ["af11"], "minimum": "10 ms", "maximum": "20 ms"}]},
    },
]
FREE: list[dict[str, Any]] = [
    {},
    {"priority": True},
    {"priority": {"percent": 20}},
    {"bandwidth": {"percent": 20}},
    {"bandwidth": {"weight": 20}},
    {"bandwidth": {"remaining_percent": 20}, "wred": True, "queue_limit": {"time": "10 ms"}},
    {"police": {"rate": "64 kb/s"}},
]


@pytest.mark.parametrize("treatment", RATED)
def test_rates_are_kept_where_classes_depend_on_them(treatment: dict[str, Any]) -> None:
    requested = classes(**treatment)
    assert depends_on_rate(requested)
    assert rate_in(requested, 64_000) == 64_000
    made = core(request(requested, port("a", 100_000), port("b", 200_000), port("c", 200_000)))
    assert [i.usable for i in made.interfaces] == [100_000, 200_000]


@pytest.mark.parametrize("treatment", FREE)
def test_rates_do_not_matter_elsewhere(treatment: dict[str, Any]) -> None:
    requested = classes(**treatment)
    assert not depends_on_rate(requested)
    assert rate_in(requested, 64_000) == rate_in(requested, 128_000) == NOMINAL


def test_what_divides_a_class_divides_its_rate() -> None:
    parent = ClassRequest(name="voice", children=(DEFAULT,))
    assert depends_on_rate((parent, DEFAULT))
