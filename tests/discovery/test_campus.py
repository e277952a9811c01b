"""Discovery of the campus lab over SSH, against the inventory that people wrote of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from qosforge.compiler.compile import CompiledDevice, compile_intent
from qosforge.discovery.assemble import assemble
from qosforge.discovery.crawler import CrawlProgress, crawl
from qosforge.discovery.difference import InventoryChange
from qosforge.discovery.facts import Topic
from qosforge.discovery.folder import add, compare, write_new
from qosforge.discovery.model import Discovery
from qosforge.errors import InputError, InputErrors, ServiceError
from qosforge.intent.loader import load_intent
from qosforge.inventory.loader import load_network
from qosforge.inventory.models import Network
from tests.discovery.conftest import CAMPUS, ROOT
from tests.discovery.lab_session import LabSession

CDP = ("r1", "r2", "r3", "b256", "b56", "s2950", "s2970")
"""What the Cisco devices of the campus can tell each other of."""


def discover(state: Path, *seeds: str, at_most: int = 20, hidden: Iterable[str] = ()) -> Discovery:
    with LabSession(state, hidden=frozenset(hidden)) as session:
        return assemble(crawl(session, [session.address(name) for name in seeds], at_most))


@pytest.fixture(scope="module")
def from_r1(campus: Path) -> Discovery:
    return discover(campus, "r1")


@pytest.fixture(scope="module")
def from_three(campus: Path) -> Discovery:
    return discover(campus, "r1", "e300", "ers5510")


def ordered(network: Network) -> Network:
    """The network with its ports sorted: their order in the file is a person's choice, and that of the text."""
    return network.model_copy(
        update={
            "devices": tuple(
                device.model_copy(update={"interfaces": tuple(sorted(device.interfaces, key=lambda i: i.name))})
                for device in network.devices
            )
        }
    )


def compiled(network: Network) -> dict[str, CompiledDevice]:
    loaded = load_intent(ROOT / "policies" / "campus-collaboration.yaml", ())
    return {device.name: device for device in compile_intent(loaded, ordered(network)).devices}


def test_one_seed_leads_to_every_device_that_speaks_cdp(from_r1: Discovery, shipped: Network) -> None:
    assert {device.name for device in from_r1.devices} == set(CDP)
    assert [device.name for device in from_r1.devices[:3]] == ["r1", "r2", "s2950"]  # breadth first
    among = [link for link in shipped.links if {link.a[0], link.b[0]} <= set(CDP)]
    found = from_r1.network("campus").links
    assert {frozenset((link.a, link.b)) for link in found} == {frozenset((link.a, link.b)) for link in among}
    assert all(link.seen_by == {link.a[0], link.b[0]} for link in from_r1.links)
    # Nobody tells of the E300 and the 5510: the one speaks nothing, the other SONMP. R3 cannot know of them.
    assert {note.topic for note in from_r1.notes} == {Topic.ASSUMED}


def test_its_compile_is_that_of_the_shipped_inventory(from_r1: Discovery, shipped: Network, tmp_path: Path) -> None:
    ours = compiled(write_new(tmp_path / "found", from_r1))
    theirs = compiled(shipped)
    assert set(ours) == set(CDP)
    for name in set(CDP) - {"s2950"}:  # that its hosts mark their packets themselves no device tells
        assert ours[name].text == theirs[name].text, name
        assert ours[name].plan == theirs[name].plan
        assert ours[name].findings == theirs[name].findings
        assert ours[name].fidelity == theirs[name].fidelity
        assert ours[name].classes == theirs[name].classes


