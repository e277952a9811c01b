"""Networks out of what single devices say: cases that the lab's cables cannot make."""

from __future__ import annotations

from pathlib import Path

from qosforge.discovery.assemble import assemble
from qosforge.discovery.crawler import Crawl, Visit
from qosforge.discovery.facts import DeviceFacts, Neighbour, Note, PortFacts, Topic
from qosforge.discovery.folder import write_new
from qosforge.discovery.model import Discovery
from qosforge.inventory.models import Framing

MBPS = 1_000_000


def device(
    name: str, *ports: PortFacts, platform: str = "catalyst_2970", neighbours: tuple[Neighbour, ...] = ()
) -> DeviceFacts:
    return DeviceFacts(
        hostname=name,
        platform=platform,
        image="12.2",
        driver="ios_legacy",
        names=frozenset({name}),
        ports=ports,
        neighbours=neighbours,
        speaks=frozenset({"CDP"}),
    )


def port(name: str, rate: int = 100 * MBPS, **more: bool) -> PortFacts:
    return PortFacts(f"GigabitEthernet0/{name}", rate, **more)


def found(*visited: tuple[DeviceFacts, list[str]]) -> Discovery:
    """Devices, each with where its neighbours are: ``at-1`` is the second of them."""
    visits = [
        Visit([f"at-{number}"], facts, list(zip(facts.neighbours, where, strict=True)))
        for number, (facts, where) in enumerate(visited)
    ]
    return assemble(Crawl(tuple(visits), ()))


def cdp(on: str, name: str, remote: str) -> Neighbour:
    return Neighbour("CDP", f"GigabitEthernet0/{on}", f"GigabitEthernet0/{remote}", name=name)


def about(discovery: Discovery, topic: Topic) -> list[Note]:
    return [note for note in discovery.notes if note.topic is topic]


def test_two_neighbours_on_a_port_are_no_link_but_a_note() -> None:
    a = device("A", port("1"), neighbours=(cdp("1", "B", "1"), cdp("1", "C", "1")))
    b = device("B", port("1"), neighbours=(cdp("1", "A", "1"),))
    network = found((a, ["at-1", "at-2"]), (b, ["at-0"]), (device("C", port("1")), []))
    assert network.links == ()
    (note,) = about(network, Topic.LEFT_OUT)
    assert (note.device, note.line) == ("a", "GigabitEthernet0/1")
    assert "(b GigabitEthernet0/1, c GigabitEthernet0/1)" in note.message


def test_two_devices_of_one_name_are_kept_apart_and_named() -> None:
    network = found((device("Switch", port("1")), []), (device("switch.example.net", port("2")), []))
    assert [one.name for one in network.devices] == ["switch", "switch-2"]
    (note,) = about(network, Topic.SAME_NAME)
    assert (note.device, note.line) == ("switch-2", "at-1")


def test_a_port_that_the_other_end_does_not_have_is_named() -> None:
    a = device("A", port("1"), neighbours=(cdp("1", "B", "9"),))
    network = found((a, ["at-1"]), (device("B", port("1")), []))
    (note,) = about(network, Topic.NOT_UNDERSTOOD)
    assert (note.device, note.message) == ("a", "b has no port 'GigabitEthernet0/9' that is up")
    assert network.links == ()


def test_ends_that_differ_in_their_tags_are_left_out() -> None:
    a = device("A", port("1", tagged=True), neighbours=(cdp("1", "B", "1"),))
    network = found((a, ["at-1"]), (device("B", port("1")), []))
    (note,) = about(network, Topic.LEFT_OUT)
    assert "tagging: a GigabitEthernet0/1 has True, b GigabitEthernet0/1 False" in note.message


def test_roles_and_tags_follow_what_is_at_the_other_end() -> None:
    serial = PortFacts("Serial0/0", 2 * MBPS, Framing.HDLC)
    ethernet, lan = (PortFacts(f"FastEthernet0/{n}", 100 * MBPS, routed=True) for n in range(2))
    link = Neighbour("CDP", "FastEthernet0/0", "FastEthernet0/0", name="Y")
    x = device("X", ethernet, lan, serial, platform="cisco_ios", neighbours=(link,))
    y = device("Y", ethernet, serial, platform="cisco_ios")
    first, second = found((x, ["at-1"]), (y, [])).devices
    assert [(one.tag.tag, one.tag.reason) for one in first.interfaces] == [
        ("wan", "Y, another router, is at its other end"),
        ("lan", "it is an Ethernet port of a router, without another router on it"),
        ("wan", "it is a hdlc line of a router"),
    ]
    assert (first.role.role.value, second.role.role.value) == ("edge", "middle")


def test_names_that_would_be_no_names_are_written_as_names(tmp_path: Path) -> None:
    odd = device("-sw#1\x1b[2J", port("1"))
    network = found((odd, []))
    assert [one.name for one in network.devices] == ["sw-1--2j"]
    assert write_new(tmp_path / "found", network).devices[0].name == "sw-1--2j"
    assert "\x1b" not in (tmp_path / "found" / "hosts.yaml").read_text()


def test_a_port_that_no_inventory_holds_is_left_out_and_named(tmp_path: Path) -> None:
    network = found((device("A", port("1"), PortFacts("Gi0/2\nreload", MBPS)), []))
    (note,) = about(network, Topic.LEFT_OUT)
    assert note.line == "Gi0/2\nreload"
    assert [one.name for one in write_new(tmp_path / "found", network).devices[0].interfaces] == [
        "GigabitEthernet0/1"
    ]
