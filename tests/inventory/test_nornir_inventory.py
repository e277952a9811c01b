"""Our reading of an inventory's files against Nornir's own, which stays the measure."""

from pathlib import Path

import pytest
from nornir.plugins.inventory import SimpleInventory

from qosforge.intent.yaml_source import read_document
from qosforge.inventory.nornir_inventory import nornir_inventory

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = sorted(path.parent for path in (ROOT / "inventories").glob("*/hosts.yaml"))
FILES = {
    "hosts": """\
r1:
  hostname: 192.0.2.1
  port: 2022
  groups: [access, tacacs]
  data: {role: edge, image: "12.4", 7: seven, floor: null}
  connection_options: {napalm: {port: 830, extras: {optional_args: {keepalive: 30}}}}
r2: {groups: [access]}
r3: {}
""",
    "groups": """\
access: {groups: [campus], platform: cisco_ios, data: {role: access}}
campus: {username: netops, data: {image: "15.2", since: 2009-03-01, tags: [lan]}}
tacacs: {connection_options: {netmiko: {username: ops, extras: {timeout: 60}}}}
""",
    "defaults": "data: {site: north}\nconnection_options: {netmiko: {extras: {timeout: 20}}}\n",
}


@pytest.fixture
def written(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
    return tmp_path


def check_as_nornir(folder: Path) -> None:
    paths = {name: folder / f"{name}.yaml" for name in FILES}
    theirs = SimpleInventory(*map(str, paths.values())).load()
    ours = nornir_inventory(*(read_document(path).data for path in paths.values()))

    assert list(ours.hosts) == list(theirs.hosts)
    for name, host in theirs.hosts.items():
        assert {str(k): v for k, v in host.extended_data().items()} == ours.hosts[name].extended_data()
        assert [g.name for g in host.extended_groups()] == [g.name for g in ours.hosts[name].extended_groups()]
        for key in ("hostname", "port", "username", "password", "platform"):
            assert getattr(host, key) == getattr(ours.hosts[name], key)
        for connection in ("napalm", "netmiko"):
            mine = ours.hosts[name].get_connection_parameters(connection)
            assert host.get_connection_parameters(connection).dict() == mine.dict()


@pytest.mark.parametrize("folder", SHIPPED, ids=lambda folder: folder.name)
def test_shipped_inventories_are_as_nornir_reads_them(folder: Path) -> None:
    check_as_nornir(folder)


def test_what_hosts_have_of_groups_and_defaults_is_as_nornir_has_it(written: Path) -> None:
    check_as_nornir(written)
