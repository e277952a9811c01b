"""Every hop of a verified path, and of its way back, serves a class that has an objective."""

from __future__ import annotations

import pytest

from qosforge.compiler.compile import Compilation, compile_intent
from qosforge.findings import Finding, Severity
from qosforge.intent.loader import parse_intent
from qosforge.inventory.models import Station
from qosforge.validation.context import ValidationContext
from qosforge.validation.unserved import check_unserved
from tests.validation.support import INTENT, NETWORK, RUNNING, compiled


def unserved(compilation: Compilation, running: dict[str, str] | None = None) -> list[Finding]:
    return list(check_unserved(ValidationContext(compilation, running or {})))


def places(found: list[Finding]) -> set[tuple[str, str | None, str | None, str | None]]:
    return {(f.code, f.device, f.interface, f.traffic_class) for f in found}


EDGES_ALONE = INTENT.replace("role: [edge, middle], interfaces: wan", "role: edge, interfaces: wan")
assert EDGES_ALONE != INTENT


def test_a_path_that_is_served_at_every_hop_raises_nothing() -> None:
    assert unserved(compiled(), RUNNING) == []


def test_the_output_in_the_middle_that_is_not_served_is_named_with_its_way() -> None:
    found = unserved(compiled(EDGES_ALONE), RUNNING)
    assert places(found) == {("hop-unserved", "r2", "Multilink1", "voice")}
    assert found[0].severity is Severity.WARNING, "2 Mb/s come, 256 kb/s leave"
    assert found[0].direction == "output"
    assert "from phone1 to phone2: packets that come at 2 Mb/s leave at 256 kb/s" in found[0].message


def test_an_output_whose_link_takes_all_that_comes_needs_no_service() -> None:
    """Against the direction verified r2 sends what comes by 256 kb/s into 2 Mb/s: nothing can wait there."""
    assert ("r2", "Serial0/1") not in {(f.device, f.interface) for f in unserved(compiled(EDGES_ALONE), RUNNING)}


def test_a_hop_of_the_way_back_is_named_too() -> None:
    """A second station at r2 fills the link that the way back leaves by."""
    beside = Station(name="server", address="10.3.0.1", attach=("r2", "FastEthernet0/1"), rate=100_000_000)
    network = NETWORK.model_copy(update={"stations": (*NETWORK.stations, beside)})
    found = unserved(compile_intent(parse_intent(EDGES_ALONE, "two-way.yaml"), network, RUNNING), RUNNING)
    back = [f for f in found if f.interface == "Serial0/1"]
    assert [(f.device, f.severity) for f in back] == [("r2", Severity.INFO)]
    assert "from phone2 to phone1: the links of the device together bring more than the 2 Mb/s" in back[0].message


def test_a_device_of_which_nothing_is_known_is_said_to_be_unknown() -> None:
    running = {name: text for name, text in RUNNING.items() if name != "r2"}
    found = unserved(compile_intent(parse_intent(EDGES_ALONE, "two-way.yaml"), NETWORK, running), running)
    assert [(f.device, f.interface) for f in found] == [("r2", "Multilink1")]
    assert "no configuration of the device was read" in found[0].message


def test_what_a_device_holds_already_counts() -> None:
    policy = (
        "class-map match-any old-voice\n match ip dscp ef\n match ip dscp af41\n!\n"
        "policy-map old\n class old-voice\n  priority percent 30\n!\n"
    )
    text = RUNNING["r2"].replace("interface Serial0/1", f"{policy}interface Serial0/1")
    running = RUNNING | {
        "r2": text.replace("interface Multilink1\n", "interface Multilink1\n service-policy output old\n")
    }
    assert unserved(compiled(EDGES_ALONE), running) == []


def test_a_class_without_an_objective_is_asked_nothing() -> None:
    loose = EDGES_ALONE.replace("    objective: {delay: {p95: 100 ms, p99: 150 ms}}\n", "")
    assert unserved(compiled(loose), RUNNING) == []


ONE_WAY = INTENT.replace("{application: [rtp-audio]}, ", "{protocol: tcp, destination_port: 5060}, ")
assert ONE_WAY != INTENT


def test_answers_that_the_intent_does_not_take_are_named() -> None:
    (found,) = unserved(compiled(ONE_WAY), RUNNING)
    assert (found.code, found.device, found.direction) == ("answers-in-other-class", "r3", "input")
    assert (
        "what goes back from phone2 to phone1 (protocol 6 from 198.51.100.10 port 5060 to 192.0.2.10"
        in found.message
    )


def test_answers_that_the_intent_takes_are_followed_as_the_class() -> None:
    both = ONE_WAY.replace("destination_port: 5060}", "destination_port: 5060}, {protocol: tcp, source_port: 5060}")
    assert unserved(compiled(both), RUNNING) == []


@pytest.mark.parametrize("way", ["from: phone1, to: phone2", "from: phone2, to: phone1"])
def test_the_order_of_the_ends_changes_only_the_way_that_is_named(way: str) -> None:
    turned = EDGES_ALONE.replace("from: phone1, to: phone2", way)
    assert places(unserved(compiled(turned), RUNNING)) == {("hop-unserved", "r2", "Multilink1", "voice")}
