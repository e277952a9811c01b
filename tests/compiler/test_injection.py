"""No text of an intent or an inventory that is taken adds, splits or comments out a line, on any platform."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from qosforge.compiler.compile import compile_intent
from qosforge.errors import InputErrors, Place, QosforgeError
from qosforge.intent.loader import parse_intent
from qosforge.inventory.models import Device
from tests.counted import tried

from .goldens import every_platform

pytestmark = pytest.mark.hostile

SETTINGS = settings(max_examples=400, deadline=None, derandomize=True, database=None)

ENDS = (
    "\n",
    "\r\n",
    "\r",
    "\x0b",
    "\x0c",
    "\x1c",
    "\x1d",
    "\x1e",
    "\x85",
    "\u2028",
    "\u2029",
    "\x00",
    "\x03",
    "\x1b",
    "\t",
)
TAILS = ("no ip cef", "exit", "end", "! x", "!", "# x", "#", "^C", "x", "{{ 1 }}", "{% x %}", "-x", "|x", "?")
NASTY = st.one_of(
    st.text(max_size=45),
    st.text(alphabet="aZ09-_ !#^\n\r\t\x0b\x0c\x1c\x03\x85\u2028\u2029\x00\x1b;|?{}%\"'", max_size=12),
    st.builds(
        lambda head, end, tail: head + end + tail,
        st.sampled_from(["gold", "a", "1", "Serial0/0", "GigabitEthernet 0/1", ""]),
        st.sampled_from(["", " ", *ENDS]),
        st.sampled_from(TAILS),
    ),
    st.sampled_from(["exit", "end", "no", "default", "!", "#", "banner motd ^C", "x" * 41, "x" * 300, "${gold}"]),
)

Change = Callable[[dict[str, Any], Any], None]


def in_term(**fixed: Any) -> Callable[[str], Change]:
    """Put a value into a field of the first class's match."""

    def field(name: str) -> Change:
        return lambda data, value: data["classes"][0]["match"]["any"].__setitem__(0, {**fixed, name: value})

    return field


FIELDS: dict[str, Change] = {
    "intent": lambda data, value: data.update(intent=value),
    "description": lambda data, value: data.update(description=value),
    "class": lambda data, value: data["classes"][0].update(name=value),
    "class's description": lambda data, value: data["classes"][0].update(description=value),
    "child": lambda data, value: data["classes"][1]["treatment"]["children"][0].update(name=value),
    "output policy": lambda data, value: data["apply"][0].update(policy=value),
    "input policy": lambda data, value: data["apply"][1].update(policy=value),
    "own application": lambda data, value: data["applications"][0].update(name=value),
    "own ports": lambda data, value: data["applications"][0].update(ports=[value]),
    "parameter": lambda data, value: data["parameters"].update(gold=value),
    "parameter's name": lambda data, value: data["parameters"].update({value: "gold"}),
    "role": lambda data, value: data["apply"][0].update(role=["edge", "access", "core", value]),
    "tags": lambda data, value: data["apply"][0].update(interfaces=["wan", "trunk", "lan", value]),
    "devices": lambda data, value: data["apply"][0].update(
        devices=[*(d.name for d in every_platform().devices), value]
    ),
    "mark": lambda data, value: data["classes"][0].update(mark={"dscp": value}),
    "rate": lambda data, value: data["classes"][0]["treatment"].update(police={"rate": value}),
    "application": in_term()("application"),
    "dscp": in_term()("dscp"),
    "vlan": in_term()("vlan"),
    "source": in_term()("source"),
    "port": in_term(protocol="tcp")("destination_port"),
    "protocol": in_term()("protocol"),
    "mac": in_term()("source_mac"),
    "input interface": in_term()("input_interface"),
}
STEADY = frozenset(
    {"application", "dscp", "vlan", "source", "port", "protocol", "mac", "input interface", "rate", "mark"}
)
"""Fields whose good values, too, decide what lines there are."""


BROUGHT = {"ip", "permit", "mac", "seq", "police", "conform-action"}
"""Commands that good values of these fields bring."""


def shape(text: str) -> list[tuple[int, str]]:
    """Indentation and command of every line, as a device that ends lines at any line end would see them."""
    return [(len(line) - len(line.lstrip()), line.split()[0] if line.split() else "") for line in text.splitlines()]


