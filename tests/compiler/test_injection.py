"""No text of an intent or an inventory that is taken adds, splits or comments out a line of a configuration."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from app.compiler.compile import compile_intent
from app.errors import InputError
from app.intent.loader import parse_intent
from app.inventory.models import Interface, Network

from .support import a_class, made_text, routers

SETTINGS = settings(max_examples=120, deadline=None, derandomize=True, database=None)

NASTY = st.one_of(
    st.text(max_size=45),
    st.text(alphabet="aZ09-_ !\n\r\t\x0b\x0c\x1c\x85\u2028\u2029\x00\x1b;|?^{}%\"'", max_size=12),
    st.builds(
        lambda name, tail: name + tail,
        st.sampled_from(["gold", "a", "Serial0/0"]),
        st.sampled_from(
            ["\nno ip cef", "\r\nexit", " ! x", "\n", "\r", "\x85end", "\u2028end", "!", "{{ 1 }}", "{% x %}", "-x"]
        ),
    ),
)

FIELDS: dict[str, Callable[[dict[str, Any], str], None]] = {
    "class": lambda data, value: data["classes"][0].update(name=value),
    "description": lambda data, value: data["classes"][0].update(description=value),
    "intent": lambda data, value: data.update(intent=value),
    "intent's description": lambda data, value: data.update(description=value),
    "output policy": lambda data, value: data["apply"][0].update(policy=value),
    "input policy": lambda data, value: data["apply"][1].update(policy=value),
    "application": lambda data, value: data["classes"][0]["match"]["any"][0].update(application=value),
    "role": lambda data, value: data["apply"][0].update(role=["edge", value]),
    "interfaces": lambda data, value: data["apply"][0].update(interfaces=["wan", value]),
    "dscp": lambda data, value: data["classes"][0].update(mark={"dscp": value}),
}


def shape(text: str) -> list[tuple[int, str]]:
    """Indentation and command of every line, as a box that ends lines at any line end would see them."""
    return [(len(line) - len(line.lstrip()), line.split()[0] if line.split() else "") for line in text.splitlines()]


def plain() -> dict[str, Any]:
    data: dict[str, Any] = json.loads(made_text([a_class("gold", mark={"dscp": "af21"}), a_class("silver")]))
    return data


def configurations(network: Network, data: dict[str, Any]) -> list[str]:
    return [d.text for d in compile_intent(parse_intent(json.dumps(data), "made.yaml"), network).devices]


@SETTINGS
@given(st.sampled_from(sorted(FIELDS)), NASTY)
def test_no_text_of_an_intent_changes_the_lines(field: str, value: str) -> None:
    data = plain()
    FIELDS[field](data, value)
    try:
        made = configurations(routers(), data)
    except InputError:
        return

    assert [shape(text) for text in made] == [shape(text) for text in configurations(routers(), plain())]


def test_a_taken_name_is_what_the_lines_hold() -> None:
    data = plain()
    FIELDS["class"](data, "gold-2_x")

    assert all("class-map match-any gold-2_x\n" in text for text in configurations(routers(), data))


@SETTINGS
@given(NASTY)
def test_no_name_of_an_interface_changes_the_lines(value: str) -> None:
    network = routers()
    r1 = network.device("r1")
    try:
        named = Interface.model_validate({**r1.interfaces[0].model_dump(), "name": value})
    except ValidationError:
        return
    assume(value != r1.interfaces[1].name)
    changed = r1.model_copy(update={"interfaces": (named, *r1.interfaces[1:])})

    (text,) = configurations(network.model_copy(update={"devices": (changed,)}), plain())
    (before,) = configurations(network.model_copy(update={"devices": (r1,)}), plain())

    assert shape(text) == shape(before)
