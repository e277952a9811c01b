"""What is taken from a NetBox: the campus that ships, as a real NetBox 4.7.3 told it."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from qosforge.compiler.compile import compile_intent
from qosforge.discovery.facts import Note, Topic
from qosforge.intent.loader import load_intent
from qosforge.inventory.loader import load_network
from qosforge.inventory.models import DeviceRole, Framing, Network
from qosforge.sources.netbox import client
from qosforge.sources.netbox.rates import type_rate
from qosforge.sources.sync import SourceComparison, compare_with_source, write_comparison
from tests.sources.conftest import Networks
from tests.sources.netbox_server import TOKEN, NetBoxServer

ROOT = Path(__file__).resolve().parents[2]


def synced(folder: Path) -> Network:
    """The network of a folder after it was made to say what its source does."""
    write_comparison(compare_with_source(folder))
    return load_network(folder)


def named(records: list[dict[str, Any]], name: str, device: str | None = None) -> dict[str, Any]:
    """A record by its name, and its device's."""
    return next(
        one for one in records if one["name"] == name and (device is None or one["device"]["name"] == device)
    )


def notes(comparison: SourceComparison, topic: Topic) -> list[Note]:
    """Notes about a topic."""
    return [note for note in comparison.notes if note.topic is topic]


def test_the_campus_is_what_its_people_describe(network: Networks, netbox: NetBoxServer) -> None:
    found = synced(network())
    shipped = load_network(ROOT / "inventories" / "campus")
    for device in shipped.devices:
        one = found.device(device.name)
        assert (one.platform, one.role) == (device.platform, device.role)
        assert one.image.startswith(device.image[:4])
        for port in device.interfaces:
            if port.name.startswith("Multilink"):
                continue  # virtual in NetBox: described by hand
            other = one.interface(port.name)
            tags = port.tags - {"marking-hosts"}  # which is not in the captured NetBox
            assert (other.rate, other.tags, other.encapsulation) == (port.rate, tags, port.encapsulation)
            assert other.tagged == port.tagged
    links = {frozenset((link.a, link.b)) for link in shipped.links if "Multilink1" not in (link.a[1], link.b[1])}
    assert {frozenset((link.a, link.b)) for link in found.links} == links
    assert netbox.authorizations == {f"Bearer {TOKEN}"}


def test_each_field_is_told_as_netbox_has_it(network: Networks) -> None:
    found = synced(network())
    r2, switch = found.device("r2"), found.device("s2950")
    assert (r2.reach.hostname, r2.site, r2.role) == (
        "192.0.2.2",
        "library",
        DeviceRole.MIDDLE,
    )  # the address has a mask
    assert found.device("r1").tags == {"pilot"}
    serial = r2.interface("Serial0/0")
    assert (serial.rate, serial.contracted, serial.encapsulation) == (2_000_000, 1_500_000, Framing.HDLC)
    assert switch.interface("FastEthernet0/1").vlans == (3,)
    trunk = switch.interface("GigabitEthernet0/1")
    assert (trunk.tagged, trunk.vlans) == (True, (3, 10, 20))
    assert found.device("s2970").interface("GigabitEthernet0/5").rate == 100_000_000  # its speed, not its type
    assert found.device("e300").interface("GigabitEthernet 0/3").lag == "Port-channel 1"
    names = {port.name for device in found.devices for port in device.interfaces}
    assert not names & {"Port-channel 1", "Multilink1", "Vlan1", "mgmt", "eth0"}
    assert "FastEthernet0/1" not in {port.name for port in found.device("r1").interfaces}  # not enabled


