"""A first audit from saved configurations alone: no inventory, files named as people name them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

CORE = """
Building configuration...
version 12.4
hostname Core.example.net
class-map match-any VOICE
 match ip dscp ef
policy-map WAN
 class VOICE
  priority percent 30
 class class-default
  fair-queue
interface Loopback0
 ip address 10.255.0.1 255.255.255.255
interface FastEthernet0/0
 no ip address
interface FastEthernet0/0.10
 encapsulation dot1Q 10
 ip address 10.1.10.1 255.255.255.0
interface Serial0/0
 bandwidth 2048
 ip address 10.0.0.1 255.255.255.252
 service-policy output WAN
interface Serial0/1
 no ip address
 shutdown
end
"""
BRANCH = """
version 12.4
hostname branch
interface FastEthernet0/0
 ip address 10.2.0.1 255.255.255.0
interface Serial0/0
 bandwidth 2048
 ip address 10.0.0.2 255.255.255.252
end
"""
SWITCH = """
hostname sw1
mls qos map cos-dscp 0 8 16 24 32 46 48 56
interface FastEthernet0/1
 switchport mode access
 mls qos trust cos
interface FastEthernet0/2
 switchport mode access
 mls qos trust cos
interface FastEthernet0/24
 switchport mode trunk
 mls qos trust dscp
interface Vlan1
 ip address 10.1.1.2 255.255.255.0
"""


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    folder = tmp_path / "saved"
    folder.mkdir()
    texts = {"core-confg.txt": CORE, "branch.conf": BRANCH, "switch 1": SWITCH, "notes.txt": "of the backup\n"}
    for name, text in texts.items():
        (folder / name).write_text(text)
    return folder


def test_files_alone_are_audited(qosforge, saved: Path) -> None:
    ended = qosforge("audit", "--files", saved)
    assert ended.code == 0
    assert "ends-treat-marks-differently" in ended.stdout, "the link is known by its subnet"
    assert "notes.txt: no line tells the platform" in ended.stdout
    assert "devices: 3, links: 1" in ended.stdout
    assert "FastEthernet0/[1-2]" in ended.stdout, "ports that are alike share a row"
    document = json.loads(qosforge("audit", "--files", saved, "--json").stdout)
    assert set(document["devices"]) == {"core", "branch", "sw1"}


def test_an_inventory_is_made_and_audited_with_the_same_files(qosforge, saved: Path, tmp_path: Path) -> None:
    office = tmp_path / "office"
    ended = qosforge("network", "import", saved, "--into", office)
    assert ended.code == 0
    assert "10.255.0.1 is taken for the address at which it is reached" in ended.stdout
    document = json.loads(qosforge("network", "import", saved, "--into", tmp_path / "again", "--json").stdout)
    assert document["links"] == [{"a": ["branch", "Serial0/0"], "b": ["core", "Serial0/0"]}]
    hosts = (office / "hosts.yaml").read_text()
    assert "Serial0/1" not in hosts, "a port that is shut down"
    assert "FastEthernet0/0: {rate: 100 Mb/s, tags: [lan], tagged: true}" in hosts
    audited = qosforge("audit", "--network", office, "--files", saved)
    assert audited.code == 0
    assert "ends-treat-marks-differently" in audited.stdout
    refused = qosforge("network", "import", saved, "--into", office)
    assert (refused.code, "there is something already" in refused.stderr) == (2, True)


def test_a_folder_without_configurations_is_told(qosforge, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing of a device\n")
    ended = qosforge("audit", "--files", tmp_path)
    assert ended.code == 2
    assert "no configuration of a device is here (notes.txt: no line tells the platform)" in ended.stderr
    assert "show running-config" in ended.stderr
    assert "--platform FILE=PLATFORM (catalyst_2950, " in ended.stderr


def test_a_file_whose_lines_tell_no_platform_is_read_as_the_one_that_is_named(
    qosforge, saved: Path, tmp_path: Path
) -> None:
    (saved / "sw2.cfg").write_text("hostname sw2\ninterface FastEthernet0/1\n switchport mode access\n")
    ended = qosforge("audit", "--files", saved)
    assert "sw2.cfg: no line tells the platform" in ended.stdout
    assert "--platform sw2.cfg=PLATFORM" in ended.stdout
    told = ("--platform", "sw2.cfg=catalyst_2950")
    assert "sw2" in json.loads(qosforge("audit", "--files", saved, *told, "--json").stdout)["devices"]
    assert qosforge("network", "import", saved, "--into", tmp_path / "office", *told).code == 0
    assert "sw2" in (tmp_path / "office" / "hosts.yaml").read_text()


@pytest.mark.parametrize(
    ("word", "said"),
    [("sw9=catalyst_2950", "names none of the files"), ("notes.txt=2950", "unknown platform '2950'")],
)
def test_a_platform_of_no_file_or_that_is_none_is_refused(qosforge, saved: Path, word: str, said: str) -> None:
    ended = qosforge("audit", "--files", saved, "--platform", word)
    assert (ended.code, said in ended.stderr) == (2, True)


def test_of_two_configurations_of_one_device_the_first_is_taken_and_both_are_named(
    qosforge, saved: Path, tmp_path: Path
) -> None:
    (first,) = (file for file in saved.iterdir() if file.read_text() == BRANCH)
    alone = json.loads(qosforge("audit", "--files", saved, "--json").stdout)
    (saved / "older.txt").write_text(BRANCH)
    ended = qosforge("audit", "--files", saved)
    assert ended.code == 0
    told = " ".join(ended.stdout.split())
    assert f"older.txt: {first.name} is a configuration of branch, too, and was taken" in told
    assert "give the newest alone" in told
    both = json.loads(qosforge("audit", "--files", saved, "--json").stdout)
    assert (both["devices"], both["findings"]) == (alone["devices"], alone["findings"])
    made = qosforge("network", "import", saved, "--into", tmp_path / "office")
    assert made.code == 0
    assert "older.txt" in made.stdout
