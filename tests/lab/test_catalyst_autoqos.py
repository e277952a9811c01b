"""AutoQoS on the Catalysts: what it types, what stays, and what happens when a typed line is refused."""

from __future__ import annotations

import pytest

from .conftest import BoxMaker, show, type_lines

PORTS = {"2950": "FastEthernet0/1", "2970": "GigabitEthernet0/1"}


def _port(text: str, name: str) -> list[str]:
    _, _, block = text.partition(f"interface {name}\n")
    block, _, _ = block.partition("!")
    return [line.strip() for line in block.splitlines() if "switchport" not in line]


@pytest.mark.parametrize("image", list(PORTS))
@pytest.mark.parametrize("kind", ["cisco-phone", "cisco-softphone", "trust"])
def test_the_line_and_what_it_types_survive_a_reload(make: BoxMaker, image: str, kind: str) -> None:
    box = make(image)
    shell, answers = type_lines(box, f"interface {PORTS[image]}", f"auto qos voip {kind}")
    assert answers == []
    assert shell.prompt == "SW(config-if)#"
    text = box.running_text()
    assert f"auto qos voip {kind}" in _port(text, PORTS[image])
    again = make(image, text)
    assert again.boot_messages == []
    assert again.running_text() == text


def test_2970_ports(make: BoxMaker) -> None:
    box = make("2970")
    type_lines(box, "interface gi0/1", "auto qos voip cisco-phone", "interface fa0/1", "auto qos voip trust",
               "interface gi0/2", "auto qos voip cisco-softphone")  # fmt: skip
    text = box.running_text()
    weights = ["srr-queue bandwidth share 10 10 60 20", "srr-queue bandwidth shape 10 0 0 0"]
    assert _port(text, "GigabitEthernet0/1") == [
        *weights, "queue-set 2", "mls qos trust device cisco-phone", "mls qos trust cos",
        "auto qos voip cisco-phone",
    ]  # fmt: skip
    assert _port(text, "FastEthernet0/1") == [*weights, "mls qos trust cos", "auto qos voip trust"]
    assert _port(text, "GigabitEthernet0/2") == [
        *weights, "queue-set 2", "auto qos voip cisco-softphone", "service-policy input AutoQoS-Police-SoftPhone",
    ]  # fmt: skip
    assert "\nmls qos\n" in text
    assert "mls qos map policed-dscp  24 26 46 to 0\n" in text
    assert "mls qos queue-set output 1 buffers 10 10 26 54\n" in text
    assert "  police 320000 8000 exceed-action policed-dscp-transmit\n" in text
    assert "queue-threshold: 4-3 4-2 3-3 2-3 3-3 1-3 2-3 2-3" in show(box, "show mls qos maps cos-output-q")


def test_2950_queues_and_ports(make: BoxMaker) -> None:
    box = make("2950")
    type_lines(box, "wrr-queue cos-map 1 7", "interface fa0/1", "auto qos voip cisco-phone")
    assert show(box, "show wrr-queue cos-map").endswith("Priority Queue  : 1 1 2 3 2 4 3 3")
    assert "Bandwidth  :  10  20  70   1" in show(box, "show wrr-queue bandwidth")
    assert "mls qos map cos-dscp 0 8 16 24 34 46 48 56\n" in box.running_text()
    assert _port(box.running_text(), "FastEthernet0/1") == [
        "mls qos trust device cisco-phone", "mls qos trust cos", "auto qos voip cisco-phone",
    ]  # fmt: skip


def test_the_global_lines_are_typed_once_and_stay(make: BoxMaker) -> None:
    box = make("2970")
    type_lines(box, "interface gi0/1", "auto qos voip trust", "mls qos map cos-dscp 0 8 16 24 32 46 48 56",
               "interface gi0/2", "auto qos voip trust")  # fmt: skip
    assert "mls qos map cos-dscp 0 8 16 24 32 46 48 56\n" in box.running_text()  # what was changed since is kept
    shell, answers = type_lines(
        box, "interface gi0/1", "no auto qos voip", "interface gi0/2", "no auto qos voip trust"
    )
    assert answers == []
    assert shell.prompt == "SW(config-if)#"
    text = box.running_text()
    assert _port(text, "GigabitEthernet0/1") == _port(text, "GigabitEthernet0/2") == []
    assert "\nmls qos\n" in text
    assert "mls qos queue-set output 2 buffers 16 6 17 61\n" in text
    assert type_lines(box, "interface gi0/1", "no auto qos voip")[1] == []
    assert box.running_text() == text


def test_another_kind_takes_the_place_of_the_first(make: BoxMaker) -> None:
    box = make("2950")
    type_lines(box, "interface fa0/1", "auto qos voip cisco-phone", "auto qos voip cisco-softphone")
    assert _port(box.running_text(), "FastEthernet0/1") == [
        "auto qos voip cisco-softphone", "service-policy input AutoQoS-Police-SoftPhone",
    ]  # fmt: skip


def test_a_refused_line_brings_back_what_ran_before(make: BoxMaker) -> None:
    box = make("2950")
    type_lines(box, "policy-map OWN", "interface fa0/1", "service-policy input OWN")
    before = box.running_text()
    shell, answers = type_lines(box, "interface fa0/1", "auto qos voip cisco-softphone")
    assert answers == ["Policy map OWN is already attached"]
    assert box.running_text() == before
    shell.feed("mls qos cos 3")  # the login still edits the port that is there
    assert "mls qos cos 3" in _port(box.running_text(), "FastEthernet0/1")