def test_with_seeds_for_the_others_all_but_one_port_compiles_alike(from_three: Discovery, shipped: Network) -> None:
    ours, theirs = compiled(from_three.network("campus")), compiled(shipped)
    assert set(ours) == set(theirs)
    differing = {name for name in ours if ours[name].text != theirs[name].text}
    assert differing == {"e300", "s2950"}
    # That hosts of S2950 mark their packets is known to people alone. The E300's line to R3 is untagged, and nobody
    # is heard on it: a LAN port, it seems, where classes are recognised.
    blocks = [{(b.kind, b.name): b.text for b in side["e300"].blocks} for side in (ours, theirs)]
    changed = {key for key in blocks[0].keys() | blocks[1].keys() if blocks[0].get(key) != blocks[1].get(key)}
    assert {name for _, name in changed} == {"GigabitEthernet 0/0"}
    corrected = from_three.network("campus")
    e300 = corrected.device("e300")
    ports = tuple(
        port.model_copy(update={"tags": frozenset({"trunk"})}) if port.name == "GigabitEthernet 0/0" else port
        for port in e300.interfaces
    )
    devices = tuple(
        device.model_copy(update={"interfaces": ports}) if device.name == "e300" else device
        for device in corrected.devices
    )
    again = compiled(corrected.model_copy(update={"devices": devices}))["e300"]
    assert (again.text, again.plan) == (theirs["e300"].text, theirs["e300"].plan)


def differing_fields(ours: Network, theirs: Network) -> Iterator[tuple[str, str, object, object]]:
    """Every field of every device, port and link that is not the same: place, field, ours, theirs."""
    for device in theirs.devices:
        found = ours.device(device.name)
        for field in ("platform", "image", "role", "features", "driver", "startup"):
            if getattr(found, field) != getattr(device, field):
                yield device.name, field, getattr(found, field), getattr(device, field)
        assert {port.name for port in found.interfaces} == {port.name for port in device.interfaces}
        for port in device.interfaces:
            other = found.interface(port.name)
            for field in type(port).model_fields:
                if getattr(other, field) != getattr(port, field):
                    yield f"{device.name} {port.name}", field, getattr(other, field), getattr(port, field)
    links = {frozenset((link.a, link.b)): link for link in ours.links}
    for link in theirs.links:
        known = links.get(frozenset((link.a, link.b)))
        name = f"{' '.join(link.a)} – {' '.join(link.b)}"
        if known is None:
            yield name, "link", None, link
            continue
        for field in ("rate", "delay", "framing", "tagged"):
            if getattr(known, field) != getattr(link, field):
                yield name, field, getattr(known, field), getattr(link, field)


def test_the_inventory_is_the_shipped_one_but_for_what_no_device_tells(
    from_three: Discovery, shipped: Network
) -> None:
    ours = from_three.network("campus")
    found = list(differing_fields(ours, shipped))
    # Known to people alone: contracts, delays, the lab's startup files, stations.
    assert {place for place, field, *_ in found if field == "contracted"} == {
        "r1 Serial0/0", "r2 Serial0/0", "r2 Serial0/1", "r3 Serial0/1"
    }  # fmt: skip
    assert {ours for _, field, ours, _ in found if field == "contracted"} == {None}
    assert {ours for _, field, ours, _ in found if field == "delay"} == {0.0}
    assert {ours for _, field, ours, _ in found if field == "startup"} == {None}
    assert (len(ours.stations), len(shipped.stations)) == (0, 10)
    # Told more exactly than people write it.
    assert {place: (ours, theirs) for place, field, ours, theirs in found if field == "image"} == {
        "r1": ("12.4(25)", "12.4"),
        "r2": ("12.4(25)", "12.4"),
        "b256": ("12.4(25)", "12.4"),
        "s2950": ("12.1(22)EA-EI", "12.1EA-EI"),
        "ers5510": ("5.1.0.014", "5.1"),
    }
    assert {(ours, theirs) for _, field, ours, theirs in found if field == "vlans"} == {((3,), ()), ((4,), ())}
    # A guess that is wrong, and links that nobody announces.
    assert [(place, set(ours), set(theirs)) for place, field, ours, theirs in found if field == "tags"] == [
        ("s2950 FastEthernet0/1", {"lan"}, {"lan", "marking-hosts"}),
        ("s2950 GigabitEthernet0/2", {"lan"}, {"lan", "marking-hosts"}),
        ("e300 GigabitEthernet 0/0", {"lan"}, {"trunk"}),
    ]
    assert [place for place, field, *_ in found if field == "link"] == [
        "r3 FastEthernet0/0 – e300 GigabitEthernet 0/0",
        "e300 GigabitEthernet 0/1 – ers5510 48",
    ]
    told = {"contracted", "delay", "startup", "image", "vlans", "tags", "link"}
    assert [one for one in found if one[1] not in told] == []


