"""What boxes hear of each other, judged by the parsers of ntc-templates where there are any."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from ntc_templates.parse import parse_output

from qoslab.box import Box
from qoslab.boxes import make_box
from qoslab.clock import Clock
from qoslab.errors import SpecError
from qoslab.spec import BoxSpec, LinkSpec, load
from qoslab.storage import Storage
from qoslab.wiring import plug

MBPS = 1_000_000
ROUTER_A = """\
hostname A
ip domain name example.net
interface FastEthernet0/0
 ip address 192.0.2.1 255.255.255.0
interface Serial0/0
 ip address 198.51.100.1 255.255.255.252
interface Serial0/1
 no ip address
 encapsulation ppp
 ppp multilink
 ppp multilink group 1
interface Multilink1
 bandwidth 256
 ip address 203.0.113.1 255.255.255.252
 ppp multilink
 ppp multilink group 1
"""
ROUTER_B = """\
hostname B
interface FastEthernet0/0
 ip address 192.0.2.2 255.255.255.0
interface Serial0/1
 ip address 198.51.100.2 255.255.255.252
interface Multilink1
 ip address 203.0.113.2 255.255.255.252
 ppp multilink
"""
SWITCH = """\
hostname SW
interface FastEthernet0/1
 switchport mode access
 switchport access vlan 3
interface GigabitEthernet0/1
 switchport mode trunk
interface Vlan1
 ip address 192.0.2.9 255.255.255.0
"""
CHASSIS = """\
hostname CORE
interface GigabitEthernet 0/0
 switchport
 no shutdown
interface GigabitEthernet 0/1
 switchport
 no shutdown
interface Vlan 4
 ip address 192.0.2.7/24