def plain() -> dict[str, Any]:
    """An intent that every platform makes lines of."""
    share = {"bandwidth": {"remaining_percent": 20}}
    child = {"name": "inner", "match": {"any": [{"dscp": "af12"}]}, "treatment": share}
    classes = [
        {
            "name": "${gold}",
            "match": {"any": [{"application": "own"}]},
            "mark": {"dscp": "af21"},
            "treatment": share,
        },
        {
            "name": "silver",
            "match": {"any": [{"dscp": "af31"}]},
            "mark": {"dscp": "af31"},
            "treatment": share | {"children": [child]},
        },
    ]
    roles = ["edge", "middle", "access", "core"]
    return {
        "version": 1,
        "intent": "made",
        "tolerance": "100 %",
        "parameters": {"gold": "gold"},
        "applications": [{"name": "own", "protocol": "tcp", "ports": [80]}],
        "classes": classes,
        "apply": [
            {"role": roles, "interfaces": ["wan", "trunk", "lan"], "direction": "output"},
            {"role": roles, "interfaces": ["lan", "trunk"], "direction": "input"},
        ],
    }


NAMES = tuple(device.name for device in every_platform().devices)


def configuration(device: Device, data: dict[str, Any]) -> str:
    """The configuration of a device by an intent, by way of its text.

    Raises:
        QosforgeError: something is refused.
    """
    network = every_platform().model_copy(update={"devices": (device,)})
    return "".join(d.text for d in compile_intent(parse_intent(json.dumps(data), "made.yaml"), network).devices)


@cache
def usual(name: str) -> list[tuple[int, str]]:
    """The shape of what a device gets without anything nasty."""
    return shape(configuration(every_platform().device(name), plain()))


def commands(lines: Iterable[tuple[int, str]]) -> set[str]:
    """What lines begin with."""
    return {command for _, command in lines}


def places(refused: QosforgeError) -> list[Place]:
    """Where what is wrong stands."""
    return [p.where for p in refused.problems()] if isinstance(refused, InputErrors) else [refused.where]


@SETTINGS
@given(st.sampled_from(sorted(FIELDS)), st.sampled_from(NAMES), NASTY)
def test_no_text_of_an_intent_changes_the_lines(field: str, name: str, value: str) -> None:
    tried("injection mutants of an intent or an inventory")
    data = plain()
    FIELDS[field](data, value)
    text, where = None, list[Place]()
    try:
        text = configuration(every_platform().device(name), data)
    except QosforgeError as refused:
        where = places(refused)

    if text is None:
        assert all(place.file and place.line for place in where)
    elif field in STEADY:
        assert commands(shape(text)) <= commands(usual(name)) | BROUGHT
    else:
        assert shape(text) == usual(name)


@SETTINGS
@given(st.sampled_from(NAMES), NASTY)
def test_no_name_of_an_interface_changes_the_lines(name: str, value: str) -> None:
    tried("injection mutants of an intent or an inventory")
    device = every_platform().device(name)
    entries = [i.model_dump() for i in device.interfaces]
    entries[0]["name"] = value
    try:
        named = Device.model_validate({**device.model_dump(), "interfaces": entries})
        text = configuration(named, plain())
    except (ValidationError, QosforgeError):
        return

    assert commands(shape(text)) <= commands(usual(name))
    assert len(text.split("\n")) == len(text.splitlines()) + 1


@SETTINGS
@given(st.sampled_from(NAMES), st.sampled_from(["name", "image", "driver", "platform", "role", "startup"]), NASTY)
def test_nothing_said_of_a_device_changes_the_lines(name: str, field: str, value: str) -> None:
    tried("injection mutants of an intent or an inventory")
    device = every_platform().device(name)
    try:
        changed = Device.model_validate({**device.model_dump(), field: value})
        text = configuration(changed, plain())
    except (ValidationError, QosforgeError):
        return

    assert commands(shape(text)) <= commands(usual(name))


@pytest.mark.parametrize("name", [name for name in NAMES if name != "catalyst-2950-si"])
def test_a_taken_name_is_what_the_lines_hold(name: str) -> None:
    data = plain()
    FIELDS["class"](data, "gold-2_x")

    assert "gold-2_x" in configuration(every_platform().device(name), data)
