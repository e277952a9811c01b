"""Nornir's own inventory plug-ins as sources: SimpleInventory, and NetBox's by nornir-netbox."""

from __future__ import annotations

from pathlib import Path

import pytest

from qosforge.discovery.facts import Topic
from qosforge.errors import InputError, QosforgeError, SourceError
from qosforge.inventory.loader import load_network
from qosforge.inventory.models import DeviceRole
from qosforge.sources.sync import compare_with_source, write_comparison
from tests.sources.netbox_server import TOKEN, NetBoxServer

SIMPLE = """\
plugin: nornir
options:
  inventory: SimpleInventory
  arguments: {host_file: theirs/hosts.yaml, group_file: theirs/groups.yaml, defaults_file: theirs/defaults.yaml}
platforms:
  ios: {platform: cisco_ios, image: "12.4"}
roles: {border: edge, campus-core: core}
tags: {pilot: pilot, gold: gold}
"""
HOSTS = """\
r1:
  hostname: 192.0.2.1
  port: 2222
  username: netops
  password: hunter2
  groups: [routers, gold]
  data:
    role: border
    site: north
    image: "15.1"
    tags: [pilot, other]
    interfaces:
      FastEthernet0/[0-3]: {rate: 100 Mb/s}
      Serial0/0: {rate: 2 Mb/s, contracted: 1 Mb/s, encapsulation: hdlc}
      Serial0/9: {rate: 2}
r2: {hostname: r2.example.net, groups: [routers, campus-core]}
odd: {hostname: 192.0.2.9, platform: junos}
"the router": {hostname: 192.0.2.8, groups: [routers]}
"""
GROUPS = "routers: {platform: ios, username: everyone}\ngold: {}\ncampus-core: {}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A network with a SimpleInventory of somebody else beside it."""
    folder = tmp_path / "library"
    (folder / "theirs").mkdir(parents=True)
    (folder / "source.yaml").write_text(SIMPLE)
    for name, text in (("hosts", HOSTS), ("groups", GROUPS), ("defaults", "data: {}\n")):
        (folder / "theirs" / f"{name}.yaml").write_text(text)
    return folder


def test_hosts_of_a_simple_inventory(folder: Path) -> None:
    comparison = compare_with_source(folder)
    write_comparison(comparison)
    network = load_network(folder)
    r1, r2 = network.device("r1"), network.device("r2")
    assert (r1.reach.hostname, r1.reach.port, r1.reach.username) == ("192.0.2.1", 2222, "netops")
    assert (r1.platform, r1.image, r1.role, r1.site) == ("cisco_ios", "15.1", DeviceRole.EDGE, "north")
    assert r1.tags == {"pilot", "gold"}  # by a tag, and by a group
    assert len(r1.interfaces) == 5
    assert r1.interface("Serial0/0").contracted == 1_000_000
    assert (r2.reach.hostname, r2.reach.username) == ("r2.example.net", "everyone")
    assert (r2.image, r2.role, r2.interfaces) == ("12.4", DeviceRole.CORE, ())
    told = {note.topic: note.message for note in comparison.notes if note.topic is Topic.UNMAPPED}
    assert set(told) == {Topic.UNMAPPED}
    messages = " ".join(note.message for note in comparison.notes)
    for words in ("platform 'junos'", "tag 'other'", "the host 'the router' is left out", "Serial0/9"):
        assert words in messages
    assert "hunter2" not in "".join(path.read_text() for path in folder.glob("*.yaml"))
    assert compare_with_source(folder).changes == ()


def test_ports_and_links_that_nornir_does_not_tell_stay(folder: Path) -> None:
    write_comparison(compare_with_source(folder))
    hosts, links = folder / "hosts.yaml", folder / "links.yaml"
    hosts.write_text(
        hosts.read_text().replace(
            "interfaces: {}", "interfaces:\n      Serial0/0: {rate: 2 Mb/s, encapsulation: hdlc}"
        )
    )
    links.write_text("links:\n  - {a: [r1, Serial0/0], b: [r2, Serial0/0], rate: 2 Mb/s, framing: hdlc}\n")
    comparison = compare_with_source(folder)
    assert comparison.changes == ()
    assert len(comparison.target.links) == 1


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("inventory: SimpleInventory", "inventory: SimplestInventory", "Nornir has no inventory plug-in"),
        ("theirs/hosts.yaml", "nowhere/hosts.yaml", "Nornir's SimpleInventory could not read its inventory"),
        ("{host_file:", "{hosts: 5, host_file:", "could not read its inventory: TypeError"),
        ("{host_file:", "{nb_token: 0123secret, host_file:", "nb_token does not belong in this file"),
        ("{host_file:", "{nb_token: {env: NOT_SET}, host_file:", "the variable NOT_SET is not set"),
        ("{host_file:", "{nb_token: {env: a-b}, host_file:", "nb_token has no source"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(folder: Path, old: str, new: str, told: str) -> None:
    (folder / "source.yaml").write_text(SIMPLE.replace(old, new))
    with pytest.raises(QosforgeError) as caught:
        compare_with_source(folder)
    error = caught.value
    assert told in error.message
    assert error.where.file == str(folder / "source.yaml")
    assert error.where.line in (3, 4)
    assert error.hint
    assert "0123secret" not in str(error) + repr(error)
    if "SimplestInventory" in new:
        assert isinstance(error, InputError)
        assert "NetBoxInventory2" in error.hint
        assert "SimpleInventory" in error.hint


BY_NETBOX = """\
plugin: nornir
options:
  inventory: NetBoxInventory2
  arguments:
    nb_url: {url}
    nb_token: {{env: NETBOX_TOKEN}}
    use_platform_slug: true
    filter_parameters: {{role: [wan-edge, wan-transit]}}
  data: {{image: custom_fields.software_release}}
platforms: {{cisco-ios: cisco_ios}}
roles: {{wan-edge: edge, wan-transit: middle}}
tags: {{pilot: pilot}}
"""


def test_netbox_by_nornirs_plug_in(netbox: NetBoxServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "source.yaml").write_text(BY_NETBOX.format(url=netbox.url))
    comparison = compare_with_source(tmp_path)
    devices = {device.name: device for device in comparison.target.devices}
    assert set(devices) == {"r1", "r2", "r3", "b256", "b56"}
    r2 = devices["r2"]
    assert (r2.reach.hostname, r2.image, r2.role, r2.site) == ("192.0.2.2", "12.4", DeviceRole.MIDDLE, "library")
    assert devices["r1"].tags == {"pilot"}
    assert netbox.authorizations == {f"Token {TOKEN}"}
    monkeypatch.setenv("NETBOX_TOKEN", f"{TOKEN}x")
    with pytest.raises(SourceError, match="Failed to get data from NetBox") as caught:
        compare_with_source(tmp_path)
    assert "notInAnyOutput" not in str(caught.value) + repr(caught.value)


def test_what_a_plug_in_says_of_a_value_that_is_kept_elsewhere_is_not_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THEIR_FILE", "hosts-0123secret")
    words = "{host_file: {env: THEIR_FILE}, group_file:"
    (folder / "source.yaml").write_text(SIMPLE.replace("{host_file: theirs/hosts.yaml, group_file:", words))
    (folder / "hosts-0123secret").mkdir()
    monkeypatch.chdir(folder)
    with pytest.raises(SourceError, match="IsADirectoryError") as caught:
        compare_with_source(folder)
    assert "0123secret" not in str(caught.value)