def test_what_is_not_seen_is_named(from_three: Discovery) -> None:
    notes = {(note.topic, note.device, note.line) for note in from_three.notes}
    assert notes == {
        (Topic.UNSEEN, "e300", "6.5"),
        (Topic.UNSEEN, "e300", "GigabitEthernet 0/1"),
        (Topic.UNSEEN, "ers5510", "48"),
        (Topic.ASSUMED, "", "links.yaml"),
    }
    assert all(note.message and note.hint for note in from_three.notes)


def test_vlans_and_reasons_of_guesses_are_kept(from_three: Discovery) -> None:
    devices = {device.name: device for device in from_three.devices}
    assert [(vlan.number, vlan.name) for vlan in devices["ers5510"].vlans] == [(4, "campus")]
    assert [vlan.number for vlan in devices["s2950"].vlans] == [3]
    assert devices["r2"].role.reason == "all its ports lead to other routers"
    reasons = {one.port.name: one.tag.reason for one in devices["s2950"].interfaces}
    assert reasons["FastEthernet0/24"] == "R1 is at its other end"


def test_no_more_devices_are_opened_than_the_bound_allows(campus: Path) -> None:
    seen: list[CrawlProgress] = []
    with LabSession(campus) as session:
        found = assemble(crawl(session, [session.address("r1")], 2, seen.append))
        assert len({address for address, _ in session.asked}) == 2
    assert [device.name for device in found.devices] == ["r1", "r2"]
    beyond = [note for note in found.notes if note.topic is Topic.BOUND]
    assert [note.device for note in beyond] == ["R1", "R2", "R2", "R2"]
    assert [progress.read for progress in seen] == [1, 2]
    assert seen[-1].outcome == "R2: cisco_ios"


@pytest.mark.parametrize(("seeds", "at_most"), [((), 5), (("r1",), 0)])
def test_a_discovery_needs_a_seed_and_a_bound(campus: Path, seeds: tuple[str, ...], at_most: int) -> None:
    with pytest.raises(InputError, match="nowhere to begin"):
        discover(campus, *seeds, at_most=at_most)


def test_a_device_that_cannot_be_reached_is_named_and_the_others_are_read(campus: Path) -> None:
    found = discover(campus, "r2", hidden=["s2970", "b56"])
    assert {device.name for device in found.devices} == set(CDP) - {"s2970", "b56"}
    notes = {(note.topic, note.device): note for note in found.notes}
    assert "no route to host" in notes[Topic.UNREACHABLE, "R2"].message
    assert notes[Topic.UNREACHABLE, "R2"].hint == "wait until it is back"
    assert (Topic.UNREACHABLE, "S2950") in notes


def test_one_device_by_two_addresses_is_one(campus: Path) -> None:
    with LabSession(campus) as session:
        address = session.address("r1")
        found = assemble(crawl(session, [address, address.replace("127.0.0.1", "localhost")], 2))
    assert [device.name for device in found.devices] == ["r1"]
    (note,) = (note for note in found.notes if note.topic is Topic.TWO_NAMES)
    assert "localhost" in note.message


# -- writing ---------------------------------------------------------------------------------------------


def test_a_new_folder_loads_and_nothing_is_overwritten(from_r1: Discovery, tmp_path: Path) -> None:
    folder = tmp_path / "found"
    network = write_new(folder, from_r1)
    assert network == load_network(folder)
    assert network.name == "found"
    assert sorted(path.name for path in folder.iterdir()) == [
        "defaults.yaml", "groups.yaml", "hosts.yaml", "links.yaml"
    ]  # fmt: skip
    text = (folder / "hosts.yaml").read_text()
    assert "#   r2: middle: all its ports lead to other routers\n" in text
    with pytest.raises(InputError, match="there is something already"):
        write_new(folder, from_r1)
    assert (folder / "hosts.yaml").read_text() == text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["found"]


