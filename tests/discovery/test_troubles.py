"""A small lab of every kind of trouble, discovered over SSH."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from qosforge.discovery.assemble import assemble
from qosforge.discovery.crawler import crawl
from qosforge.discovery.facts import Neighbour, Note, Topic
from qosforge.discovery.folder import write_new
from qosforge.discovery.model import Discovery
from qosforge.platforms.device_text import DeviceText
from qoslab import control
from qoslab.spec import BoxSpec, LinkSpec, NetworkSpec
from tests.device_texts import said
from tests.discovery.lab_session import LabSession

GBPS = 1_000_000_000
LOGIN = {"username": "qosforge", "password": "pass-1", "secret": "secret-1"}


def switch(name: str, *lines: str) -> str:
    ports = "\n".join(
        f"interface GigabitEthernet1/0/{n}\n switchport mode trunk\n no shutdown" for n in range(1, 7)
    )
    return "\n".join([f"hostname {name}", "lldp run", *lines, ports, "line vty 0 4", "login local", ""])


def router(name: str, *serial: str) -> str:
    return f"hostname {name}\ninterface Serial0/0\n ip address 10.9.9.{ord(name[-1])} 255.255.255.0\n" + "".join(
        f" {line}\n" for line in serial
    )


def chassis(name: str, *lldp: str) -> str:
    ports = "".join(f"interface GigabitEthernet 0/{n}\n switchport\n no shutdown\n" for n in range(2))
    vlan = "interface Vlan 7\n tagged GigabitEthernet 0/0-1\n no shutdown\n"
    return f"hostname {name}\n{ports}{vlan}protocol lldp\n" + "".join(
        f" {line}\n" for line in (*lldp, "no disable")
    )


def ers(name: str, address: str) -> str:
    return (
        f"snmp-server name {name}\nvlan create 7 type port\nvlan ports 47-48 tagging tagAll\n"
        f"vlan members 7 1-2,47-48\nip address switch {address} netmask 255.255.255.0\n"
    )


BOXES = {
    "c1": ("catalyst_9000", "17.12", switch("C1")),
    "c2": ("catalyst_9000", "17.12", switch("C2")),
    "c3": ("catalyst_9000", "17.12", switch("C3")),
    # Deaf: it announces itself by LLDP, and takes nothing.
    "c4": (
        "catalyst_9000",
        "17.12",
        switch("C4", "no cdp run", "interface GigabitEthernet1/0/1", "no lldp receive"),
    ),
    "ra": ("cisco_ios", "12.4", router("RA")),
    "rb": ("cisco_ios", "12.4", router("RB", "bandwidth 2000")),
    "told": ("force10_e300", "8.3.1.3", chassis("TOLD", "advertise management-tlv system-name")),
    "mute": ("force10_e300", "8.3.1.3", chassis("MUTE")),
    "n1": ("nortel_5510", "5.1", ers("N1", "10.0.0.1")),
    "n2": ("nortel_5510", "5.1", ers("N2", "10.0.0.2")),
    "n3": ("nortel_5510", "5.1", ers("N3", "10.0.0.3")),
}
G = "GigabitEthernet1/0/"
LINKS = [
    (("c1", f"{G}1"), ("c2", f"{G}1"), GBPS),
    (("c2", f"{G}2"), ("c3", f"{G}2"), GBPS),
    (("c3", f"{G}3"), ("c1", f"{G}3"), GBPS),
    (("c2", f"{G}4"), ("c4", f"{G}1"), GBPS),
    (("c1", f"{G}5"), ("told", "GigabitEthernet 0/0"), GBPS),
    (("c3", f"{G}5"), ("mute", "GigabitEthernet 0/0"), GBPS),
    (("ra", "Serial0/0"), ("rb", "Serial0/0"), 2_000_000),
    (("n1", "48"), ("n2", "47"), GBPS),
    (("n2", "48"), ("n3", "47"), GBPS),
]
KNOWN = {"10.0.0.1": "n1", "10.0.0.2": "n2"}
"""Where the session finds switches that tell their address alone: it has not heard of N3."""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("troubles")
    boxes = []
    for name, (platform, image, startup) in BOXES.items():
        path = folder / f"{name}.cfg"
        path.write_text(startup)
        boxes.append(BoxSpec(name=name, platform=platform, image=image, startup_config=path, **LOGIN))
    links = [LinkSpec(a=a, b=b, rate=rate) for a, b, rate in LINKS]
    state = folder / "lab"
    control.start(NetworkSpec(network="troubles", boxes=boxes, links=links), state, timeout=90)
    (state / "credentials.json").write_text(json.dumps(LOGIN))
    yield state
    control.stop(state)


def discover(state: Path, *seeds: str) -> Discovery:
    with LabSession(state, KNOWN) as session:
        return assemble(crawl(session, [session.address(name) for name in seeds], 20))


def links(found: Discovery) -> set[frozenset[tuple[str, str]]]:
    return {frozenset((link.a, link.b)) for link in found.links}


def about(found: Discovery, topic: Topic) -> list[Note]:
    return [note for note in found.notes if note.topic is topic]


@pytest.fixture(scope="module")
def from_c1(lab: Path) -> Discovery:
    return discover(lab, "c1")


def test_a_loop_is_walked_once_and_named(from_c1: Discovery, tmp_path: Path) -> None:
    assert [device.name for device in from_c1.devices] == ["c1", "c2", "c3", "told", "c4"]
    (loop,) = about(from_c1, Topic.LOOP)
    assert loop.message == "c1, c2, c3 form a loop"
    assert links(from_c1) == {frozenset((a, b)) for a, b, _ in LINKS[:5]}
    assert len(write_new(tmp_path / "found", from_c1).links) == 5


def test_lldp_and_cdp_tell_of_one_link_under_two_names_of_a_port(from_c1: Discovery) -> None:
    c1 = next(device for device in from_c1.devices if device.name == "c1")
    told = {(n.protocol, n.remote_port) for n in c1.facts.neighbours if n.port == f"{G}1"}
    assert told == {("CDP", "GigabitEthernet1/0/1"), ("LLDP", "Gi1/0/1")}


def test_a_link_that_one_end_sees_is_kept_and_named(from_c1: Discovery) -> None:
    (note,) = about(from_c1, Topic.ONE_SIDED)
    assert (note.device, note.line) == ("c4", f"{G}1")
    assert note.message == f"c2 {G}4 hears c4 {G}1, which does not hear it"
    (link,) = (link for link in from_c1.links if "c4" in {link.a[0], link.b[0]})
    assert link.seen_by == {"c2"}


def test_a_neighbour_that_tells_neither_name_nor_address_is_named(from_c1: Discovery) -> None:
    (note,) = about(from_c1, Topic.UNREACHABLE)
    assert note.device == "C3"
    assert note.line.startswith(f"LLDP on {G}5: 0001e8")
    assert note.line.endswith("GigabitEthernet 0/0")
    assert "seeds" in note.hint


def test_it_is_known_by_its_mac_once_it_was_read(lab: Path) -> None:
    found = discover(lab, "c3", "mute")
    assert not about(found, Topic.UNREACHABLE)
    assert frozenset({("c3", f"{G}5"), ("mute", "GigabitEthernet 0/0")}) in links(found)


def test_ends_that_differ_are_left_out_with_both_values(lab: Path) -> None:
    found = discover(lab, "ra")
    assert [device.name for device in found.devices] == ["ra", "rb"]
    assert not found.links
    (note,) = about(found, Topic.LEFT_OUT)
    assert (note.device, note.line) == ("ra", "Serial0/0 – rb Serial0/0")
    assert "ra Serial0/0 has 1544000, rb Serial0/0 2000000" in note.message
    assumed = {(note.device, note.line) for note in about(found, Topic.ASSUMED)}
    assert assumed == {("RA", "Serial0/0: BW 1544 Kbit")}


def test_nortel_switches_find_each_other_by_address(lab: Path) -> None:
    found = discover(lab, "n1")
    assert [device.name for device in found.devices] == ["n1", "n2"]
    assert links(found) == {frozenset({("n1", "48"), ("n2", "47")})}
    (note,) = about(found, Topic.UNREACHABLE)
    assert (note.device, note.line) == ("N2", "SONMP on 48: 10.0.0.3 1/47")
    assert about(found, Topic.UNSEEN) == [
        Note(
            Topic.UNSEEN,
            "n2",
            "48",
            "its frames are tagged, and no neighbour is heard on it",
            "describe the link in links.yaml by hand: the other end may speak another protocol, or none",
        )
    ]


class Elsewhere(LabSession):
    """A session that takes some devices for others: a command line, or an address, that is not what it seems."""

    def platform(self, address: str) -> str:
        return "junos" if address == self.address("c2") else super().platform(address)

    def locate(self, neighbour: Neighbour) -> str:
        return self.address("told") if neighbour.name == "C3" else super().locate(neighbour)


def test_unknown_command_lines_and_devices_under_another_name_are_named(lab: Path) -> None:
    with Elsewhere(lab, KNOWN) as session:
        found = assemble(crawl(session, [session.address("c1")], 20))
    assert [device.name for device in found.devices] == ["c1", "told"]
    (unknown,) = about(found, Topic.UNKNOWN_PLATFORM)
    assert (unknown.device, "'junos'" in unknown.message) == ("C1", True)
    names = {note.message for note in about(found, Topic.TWO_NAMES)}
    assert names == {"C3 calls itself TOLD: one device under two names"}


def test_a_device_of_another_make_than_the_session_says_is_named(lab: Path) -> None:
    class Wrong(LabSession):
        def platform(self, address: str) -> str:
            super().platform(address)
            return "force10"

        def run(self, address: str, command: str) -> DeviceText:
            return said(self._connect_as("ios_legacy", address).cli([command])[command], address)

    with Wrong(lab) as session:
        found = assemble(crawl(session, [session.address("ra")], 1))
    assert found.devices == ()
    (note,) = about(found, Topic.NOT_UNDERSTOOD)
    assert "show version" in note.line