def test_links_lead_across_circuits_and_patch_panels(network: Networks) -> None:
    found = synced(network())
    ends = {frozenset((link.a, link.b)): link for link in found.links}
    across = ends[frozenset((("r2", "Serial0/0"), ("r3", "Serial0/1")))]
    assert (across.rate, across.framing) == (2_000_000, Framing.HDLC)
    assert frozenset((("r3", "FastEthernet0/0"), ("e300", "GigabitEthernet 0/0"))) in ends  # by a panel
    assert not any("leaf" in {link.a[0], link.b[0]} for link in found.links)  # a breakout, and a planned cable


def test_a_stack_is_one_device_with_the_ports_of_its_members(network: Networks) -> None:
    folder = network()
    found = synced(folder)
    stack = found.device("st1")
    assert {f"GigabitEthernet{unit}/0/{port}" for unit in (1, 2) for port in range(1, 5)} <= {
        port.name for port in stack.interfaces
    }
    assert "st2" not in {device.name for device in found.devices}
    assert '"GigabitEthernet1/0/[1-4]": {rate: 1 Gb/s, tags: [lan]}' in (folder / "hosts.yaml").read_text()


def test_what_is_not_taken_is_named_with_what_to_do(network: Networks) -> None:
    comparison = compare_with_source(network())
    told = [f"{note.device}: {note.message}" for note in comparison.notes]
    for words in (
        "r2: NetBox tells no rate of Serial0/2 (other), Serial0/3 (other)",
        "s2970: GigabitEthernet0/6: their cables lead to devices that are not read (srv1)",
        "the cable of TenGigabitEthernet1/1/1 leads to several ports (leaf TenGigabitEthernet0/1",
        "leaf: the source gives it no address: it cannot be reached",
    ):
        assert any(words in one for one in told), (words, told)
    assert all(note.hint for note in comparison.notes)
    assert not notes(comparison, Topic.UNMAPPED)


def test_words_without_a_meaning_are_named_once_with_the_devices(network: Networks) -> None:
    folder = network(
        baystack="  alcatel: nortel_5510",
        roles="roles: {wan-edge: edge, wan-transit: middle, core-switch: core}",
        tags="tags: {qos-lan: lan, qos-wan: wan, pilot: pilot}",
    )
    comparison = compare_with_source(folder)
    unmapped = {note.line: note for note in notes(comparison, Topic.UNMAPPED)}
    platform = unmapped["source.yaml: platforms"]
    assert "platform 'baystack' has no meaning here: its devices are left out (ers5510)" in platform.message
    assert "add 'baystack: …' to platforms" in platform.hint
    assert "role 'access-switch'" in unmapped["source.yaml: roles"].message
    assert {"tag 'qos-trunk'", "tag 'asset-checked'"} <= {
        note.message.partition(" has")[0] for note in notes(comparison, Topic.UNMAPPED)
    }
    names = {device.name for device in comparison.target.devices}
    assert "ers5510" not in names
    assert comparison.target.device("s2950").role is DeviceRole.ACCESS  # what most are, and a note says so
    assert any("its role is taken as access" in note.message for note in notes(comparison, Topic.ASSUMED))


def test_a_synced_network_compiles(network: Networks) -> None:
    found = synced(network())
    policy = load_intent(ROOT / "policies" / "campus-collaboration.yaml")
    compiled = compile_intent(policy, found)
    assert {device.request.device for device in compiled.devices} >= {"r1", "r2", "r3", "s2950", "e300"}


@pytest.mark.parametrize("page", [1, 7, 50])
def test_pages_are_read_to_the_last(
    network: Networks, netbox: NetBoxServer, monkeypatch: pytest.MonkeyPatch, page: int
) -> None:
    whole = compare_with_source(network("whole")).target
    monkeypatch.setattr(client, "PAGE", 1000)
    netbox.max_page = page
    paged = compare_with_source(network("paged")).target
    assert paged.devices == whole.devices
    assert paged.links == whole.links


def test_an_older_netbox_calls_the_role_device_role(network: Networks, netbox: NetBoxServer) -> None:
    whole = compare_with_source(network("newer")).target
    netbox.version = "3.5"
    for record in netbox.records["dcim/devices"]:
        record["device_role"] = record.pop("role")
    assert compare_with_source(network("older")).target.devices == whole.devices