def test_nothing_is_left_behind_where_nothing_was_found(campus: Path, tmp_path: Path) -> None:
    found = discover(campus, "r1", hidden=["r1"])
    with pytest.raises(ServiceError, match="no device could be read"):
        write_new(tmp_path / "found", found)
    assert list(tmp_path.iterdir()) == []


def test_a_second_run_shows_the_difference_and_writes_nothing(from_three: Discovery, tmp_path: Path) -> None:
    assert compare(CAMPUS, from_three) == (
        InventoryChange("gone", "link", ("r3", "FastEthernet0/0", "e300", "GigabitEthernet 0/0")),
        InventoryChange("gone", "link", ("e300", "GigabitEthernet 0/1", "ers5510", "48")),
    )
    folder = tmp_path / "found"
    write_new(folder, from_three)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert compare(folder, from_three) == ()
    hosts = (folder / "hosts.yaml").read_text()
    hosts = hosts.replace('image: "12.2(25)SEE1"', 'image: "12.2(44)SE"')
    hosts = hosts.replace("GigabitEthernet0/5: {rate: 100 Mb/s", "GigabitEthernet0/7: {rate: 100 Mb/s")
    hosts = hosts.replace("GigabitEthernet0/6: {rate: 1 Gb/s", "GigabitEthernet0/6: {rate: 100 Mb/s")
    (folder / "hosts.yaml").write_text(hosts)
    assert list(map(str, compare(folder, from_three))) == [
        "changed device s2970: image 12.2(44)SE → 12.2(25)SEE1",
        "added port s2970 GigabitEthernet0/5",
        "gone port s2970 GigabitEthernet0/7",
        "changed port s2970 GigabitEthernet0/6: rate 100 Mb/s → 1 Gb/s",
    ]
    assert (folder / "hosts.yaml").read_text() == hosts
    assert {path.name for path in folder.iterdir()} == set(before)


def test_what_an_inventory_lacks_is_added_and_the_rest_stays_as_it_is(
    from_r1: Discovery, from_three: Discovery, campus: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "found"
    write_new(folder, discover(campus, "s2970", at_most=2))
    hosts = folder / "hosts.yaml"
    kept = hosts.read_text().replace("role: access\n", "role: core  # it is, though nobody sees it\n", 1)
    kept = kept.replace("      GigabitEthernet0/6:", "      # left to itself\n      GigabitEthernet0/9:")
    hosts.write_text(kept)
    assert [str(change) for change in add(folder, from_r1)][:3] == [
        "added device r1", "added device r2", "added device r3"
    ]  # fmt: skip
    after = hosts.read_text()
    assert "role: core  # it is, though nobody sees it" in after
    assert "# left to itself" in after
    network = load_network(folder)
    assert {device.name for device in network.devices} == set(CDP)
    assert {port.name for port in network.device("s2970").interfaces} >= {
        "GigabitEthernet0/6",
        "GigabitEthernet0/9",
    }
    assert len(network.links) == 6
    assert [str(change) for change in compare(folder, from_r1)] == ["gone port s2970 GigabitEthernet0/9"]
    assert add(folder, from_r1) == ()
    assert hosts.read_text() == after
    assert "nortel_5510" in {load_network(folder).device("ers5510").platform for _ in [add(folder, from_three)]}


def test_an_addition_that_contradicts_what_is_there_is_refused_whole(from_r1: Discovery, tmp_path: Path) -> None:
    folder = tmp_path / "found"
    write_new(folder, from_r1)
    links = folder / "links.yaml"
    # Somebody moved the cable in the file: the port would have two lines.
    text = links.read_text().replace("b: [s2950, FastEthernet0/24]", "b: [s2950, FastEthernet0/1]")
    text = text.replace("links:\n", "links:  # as drawn\n")
    links.write_text(text)
    with pytest.raises(InputErrors, match="has a line already"):
        add(folder, from_r1)
    assert links.read_text() == text
    assert [path.name for path in tmp_path.iterdir()] == ["found"]
