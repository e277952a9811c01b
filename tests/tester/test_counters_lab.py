"""The passive tester against the lab: devices that do what they print, and devices that do not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from qosforge.emulation import emulated_devices, offer_traffic
from qosforge.errors import DeviceError
from qosforge.platforms.base import platform
from qosforge.tester.counters.comparison import compare_counters
from qosforge.tester.counters.offered_load import expected_counts
from qoslab import control
from tests.answers import refusals

from .conftest import Campus

ALL = ("r1", "r2", "r3", "b256", "b56", "s2950", "s2970", "ers5510", "e300")
COUNTING = tuple(name for name in ALL if name != "s2950")


def test_devices_that_do_what_they_print_give_no_contradiction(campus: Campus) -> None:
    notes = campus.notes(*ALL)
    assert [note.message for note in notes if note.contradiction] == []
    grown = {name: [note for note in notes if note.device == name and note.grew] for name in ALL}
    assert all(note.grew == note.expected for name in ALL if name != "ers5510" for note in grown[name])
    assert {name for name in ALL if len(grown[name]) >= 2} == set(COUNTING)
    assert [note.message for note in notes if note.device == "s2950"] == ["the device has no counters by class"]


@pytest.mark.parametrize(
    ("device", "served_first"),
    [("r2", {("Serial0/1", "voice-video")}), ("s2970", {("GigabitEthernet0/5", "1")}), ("e300", set())],
)
def test_classes_served_first_are_told_where_the_device_tells(
    campus: Campus, device: str, served_first: set[tuple[str, str]]
) -> None:
    told = {(c.interface, c.queue) for c in campus.read(device)[device] if c.priority}
    assert served_first <= told
    assert bool(told) == bool(served_first)


@pytest.mark.parametrize("device", ["r1", "r3"])
def test_a_priority_that_is_printed_and_ignored_is_seen_in_its_queue(campus: Campus, device: str) -> None:
    control.plant(campus.state, device, "ignore_priority")
    try:
        notes = campus.notes(*COUNTING)
    finally:
        control.plant(campus.state, device, "clear")
    wrong = [note for note in notes if note.contradiction]
    assert {(note.device, note.direction, note.queue) for note in wrong} == {(device, "output", "voice-video")}
    assert all("its priority queue took 0 of them" in note.message for note in wrong)


@contextmanager
def behind_the_back(campus: Campus, device: str, lines: list[str], back: list[str]) -> Iterator[None]:
    """Make a device act on other lines than those that were read back."""
    assert refusals(control.configure(campus.state, device, lines)) == []
    try:
        yield
    finally:
        assert refusals(control.configure(campus.state, device, back)) == []


CHANGES = {
    "r2": (
        ["class-map match-any web-and-file", "match dscp ef", "no match dscp af21"],
        ["class-map match-any web-and-file", "match dscp af21", "no match dscp ef"],
        "web-and-file",
    ),
    "s2970": (
        ["mls qos srr-queue output dscp-map queue 3 threshold 1 34"],
        ["mls qos srr-queue output dscp-map queue 1 threshold 1 34"],
        "1",
    ),
    "e300": (
        ["class-map match-any web-and-file", "no match ip access-group QOSFORGE-we-d729"],
        ["class-map match-any web-and-file", "match ip access-group QOSFORGE-we-d729"],
        "web-and-file",
    ),
    "ers5510": (
        ["qos if-assign port 1 name qosforge-trunk"],
        ["qos if-assign port 1 name qosforge-host"],
        "voice-video",
    ),
}


@pytest.mark.parametrize("device", CHANGES)
def test_a_device_that_classifies_otherwise_than_it_printed_is_named_alone(campus: Campus, device: str) -> None:
    lines, back, class_or_queue = CHANGES[device]
    with behind_the_back(campus, device, lines, back):
        wrong = [note for note in campus.notes(*COUNTING) if note.contradiction]
    assert {note.device for note in wrong} == {device}
    assert class_or_queue in {note.queue for note in wrong}
    assert not [note for note in campus.notes(device) if note.contradiction]


def test_a_policy_detached_behind_the_back_has_no_counter(campus: Campus) -> None:
    detach = ["interface Serial0/1", "no service-policy output QOSFORGE-OUT"]
    attach = ["interface Serial0/1", "service-policy output QOSFORGE-OUT"]
    with behind_the_back(campus, "r3", detach, attach):
        wrong = [note for note in campus.notes("r3") if note.contradiction]
    assert {note.queue for note in wrong} == {"voice-video", "web-and-file"}
    assert all("has no counter" in note.message and note.interface == "Serial0/1" for note in wrong)


def test_a_policy_that_is_gone_is_an_error_of_the_device(campus: Campus) -> None:
    policy = next(command.split()[-1] for command in _commands(campus, "ers5510"))
    line = next(line for line in _running(campus, "ers5510") if line.startswith(f"qos policy {policy} "))
    with (
        behind_the_back(campus, "ers5510", [f"no qos policy {policy}"], [line]),
        pytest.raises(DeviceError, match="does not exist"),
    ):
        campus.read("ers5510")


def _commands(campus: Campus, device: str) -> tuple[str, ...]:
    plan = campus.plans[device]
    return platform(plan.platform).counter_commands(plan)


def _running(campus: Campus, device: str) -> list[str]:
    answer = control.request(campus.state, {"op": "running", "box": device})
    return str(answer["running"]).splitlines()


def test_devices_that_are_not_emulated_are_not_judged(campus: Campus) -> None:
    control.plant(campus.state, "r1", "ignore_priority")
    try:
        first = campus.read("r1")["r1"]
        offer_traffic(campus.network, campus.state, packets=5)
        notes = compare_counters(campus.plans["r1"], first, campus.read("r1")["r1"], None)
    finally:
        control.plant(campus.state, "r1", "clear")
    assert any(note.grew for note in notes)
    assert not any(note.contradiction or note.expected is not None for note in notes)


def test_traffic_is_carried_hop_by_hop_with_the_marks_that_leave_each_device(campus: Campus) -> None:
    offers = [
        offer
        for offer in offer_traffic(campus.network, campus.state, packets=10)
        if (offer.source, offer.destination, offer.destination_port) == ("192.168.3.15", "192.168.4.15", 16384)
    ]
    assert [offer.device for offer in offers] == ["s2970", "s2950", "r1", "r2", "r3", "e300", "ers5510"]
    assert [offer.dscp for offer in offers] == [0, 34, 34, 34, 34, 34, 34]
    assert [offer.device for offer in offers if offer.tagged] == ["s2950", "ers5510"]
    assert all(offer.cos == 0 for offer in offers if not offer.tagged)
    assert offers[1].cos == 5
    assert {offer.packets for offer in offers} == {10}


def test_expectations_follow_the_marks_that_a_device_was_given(campus: Campus) -> None:
    offers = [o for o in offer_traffic(campus.network, campus.state, packets=10) if o.device == "r2"]
    due = expected_counts(campus.network, campus.plans["r2"], offers)
    assert sum(n for key, n in due.packets.items() if key.direction == "output") == 10 * len(
        [o for o in offers if o.out.startswith(("Serial", "Multilink"))]
    )
    assert {key.queue for key in due.priority} == {"voice-video"}


def test_traffic_is_offered_to_the_devices_of_a_lab_that_runs(
    campus: Campus, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("nothing")
    assert emulated_devices(campus.state) == {device.name for device in campus.network.devices}
    assert not emulated_devices(elsewhere)
    assert not emulated_devices(None)
    assert not offer_traffic(campus.network, elsewhere)