def test_objects_that_come_twice_count_once(network: Networks, netbox: NetBoxServer) -> None:
    whole = compare_with_source(network("whole")).target
    for records in netbox.records.values():
        records.extend(deepcopy(records[:3]))
    assert compare_with_source(network("twice")).target == whole.model_copy(update={"name": "twice"})


def test_names_that_two_have_or_an_inventory_cannot_hold_are_left_out(
    network: Networks, netbox: NetBoxServer
) -> None:
    devices = netbox.records["dcim/devices"]
    other = deepcopy(named(devices, "r1"))
    other.update(id=900)
    nameless, odd = deepcopy(other), deepcopy(other)
    nameless.update(id=901, name=None)
    odd.update(id=902, name="switch of the\nlibrary!")
    devices += [other, nameless, odd]
    port = named(netbox.records["dcim/interfaces"], "FastEthernet0/0", "r1")
    netbox.records["dcim/interfaces"].append({**deepcopy(port), "id": 903, "name": "no; reload"})
    comparison = compare_with_source(network())
    (same,) = notes(comparison, Topic.SAME_NAME)
    assert "(id 900) is left out" in same.message
    left = " ".join(note.message for note in notes(comparison, Topic.LEFT_OUT))
    assert "it has no name" in left
    assert "switch of the\\nlibrary!" in left
    assert "'no; reload' is not the name of a port" in left
    assert [device.name for device in comparison.target.devices].count("r1") == 1


def test_a_circuit_above_its_line_gives_no_contract(network: Networks, netbox: NetBoxServer) -> None:
    for circuit in netbox.records["circuits/circuits"]:
        circuit["commit_rate"] = 9000
    for end in netbox.records["circuits/circuit-terminations"]:
        end["port_speed"] = None
    comparison = compare_with_source(network())
    told = [note.message for note in notes(comparison, Topic.LEFT_OUT) if "no contract" in note.message]
    assert told[0] == "the circuit of Serial0/0 carries 9 Mb/s, its line 2 Mb/s: no contract is taken"
    assert comparison.target.device("r1").interface("Serial0/0").contracted is None


def test_the_slower_of_both_rates_of_a_circuit_counts(network: Networks, netbox: NetBoxServer) -> None:
    for end in netbox.records["circuits/circuit-terminations"]:
        end.update(port_speed=2000, upstream_speed=512)
    target = compare_with_source(network()).target
    assert target.device("r1").interface("Serial0/0").contracted == 512_000


def test_ends_that_differ_make_no_link_and_are_named(network: Networks, netbox: NetBoxServer) -> None:
    port = named(netbox.records["dcim/interfaces"], "FastEthernet0/0", "r1")
    port["speed"] = 10_000
    comparison = compare_with_source(network())
    (note,) = [note for note in comparison.notes if "the ends differ" in note.message]
    assert "r1 FastEthernet0/0 has 10 Mb/s, s2950 FastEthernet0/24 100 Mb/s" in note.message
    assert not any(("r1", "FastEthernet0/0") in (link.a, link.b) for link in comparison.target.links)


@pytest.mark.parametrize(
    ("kind", "rate"),
    [
        ("100base-tx", 10**8),
        ("1000base-t", 10**9),
        ("2.5gbase-t", 2_500_000_000),
        ("10gbase-x-sfpp", 10**10),
        ("1.6tbase-cr8", 1_600_000_000_000),
        ("e1", 2_048_000),
        ("t1", 1_544_000),
        ("sonet-oc3", 155_520_000),
        ("other", None),
        ("ieee802.11ac", None),
        ("cisco-stackwise-480", None),
    ],
)
def test_rates_of_interface_types(kind: str, rate: int | None) -> None:
    assert type_rate(kind) == rate