"""
NORTEL = """\
snmp-server name EDGE
vlan create 4 name campus type port
vlan members 4 1-2,48
ip address switch 192.0.2.5 netmask 255.255.255.0
"""

Maker = Callable[..., Box]


@pytest.fixture
def make(tmp_path: Path) -> Maker:
    def build(name: str, platform: str, startup: str, image: str = "", **features: bool) -> Box:
        spec = BoxSpec(name=name, platform=platform, image=image, features=features, username="u", password="p")
        box = make_box(spec, Storage(tmp_path / name, startup), Clock())
        box.boot()
        assert not box.boot_messages
        return box

    return build


def say(box: Box, command: str) -> str:
    shell = box.new_shell("u")
    shell.feed("enable")
    return shell.feed(command).text


def test_cdp_is_heard_on_ethernet_serial_and_bundles_under_the_name_with_its_domain(make: Maker) -> None:
    a, b = make("a", "cisco_ios", ROUTER_A, "12.4"), make("b", "cisco_ios", ROUTER_B, "12.2")
    links = [
        LinkSpec(a=("a", near), b=("b", far), rate=2 * MBPS)
        for near, far in (
            ("FastEthernet0/0", "FastEthernet0/0"),
            ("Serial0/0", "Serial0/1"),
            ("Multilink1", "Multilink1"),
        )
    ]
    plug(links, {"a": a, "b": b})
    read = parse_output("cisco_ios", "show cdp neighbors detail", say(b, "show cdp neighbors detail"))
    assert [
        (n["neighbor_name"], n["local_interface"], n["neighbor_interface"], n["mgmt_address"]) for n in read
    ] == [
        ("A.example.net", "FastEthernet0/0", "FastEthernet0/0", "192.0.2.1"),
        ("A.example.net", "Serial0/1", "Serial0/0", "198.51.100.1"),
        ("A.example.net", "Multilink1", "Multilink1", "203.0.113.1"),
    ]
    assert {(n["platform"], n["capabilities"]) for n in read} == {("Cisco 2651XM", "Router")}
    assert "Version 12.4(25)" in read[0]["neighbor_description"]
    one = parse_output("cisco_ios", "show cdp neighbors detail", say(b, "show cdp neighbors s0/1 detail"))
    assert [n["local_interface"] for n in one] == ["Serial0/1"]


@pytest.mark.parametrize(
    "line", ["no cdp run", "interface Serial0/0\nno cdp enable", "interface Serial0/0\nshutdown"]
)
def test_cdp_is_silent_at_both_ends_where_one_is_switched_off(make: Maker, line: str) -> None:
    a, b = make("a", "cisco_ios", ROUTER_A, "12.4"), make("b", "cisco_ios", ROUTER_B, "12.2")
    plug([LinkSpec(a=("a", "Serial0/0"), b=("b", "Serial0/1"), rate=2 * MBPS)], {"a": a, "b": b})
    assert "Device ID: A" in say(b, "show cdp neighbors detail")
    assert not a.configure(line.splitlines())
    assert say(b, "show cdp neighbors detail") == ""
    assert "Device ID" not in say(a, "show cdp neighbors detail")
    assert ("CDP is not enabled" in say(a, "show cdp")) == (line == "no cdp run")


def test_links_may_name_ports_as_people_write_them(make: Maker) -> None:
    a, b = make("a", "cisco_ios", ROUTER_A, "12.4"), make("b", "cisco_ios", ROUTER_B, "12.2")
    core, edge = make("core", "force10_e300", CHASSIS, "6.5"), make("e", "nortel_5510", NORTEL)
    plug(
        [
            LinkSpec(a=("a", "s0/0"), b=("b", "se0/1"), rate=2 * MBPS),
            LinkSpec(a=("core", "gi0/0"), b=("e", "nowhere"), rate=100 * MBPS),
        ],
        {"a": a, "b": b, "core": core, "e": edge},
    )
    assert "Interface: Serial0/1,  Port ID (outgoing port): Serial0/0" in say(b, "show cdp neighbors detail")
    assert "LineSpeed 100 Mbit" in say(core, "show interfaces gi 0/0")
    assert len(say(edge, "show autotopology nmm-table").splitlines()) == 4


def test_switches_tell_the_address_of_their_vlan_and_their_native_vlan(make: Maker) -> None:
    switch, router = make("sw", "catalyst_2950", SWITCH), make("b", "cisco_ios", ROUTER_B, "12.2")
    plug(
        [LinkSpec(a=("sw", "FastEthernet0/1"), b=("b", "FastEthernet0/0"), rate=100 * MBPS)],
        {"sw": switch, "b": router},
    )
    text = say(router, "show cdp neighbors detail")
    (read,) = parse_output("cisco_ios", "show cdp neighbors detail", text)
    assert (read["neighbor_name"], read["mgmt_address"]) == ("SW", "192.0.2.9")
    assert (read["platform"], read["capabilities"]) == ("Cisco WS-C2950T-24", "Switch IGMP")
    assert "Native VLAN: 3" in text
    assert "Native VLAN" not in say(switch, "show cdp neighbors detail")


@pytest.mark.parametrize("platform", ["cisco_ios", "catalyst_2950", "catalyst_2970"])
def test_old_ios_knows_no_lldp(make: Maker, platform: str) -> None:
    box = make("x", platform, "hostname X\n", "12.2" if platform == "cisco_ios" else "")
    assert "% Invalid input" in say(box, "show lldp neighbors detail")


def test_lldp_between_ios_xe_and_ftos_once_it_is_switched_on(make: Maker) -> None:
    modern, core = make("c9", "catalyst_9000", "hostname C9\n"), make("core", "force10_e300", CHASSIS, "8.3.1.3")
    plug(
        [LinkSpec(a=("c9", "GigabitEthernet1/0/1"), b=("core", "GigabitEthernet 0/0"), rate=1000 * MBPS)],
        {"c9": modern, "core": core},
    )
    assert not modern.configure(["interface GigabitEthernet1/0/1", "no shutdown"])
    assert say(modern, "show lldp neighbors detail") == "% LLDP is not enabled"
    assert not modern.configure(["lldp run"])
    assert say(core, "show lldp neighbors detail") == ""
    assert not core.configure(["protocol lldp", "advertise management-tlv system-capabilities", "no disable"])
    assert " advertise management-tlv system-capabilities\n no disable\n" in core.running_text()
    (read,) = parse_output("cisco_ios", "show lldp neighbors detail", say(modern, "show lldp neighbors detail"))
    # FTOS tells its name only where it is told to: so it is in what the NOC Project recorded.
    assert (read["local_interface"], read["neighbor_name"]) == ("Gi1/0/1", "")
    assert (read["neighbor_port_id"], read["capabilities"]) == ("GigabitEthernet 0/0", "B,R")
    assert not core.configure(["protocol lldp", "advertise management-tlv system-name management-address"])
    (read,) = parse_output("cisco_ios", "show lldp neighbors detail", say(modern, "show lldp neighbors detail"))
    assert (read["neighbor_name"], read["mgmt_address"]) == ("CORE", "192.0.2.7")
    heard = say(core, "show lldp neighbors detail")
    # The expressions of the NOC Project's Force10.FTOS.get_lldp_neighbors.
    assert re.search(r"^===+\n.*Local interface Gi 0/0 has \d+ neighbor", heard, re.IGNORECASE | re.MULTILINE)
    assert re.search(r"Remote Port ID:\s*Gi1/0/1$", heard, re.MULTILINE)
    assert re.search(r"Remote System Name:\s*C9$", heard, re.MULTILINE)
    assert not modern.configure(["interface GigabitEthernet1/0/1", "no lldp transmit"])
    assert say(core, "show lldp neighbors detail") == ""
    assert "System Name: CORE" in say(modern, "show lldp neighbors detail")
    assert not modern.configure(["interface GigabitEthernet1/0/1", "lldp transmit", "no lldp receive"])
    assert "Remote System Name:  C9" in say(core, "show lldp neighbors detail")
    assert "Local Intf" not in say(modern, "show lldp neighbors detail")
    assert not modern.configure(["interface GigabitEthernet1/0/1", "lldp receive"])
    assert not core.configure(["protocol lldp", "disable"])
    assert "Local Intf" not in say(modern, "show lldp neighbors detail")


def test_ftos_of_the_campus_has_no_lldp(make: Maker) -> None:
    core = make("core", "force10_e300", CHASSIS, "6.5")
    assert '% Invalid input at "^" marker.' in say(core, "show lldp neighbors detail")
    assert core.configure(["protocol lldp"])


def test_nortel_hears_only_its_own_kind_and_by_address(make: Maker) -> None:
    other = NORTEL.replace("EDGE", "OTHER").replace(".2.5", ".2.6")
    boxes = {
        "e": make("e", "nortel_5510", NORTEL),
        "o": make("o", "nortel_5510", other),
        "core": make("core", "force10_e300", CHASSIS, "6.5"),
    }
    plug(
        [
            LinkSpec(a=("e", "1/48"), b=("o", "47"), rate=1000 * MBPS),
            LinkSpec(a=("e", "1"), b=("core", "GigabitEthernet 0/1"), rate=1000 * MBPS),
        ],
        boxes,
    )
    lines = say(boxes["e"], "show autotopology nmm-table").splitlines()
    assert lines[2] == "----- --------------- -------- ------------ ---------------- -- --- ---- -----"
    assert lines[3].split()[2:4] == ["192.0.2.5", "0x000000"]
    # The form of the published account: local port, address, segment (slot and port), MAC, model, remote port.
    found = re.fullmatch(r" 1/48 192\.0\.2\.6 +0x00012F ([0-9A-F]{12}) 5510-48T +12 Yes HTBT  1/47", lines[4])
    assert found is not None, lines[4]
    assert len(lines) == 5


def test_ports_tell_the_speed_that_they_agreed_on(make: Maker) -> None:
    switch = make("s", "catalyst_2970", SWITCH.replace("FastEthernet0/1", "GigabitEthernet0/5"))
    core, edge = make("core", "force10_e300", CHASSIS, "6.5"), make("e", "nortel_5510", NORTEL)
    plug(
        [
            LinkSpec(a=("s", "GigabitEthernet0/5"), rate=100 * MBPS),
            LinkSpec(a=("core", "GigabitEthernet 0/0"), rate=100 * MBPS),
            LinkSpec(a=("e", "2"), rate=100 * MBPS),
        ],
        {"s": switch, "core": core, "e": edge},
    )
    read = {
        one["interface"]: one
        for one in parse_output("cisco_ios", "show interfaces", say(switch, "show interfaces"))
    }
    port = read["GigabitEthernet0/5"]
    assert (port["link_status"], port["protocol_status"]) == ("up", "up (connected)")
    assert (port["bandwidth"], port["duplex"], port["speed"]) == ("100000 Kbit", "Full-duplex", "100Mb/s")
    assert read["GigabitEthernet0/1"]["protocol_status"] == "down (notconnect)"
    assert "LineSpeed 100 Mbit, Mode full duplex" in say(core, "show interfaces gi 0/0")
    assert say(core, "show interfaces").count("Hardware is Force10Eth") == 2
    assert "line protocol is down" in say(core, "show interfaces gi 0/1")
    rows = say(edge, "show interfaces").splitlines()[3:]
    assert len(rows) == 48
    assert rows[1].split()[1:4] == ["Enable", "Up", "Up"]
    assert "100Mbps" in rows[1]
    assert rows[0].split()[1:4] == ["Enable", "Down", "Down"]


def test_routers_tell_bandwidth_and_encapsulation(make: Maker) -> None:
    a = make("a", "cisco_ios", ROUTER_A, "12.4")
    plug([LinkSpec(a=("a", "Multilink1"), rate=256_000)], {"a": a})
    read = {
        one["interface"]: one for one in parse_output("cisco_ios", "show interfaces", say(a, "show interfaces"))
    }
    bundle = read["Multilink1"]
    assert (bundle["bandwidth"], bundle["encapsulation"]) == ("256 Kbit", "PPP")
    assert read["Serial0/1"]["link_status"] == "up"  # a member of a bundle that has a cable
    assert (read["Serial0/0"]["link_status"], read["Serial0/0"]["encapsulation"]) == ("down", "HDLC")
    assert read["FastEthernet0/0"]["encapsulation"] == "ARPA"


def test_every_box_tells_its_platform_and_image(make: Maker) -> None:
    def version(box: Box) -> tuple[str, str, str]:
        (read,) = parse_output("cisco_ios", "show version", say(box, "show version"))
        return read["software_image"].split("-")[0], read["version"], read["hardware"][0]

    assert version(make("a", "cisco_ios", ROUTER_A, "12.4")) == ("C2600", "12.4(25)", "2651XM")
    assert version(make("b", "cisco_ios", ROUTER_B, "12.2")) == ("C2600", "12.2(15)T", "2651XM")
    enhanced, standard = (make(n, "catalyst_2950", SWITCH, enhanced=n == "ei") for n in ("ei", "si"))
    assert version(enhanced) == ("C2950", "12.1(22)EA", "WS-C2950T-24")
    assert "Running Enhanced Image" in say(enhanced, "show version")
    assert "Running Standard Image" in say(standard, "show version")
    assert version(make("s", "catalyst_2970", "hostname S\n")) == ("C2970", "12.2(25)SEE1", "WS-C2970G-24T-E")
    assert version(make("c", "catalyst_9000", "hostname C\n")) == ("CAT9K_IOSXE", "17.12", "C9300L-24T-4X")
    assert "Chassis Type: E300" in say(make("f", "force10_e300", CHASSIS, "6.5"), "show version")
    (read,) = parse_output("avaya_ers", "show sys-info", say(make("n", "nortel_5510", NORTEL), "show sys-info"))
    assert (read["sys_name"], read["operational_software"], read["autotopology"]) == (
        "EDGE",
        "v5.1.0.014",
        "Enabled",
    )


def test_a_link_must_end_at_boxes_and_a_port_takes_one(tmp_path: Path) -> None:
    box = "{name: a, platform: cisco_ios, username: u, password: p}"
    path = tmp_path / "network.yaml"
    path.write_text(f"network: n\nboxes: [{box}]\nlinks: [{{a: [a, S0/0], b: [z, S0/0], rate: 1}}]\n")
    with pytest.raises(SpecError, match="'z', which is no box"):
        load(path)
    path.write_text(f"network: n\nboxes: [{box}]\nlinks: [{{a: [a, S0/0], rate: 1}}, {{a: [a, S0/0], rate: 1}}]\n")
    with pytest.raises(SpecError, match="a S0/0 has two links"):
        load(path)
