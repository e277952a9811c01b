"""A folder made to say what its source does: what changes, and that everything else stays as people wrote it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from qosforge.discovery.facts import Topic
from qosforge.errors import InputError, InputErrors, SourceError
from qosforge.inventory.loader import load_network
from qosforge.sources.sync import compare_with_source, without_removals, write_comparison
from tests.sources.conftest import Networks
from tests.sources.netbox_server import NetBoxServer
from tests.sources.test_netbox import named


def changes(folder: Path) -> list[str]:
    """What differs, as people read it."""
    return [str(change) for change in compare_with_source(folder).changes]


def sync(folder: Path) -> None:
    write_comparison(compare_with_source(folder))


def texts(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted(folder.iterdir())}


@pytest.fixture
def library(network: Networks) -> Path:
    """A network that says what NetBox does."""
    folder = network(name="library")
    sync(folder)
    return folder


def interface(netbox: NetBoxServer, device: str, name: str) -> dict[str, Any]:
    return named(netbox.records["dcim/interfaces"], name, device)


def device(netbox: NetBoxServer, name: str) -> dict[str, Any]:
    return named(netbox.records["dcim/devices"], name)


def remove(netbox: NetBoxServer, name: str) -> None:
    """Take a device and its interfaces, and what leads to it, out of NetBox."""
    records = netbox.records
    records["dcim/devices"] = [one for one in records["dcim/devices"] if one["name"] != name]
    records["dcim/interfaces"] = [one for one in records["dcim/interfaces"] if one["device"]["name"] != name]
    for one in records["dcim/interfaces"]:
        if any(end["device"]["name"] == name for end in one["connected_endpoints"] or ()):
            one.update(connected_endpoints=None, connected_endpoints_type=None)


def test_a_second_time_there_is_no_difference_and_nothing_is_written(library: Path) -> None:
    before = {path.name: (path.read_text(), path.stat().st_mtime_ns) for path in library.iterdir()}
    comparison = compare_with_source(library)
    assert comparison.changes == ()
    write_comparison(comparison)
    assert {path.name: (path.read_text(), path.stat().st_mtime_ns) for path in library.iterdir()} == before
    assert [path.name for path in library.parent.iterdir() if path.name.startswith(".")] == []


def test_every_field_that_changed_is_shown_and_written(library: Path, netbox: NetBoxServer) -> None:
    r1, s2950 = device(netbox, "r1"), device(netbox, "s2950")
    r1["primary_ip"]["address"] = "2001:db8::1/64"
    r1["tags"] = []
    r1["site"] = device(netbox, "r3")["site"]
    r1["role"] = device(netbox, "r2")["role"]
    s2950["platform"] = device(netbox, "s2970")["platform"]
    interface(netbox, "s2950", "FastEthernet0/1")["speed"] = 10_000
    interface(netbox, "s2950", "GigabitEthernet0/1")["tagged_vlans"].pop()
    interface(netbox, "s2950", "GigabitEthernet0/2")["lag"] = {"id": 1, "name": "Port-channel1"}
    interface(netbox, "s2970", "GigabitEthernet0/6")["tags"] = interface(netbox, "r1", "Serial0/0")["tags"]
    netbox.records["circuits/circuits"][0]["commit_rate"] = 1000
    interface(netbox, "e300", "GigabitEthernet 0/2")["enabled"] = False
    interface(netbox, "r1", "FastEthernet0/1")["enabled"] = True
    told = changes(library)
    assert told == [
        "changed device r1: role edge → middle",
        "changed device r1: site north → south",
        "changed device r1: tags pilot → none",
        "changed device r1: hostname 192.0.2.1 → 2001:db8::1",
        "added port r1 FastEthernet0/1",
        "changed port r1 Serial0/0: contracted 2 Mb/s → 1 Mb/s",
        "changed port r2 Serial0/1: contracted 2 Mb/s → 1 Mb/s",
        "changed device s2950: platform catalyst_2950 → catalyst_2970",
        "changed device s2950: image 12.1EA-EI → 12.2",
        "changed port s2950 FastEthernet0/1: rate 100 Mb/s → 10 Mb/s",
        "changed port s2950 GigabitEthernet0/2: lag none → Port-channel1",
        "changed port s2950 GigabitEthernet0/1: vlans 3, 10, 20 → 3, 10",
        "changed port s2970 GigabitEthernet0/6: tags lan → wan",
        "gone port e300 GigabitEthernet 0/2",
    ]
    sync(library)
    assert changes(library) == []
    found = load_network(library)
    assert found.device("s2950").platform == "catalyst_2970"
    assert found.device("r1").reach.hostname == "2001:db8::1"


def test_what_people_wrote_beyond_the_source_stays(library: Path, netbox: NetBoxServer) -> None:
    hosts, links = library / "hosts.yaml", library / "links.yaml"
    text = hosts.read_text()
    text = text.replace("r1:\n", "# The door to the world.\nr1:\n  # ask Ana before\n", 1)
    text = text.replace("driver: ios_legacy\n", "driver: ios\n    features: [archive]\n    jump: bastion\n", 1)
    text = text.replace("tags: [pilot]", "tags: [pilot, ours]  # ours stays")
    text = text.replace(
        "      Serial0/0: {rate: 2 Mb/s, contracted: 1500 kb/s",
        "      Multilink1: {rate: 256 kb/s, tags: [wan], encapsulation: mlppp, member: Serial0/2}  # two lines\n"
        "      Serial0/0: {rate: 2 Mb/s, contracted: 1500 kb/s",
    )
    hosts.write_text(text)
    station = "{name: pc, address: 192.0.2.99, attach: [e300, GigabitEthernet 0/2], rate: 100 Mb/s}"
    text = links.read_text().replace("stations: []", f"stations:\n  - {station}")
    links.write_text(text.replace("2 Mb/s, framing: hdlc}", "2 Mb/s, delay: 7 ms, framing: hdlc}  # measured", 1))
    (library / "changes.yaml").write_text("writable: true  # since Monday\n")
    before = texts(library)
    assert changes(library) == []
    interface(netbox, "r1", "Serial0/0")["speed"] = 1000
    interface(netbox, "r2", "Serial0/1")["speed"] = 1000
    for end in netbox.records["circuits/circuit-terminations"]:
        end["port_speed"] = 1000
    sync(library)
    after = texts(library)
    assert after["changes.yaml"] == before["changes.yaml"]
    assert after["source.yaml"] == before["source.yaml"]
    for words in (
        "# The door to the world.\nr1:\n  # ask Ana before\n",
        "jump: bastion",
        "tags: [pilot, ours]  # ours",
    ):
        assert words in after["hosts.yaml"]
    assert "member: Serial0/2}  # two lines" in after["hosts.yaml"]
    assert "rate: 1 Mb/s, delay: 7 ms, framing: hdlc}  # measured" in after["links.yaml"]
    # Devices that do not change keep every byte.
    assert after["hosts.yaml"].partition("\nr3:")[2] == before["hosts.yaml"].partition("\nr3:")[2].replace(
        "contracted: 1500 kb/s", "contracted: 1 Mb/s"
    )
    assert load_network(library).device("r1").features == {"archive"}


def test_a_port_that_changes_is_cut_out_of_its_range(library: Path, netbox: NetBoxServer) -> None:
    text = (library / "hosts.yaml").read_text()
    assert '"GigabitEthernet2/0/[1-4]": {rate: 1 Gb/s, tags: [lan]}' in text
    alike = '2/0/[1-4]": {rate: 1 Gb/s, tags: [lan]}'
    (library / "hosts.yaml").write_text(text.replace(alike, f"{alike}  # desks"))
    interface(netbox, "st2", "GigabitEthernet2/0/3")["speed"] = 100_000
    interface(netbox, "st1", "GigabitEthernet1/0/1")["enabled"] = False
    for port in range(1, 5):
        interface(netbox, "leaf", f"TenGigabitEthernet0/{port}")["speed"] = 1_000_000
    sync(library)
    after = (library / "hosts.yaml").read_text()
    assert re.search(r"GigabitEthernet2/0/\[1-2,4\]: \{rate: 1 Gb/s, tags: \[lan\]\} +# desks\n", after)
    assert after.count("# desks") == 1
    assert "GigabitEthernet2/0/3: {rate: 100 Mb/s, tags: [lan]}" in after
    assert "GigabitEthernet1/0/[2-4]" in after
    assert '"TenGigabitEthernet0/[1-4]": {rate: 1 Gb/s, tags: []}' in after
    assert changes(library) == []


def test_ports_that_a_group_describes_become_the_devices_own_where_one_changes(
    library: Path, netbox: NetBoxServer
) -> None:
    hosts, groups = library / "hosts.yaml", library / "groups.yaml"
    head, _, tail = hosts.read_text().partition("leaf:\n")
    body, _, ports = tail.partition("    interfaces:\n")
    hosts.write_text(head + "leaf:\n" + body.replace("[catalyst_2970]", "[leaves, catalyst_2970]"))
    groups.write_text(groups.read_text() + "leaves:\n  data:\n    interfaces:\n" + ports)
    assert changes(library) == []
    interface(netbox, "leaf", "GigabitEthernet0/9")["speed"] = 100_000
    sync(library)
    assert changes(library) == []
    assert len(load_network(library).device("leaf").interfaces) == 5
    assert ports in groups.read_text()


def test_a_device_that_went_is_removed_with_its_links_or_kept(library: Path, netbox: NetBoxServer) -> None:
    remove(netbox, "s2970")
    comparison = compare_with_source(library)
    assert [str(change) for change in comparison.changes] == [
        "gone device s2970",
        "gone link s2950 GigabitEthernet0/1 – s2970 GigabitEthernet0/1",
    ]
    assert comparison.gone_devices == ("s2970",)
    assert without_removals(comparison).changes == ()
    write_comparison(comparison)
    assert changes(library) == []
    text = (library / "hosts.yaml").read_text()
    assert "s2970" not in text
    assert "s2950:" in text


def test_stations_at_a_device_that_went_are_errors_and_nothing_is_written(
    library: Path, netbox: NetBoxServer
) -> None:
    links = library / "links.yaml"
    station = "stations:\n  - {name: pc, address: 192.0.2.9, attach: [s2970, GigabitEthernet0/5], rate: 100 Mb/s}\n"
    links.write_text(links.read_text().replace("stations: []\n", station))
    remove(netbox, "s2970")
    before = texts(library)
    with pytest.raises(InputErrors) as caught:
        sync(library)
    (problem,) = caught.value.problems()
    assert "there is no device 's2970'" in problem.message
    assert problem.where.file == str(links)
    assert texts(library) == before
    assert [path.name for path in library.parent.iterdir() if path.name.startswith(".")] == []


def test_a_device_without_a_meaning_any_more_is_not_gone(library: Path) -> None:
    source = library / "source.yaml"
    source.write_text(source.read_text().replace("  baystack: nortel_5510\n", ""))
    comparison = compare_with_source(library)
    assert comparison.changes == ()
    assert any(note.topic is Topic.UNMAPPED for note in comparison.notes)


def test_a_source_without_devices_takes_nothing_away(library: Path, netbox: NetBoxServer) -> None:
    netbox.records["dcim/devices"] = [one for one in netbox.records["dcim/devices"] if one["name"] == "srv1"]
    source = library / "source.yaml"
    source.write_text(
        source.read_text().replace("{role: [wan-edge, wan-transit, access-switch, core-switch]}", "{q: x}")
    )
    netbox.records["dcim/devices"] = []
    with pytest.raises(SourceError, match="the source has no devices"):
        compare_with_source(library)


def test_how_new_devices_are_reached_goes_to_the_defaults_or_to_them(
    network: Networks, netbox: NetBoxServer
) -> None:
    folder = network(
        tags="credentials: tacacs\njump: bastion\ntags: {qos-lan: lan, qos-wan: wan, qos-trunk: trunk}"
    )
    sync(folder)
    assert "credentials: tacacs" in (folder / "defaults.yaml").read_text()
    assert "tacacs" not in (folder / "hosts.yaml").read_text()
    (folder / "defaults.yaml").write_text("data: {}\n")
    hosts = folder / "hosts.yaml"
    text = hosts.read_text()
    hosts.write_text(text.partition("\nleaf:")[0] + "\n")
    sync(folder)
    reach = load_network(folder).device("leaf").reach
    assert (reach.credentials, reach.jump) == ("tacacs", "bastion")
    assert load_network(folder).device("r1").reach.credentials is None  # as people have it


def test_a_file_that_is_laid_out_otherwise_is_left_to_people(library: Path, netbox: NetBoxServer) -> None:
    hosts = library / "hosts.yaml"
    text = hosts.read_text()
    hosts.write_text(text.replace("{rate: 2 Mb/s, contracted: 2 Mb/s", "{rate: &slow 2 Mb/s, contracted: *slow", 1))
    assert changes(library) == []
    interface(netbox, "r1", "FastEthernet0/0")["speed"] = 10_000
    interface(netbox, "s2950", "FastEthernet0/24")["speed"] = 10_000
    sync(library)
    assert "&slow" in hosts.read_text()
    hosts.write_text(
        hosts.read_text().replace("rate: 2 Mb/s, contracted: 1500 kb/s", "rate: *slow, contracted: 1500 kb/s")
    )
    assert changes(library) == []
    device(netbox, "r2")["site"] = device(netbox, "r3")["site"]
    before = texts(library)
    with pytest.raises(InputError, match="is not laid out so that this can be done"):
        sync(library)
    assert texts(library) == before


def test_a_folder_that_cannot_be_written_stays_as_it_is(
    library: Path, netbox: NetBoxServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    interface(netbox, "r1", "FastEthernet0/0")["speed"] = 10_000
    interface(netbox, "s2950", "FastEthernet0/24")["speed"] = 10_000
    before = texts(library)
    replace = Path.replace

    def failing(self: Path, target: Path) -> Path:
        if target.name == "links.yaml":
            raise OSError(28, "No space left on device")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", failing)
    with pytest.raises(InputError, match="cannot be written: No space left on device"):
        sync(library)
    assert texts(library) == before


def test_comments_between_entries_stay_where_one_goes(library: Path, netbox: NetBoxServer) -> None:
    hosts, links = library / "hosts.yaml", library / "links.yaml"
    text = hosts.read_text().replace("      FastEthernet0/24:", "      # towards r1\n      FastEthernet0/24:")
    hosts.write_text(
        text.replace("      GigabitEthernet0/2: {", "      # to the server\n      GigabitEthernet0/2: {", 1)
    )
    links.write_text(links.read_text().replace("  - {a: [r2,", "  # the long one\n  - {a: [r2,"))
    interface(netbox, "s2950", "GigabitEthernet0/2")["enabled"] = False
    for name, port in (("r1", "Serial0/0"), ("r2", "Serial0/1")):
        interface(netbox, name, port).update(connected_endpoints=None, connected_endpoints_type=None)
    assert changes(library) == [
        "gone port s2950 GigabitEthernet0/2",
        "gone link r1 Serial0/0 – r2 Serial0/1",
    ]
    sync(library)
    assert "      # towards r1\n      FastEthernet0/24:" in hosts.read_text()
    assert "links:\n  # the long one\n  - {a: [r2, Serial0/0]" in links.read_text()
    assert changes(library) == []
