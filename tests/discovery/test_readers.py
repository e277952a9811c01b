"""What readers make of answers that the lab's devices do not give: forms of manuals and published records."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from qosforge.discovery.facts import Channel, DeviceFacts, Neighbour, Topic, Vlan
from qosforge.discovery.names import is_station, numbers, port_named
from qosforge.discovery.readers import READERS, cisco, force10, nortel
from qosforge.discovery.readers.problems import NotAnswered, UnknownPlatform
from qosforge.inventory.models import Framing

INVALID = "      ^\n% Invalid input detected at '^' marker.\n"
VERSION = """\
Cisco IOS Software, {family} Software ({image}), Version {version}, RELEASE SOFTWARE (fc1)

ROM: Bootstrap program

{name} uptime is 1 week, 2 days
System image file is "flash:image.bin"

cisco {model} (PowerPC405) processor (revision A0) with 118784K/12280K bytes of memory.
Processor board ID FOC0001X0XX
"""


def answering(answers: Mapping[str, str], refusal: str = INVALID) -> Callable[[str], str]:
    return lambda command: answers.get(command, refusal)


def shown(name: str, *, bandwidth: int, encapsulation: str, speed: str = "", state: str = "up") -> str:
    return "\n".join(
        [
            f"{name} is {state}, line protocol is {state}",
            "  Hardware is something",
            f"  MTU 1500 bytes, BW {bandwidth} Kbit, DLY 20000 usec, ",
            "     reliability 255/255, txload 1/255, rxload 1/255",
            f"  Encapsulation {encapsulation}, loopback not set",
            *([f"  Full-duplex, {speed}"] if speed else []),
        ]
    )


def ios(
    config: str, interfaces: str, cdp: str = "", family: str = "2800", image: str = "C2800NM-IPBASE-M"
) -> DeviceFacts:
    answers = {
        "show version": VERSION.format(family=family, image=image, version="12.4(15)T", name="X", model="2811"),
        "show running-config": f"Building configuration...\n\nversion 12.4\nhostname X\n{config}end\n",
        "show interfaces": interfaces,
        "show cdp neighbors detail": cdp,
    }
    return cisco.read(answering(answers))


CDP = """\
-------------------------
Device ID: {name}
Entry address(es):
  IP address: 192.0.2.9
Platform: {platform},  Capabilities: {capabilities}
Interface: {port},  Port ID (outgoing port): {remote}
Holdtime : 150 sec

Version :
something

advertisement version: 2
Duplex: full

"""


def test_frame_relay_and_atm_are_kept_by_their_circuits() -> None:
    config = """\
interface Serial0/0
 encapsulation frame-relay
interface Serial0/0.1 point-to-point
 bandwidth 64
 frame-relay interface-dlci 100
interface Serial0/0.2 multipoint
interface ATM1/0
 pvc data 1/32
  vbr-nrt 3000 2000 1
interface ATM1/1
 pvc 0/33
"""
    interfaces = "\n".join(
        [
            shown("Serial0/0", bandwidth=1544, encapsulation="FRAME-RELAY"),
            shown("Serial0/0.1", bandwidth=64, encapsulation="FRAME-RELAY"),
            shown("Serial0/0.2", bandwidth=1544, encapsulation="FRAME-RELAY"),
            shown("ATM1/0", bandwidth=155000, encapsulation="ATM"),
            shown("ATM1/1", bandwidth=155000, encapsulation="ATM"),
        ]
    )
    facts = ios(config, interfaces)
    ports = {port.name: port for port in facts.ports}
    assert set(ports) == {"Serial0/0.1", "ATM1/0", "ATM1/1"}
    line, cell = ports["Serial0/0.1"], ports["ATM1/0"]
    assert (line.framing, line.rate, line.circuit.dlci if line.circuit else None) == (
        Framing.FRAME_RELAY,
        64_000,
        100,
    )
    assert cell.circuit is not None
    assert (cell.framing, cell.circuit.vpi, cell.circuit.vci) == (Framing.ATM, 1, 32)
    # The sustainable rate, not the peak; without any that of the port, which is named.
    assert (cell.rate, ports["ATM1/1"].rate) == (2_000_000, 155_000_000)
    assert [(note.topic, note.line) for note in facts.notes] == [
        (Topic.LEFT_OUT, "Serial0/0.2"),
        (Topic.ASSUMED, "ATM1/1"),
    ]


def test_a_router_on_a_stick_has_one_tagged_port_with_its_vlans() -> None:
    config = """\
interface FastEthernet0/0
 no ip address
interface FastEthernet0/0.10
 encapsulation dot1Q 10
interface FastEthernet0/0.20
 encapsulation dot1Q 20
"""
    interfaces = "\n".join(
        [
            shown("FastEthernet0/0", bandwidth=100000, encapsulation="ARPA", speed="100Mb/s, 100BaseTX/FX"),
            shown("FastEthernet0/0.10", bandwidth=100000, encapsulation="802.1Q Virtual LAN, Vlan ID  10."),
            shown("FastEthernet0/0.20", bandwidth=100000, encapsulation="802.1Q Virtual LAN, Vlan ID  20."),
        ]
    )
    (port,) = ios(config, interfaces).ports
    assert (port.name, port.tagged, port.vlans, port.rate) == ("FastEthernet0/0", True, (10, 20), 100_000_000)


def test_switch_ports_tell_channels_voice_vlans_and_what_they_negotiate() -> None:
    config = """\
vlan 3
 name campus
interface GigabitEthernet0/1
 switchport mode trunk
 switchport trunk allowed vlan 3,7-8
 channel-group 2 mode active
interface GigabitEthernet0/2
 switchport mode trunk
 channel-group 2 mode active
interface GigabitEthernet0/3
 switchport access vlan 3
 switchport mode access
 switchport voice vlan 7
interface GigabitEthernet0/4
interface GigabitEthernet0/5
 shutdown
interface GigabitEthernet0/6
interface Port-channel2
 switchport mode trunk
"""
    gigabit = {"bandwidth": 1000000, "encapsulation": "ARPA", "speed": "1000Mb/s"}
    interfaces = "\n".join(
        [
            *(shown(f"GigabitEthernet0/{n}", **gigabit) for n in range(1, 5)),  # type: ignore[arg-type]
            shown("GigabitEthernet0/5", **gigabit, state="administratively down"),  # type: ignore[arg-type]
            shown("GigabitEthernet0/6", **gigabit, state="down"),  # type: ignore[arg-type]
            shown("Port-channel2", bandwidth=2000000, encapsulation="ARPA"),
        ]
    )
    facts = ios(config, interfaces, family="C3560", image="C3560-IPBASE-M")
    assert facts.platform == "catalyst_2970"
    ports = {port.name[-1]: port for port in facts.ports}
    assert set(ports) == {"1", "2", "3", "4"}
    assert (ports["1"].lag, ports["1"].tagged, ports["1"].vlans) == ("Port-channel2", True, (3, 7, 8))
    assert (ports["3"].tagged, ports["3"].vlans, ports["3"].voice_vlan) == (False, (3,), 7)
    assert facts.channels == (Channel("Port-channel2", ("GigabitEthernet0/1", "GigabitEthernet0/2")),)
    assert facts.vlans == (Vlan(3, "campus"), Vlan(7), Vlan(8))
    assert [(note.topic, note.line) for note in facts.notes] == [
        (Topic.ASSUMED, "GigabitEthernet0/4"),
        (Topic.LEFT_OUT, "GigabitEthernet0/6"),
    ]


def test_phones_and_hosts_are_no_devices_to_open() -> None:
    cdp = CDP.format(
        name="SEP0001", platform="Cisco IP Phone 7960", capabilities="Host Phone", port="Fa0/0", remote="Port 1"
    )
    cdp += CDP.format(
        name="core", platform="cisco X", capabilities="Router Switch IGMP", port="Fa0/0", remote="Gi1"
    )
    interfaces = shown("FastEthernet0/0", bandwidth=100000, encapsulation="ARPA", speed="100Mb/s")
    facts = ios("interface FastEthernet0/0\n", interfaces, cdp)
    assert [(one.name, one.port, one.station) for one in facts.neighbours] == [
        ("SEP0001", "FastEthernet0/0", True),
        ("core", "FastEthernet0/0", False),
    ]


@pytest.mark.parametrize(
    ("capabilities", "station"),
    [
        ("Router Switch IGMP", False), ("Switch IGMP", False), ("Trans-Bridge", True), ("Host Phone", True),
        ("Switch Host Phone", True), ("B,R", False), ("B,T", True), ("W", True), ("Bridge Router", False),
        ("", False),
    ],
)  # fmt: skip
def test_stations_by_what_they_say_of_themselves(capabilities: str, station: bool) -> None:
    assert is_station(capabilities) is station


def test_an_encapsulation_without_a_framing_is_named_with_its_line() -> None:
    facts = ios("interface Serial0/0\n", shown("Serial0/0", bandwidth=64, encapsulation="X25"))
    assert facts.ports == ()
    (note,) = facts.notes
    assert (note.topic, note.line) == (Topic.NOT_UNDERSTOOD, "Serial0/0: Encapsulation X25")


def test_a_neighbour_on_a_port_that_is_not_configured_is_named() -> None:
    cdp = CDP.format(name="core", platform="cisco X", capabilities="Switch", port="Tunnel5", remote="Gi1")
    facts = ios("interface FastEthernet0/0\n", "", cdp)
    (note,) = facts.notes
    assert (note.topic, note.line) == (Topic.NOT_UNDERSTOOD, "Tunnel5: core")


def test_a_neighbour_that_the_template_passes_over_is_counted() -> None:
    whole = CDP.format(name="core", platform="cisco X", capabilities="Switch", port="Fa0/0", remote="Gi1")
    cdp = whole.replace("Version :\nsomething\n\n", "") + whole.replace("core", "other")
    facts = ios("interface FastEthernet0/0\n", "", cdp)
    assert [one.name for one in facts.neighbours] == ["other"]
    (note,) = facts.notes
    assert note.message == "1 of its neighbours could not be read off 'show cdp neighbors detail'"


@pytest.mark.parametrize("image", ["C2960-LANBASEK9-M", "CAT4500-IPBASE-M", "s72033_rp-IPSERVICES-M"])
def test_an_image_of_no_platform_of_ours_is_told_as_such(image: str) -> None:
    with pytest.raises(UnknownPlatform, match=image):
        ios("", "", family="X", image=image)


def test_an_answer_that_is_none_is_told_as_such() -> None:
    for reader in set(READERS.values()):
        with pytest.raises(NotAnswered, match="show "):
            reader(answering({}))


# -- Force10 -------------------------------------------------------------------------------------------------
FTOS = {
    "show version": "Force10 Application Software Version: 8.3.1.3\nChassis Type: E300 \n",
    "show running-config": """\
Current Configuration ...
! Version 8.3.1.3
hostname core
interface GigabitEthernet 0/1
 no ip address
 switchport
 no shutdown
interface GigabitEthernet 0/2
 no ip address
 no shutdown
interface GigabitEthernet 0/3
 no ip address
 no shutdown
interface TenGigabitEthernet 1/0
 ip address 192.0.2.1/30
 no shutdown
interface Port-channel 5
 channel-member GigabitEthernet 0/2-3
 switchport
 no shutdown
interface Vlan 9
 name lab
 tagged Port-channel 5
 untagged GigabitEthernet 0/1
 no shutdown
protocol lldp
 no disable
""",
    "show interfaces": "\n".join(
        f"{name} is up, line protocol is {state}\nHardware is Force10Eth, address is 00:01:e8:00:00:01\n"
        f"LineSpeed {speed}\n"
        for name, state, speed in (
            ("GigabitEthernet 0/1", "down", "auto"),
            ("GigabitEthernet 0/2", "up", "1000 Mbit, Mode full duplex"),
            ("GigabitEthernet 0/3", "up", "1000 Mbit, Mode full duplex"),
            ("TenGigabitEthernet 1/0", "up", "10000 Mbit, Mode full duplex"),
        )
    ),
    # The layout that the NOC Project recorded of an S50N.
    "show lldp neighbors detail": """\
========================================================================
 Local Interface Te 1/0 has 1 neighbor
  Total Frames Out: 1
  The neighbors are given below:
  -----------------------------------------------------------------------

    Remote Chassis ID Subtype: Mac address (4)
    Remote Chassis ID:  00:01:e8:00:00:02
    Remote Port Subtype:  Interface name (5)
    Remote Port ID:  TenGigabitEthernet 0/26
    Local Port ID: TenGigabitEthernet 1/0
    Remote System Name:  access
    Enabled System Capabilities:  Repeater Bridge Router
   ---------------------------------------------------------------------------

""",
}  # fmt: skip


def test_ftos_tells_channels_vlans_and_neighbours() -> None:
    facts = force10.read(answering(FTOS, '% Invalid input at "^" marker.'))
    assert (facts.hostname, facts.image, facts.mac) == ("core", "8.3.1.3", "0001e8000001")
    ports = {port.name: port for port in facts.ports}
    assert set(ports) == {"GigabitEthernet 0/2", "GigabitEthernet 0/3", "TenGigabitEthernet 1/0"}
    assert ports["GigabitEthernet 0/2"].lag == "Port-channel 5"
    # A VLAN that a channel carries, its members carry.
    assert (ports["GigabitEthernet 0/3"].tagged, ports["GigabitEthernet 0/3"].vlans) == (True, (9,))
    assert (ports["TenGigabitEthernet 1/0"].rate, ports["TenGigabitEthernet 1/0"].routed) == (10**10, True)
    assert facts.channels == (Channel("Port-channel 5", ("GigabitEthernet 0/2", "GigabitEthernet 0/3")),)
    assert facts.vlans == (Vlan(9, "lab"),)
    assert facts.neighbours == (
        Neighbour("LLDP", "TenGigabitEthernet 1/0", "TenGigabitEthernet 0/26", name="access", mac="0001e8000002"),
    )
    assert [(note.topic, note.line) for note in facts.notes] == [(Topic.LEFT_OUT, "GigabitEthernet 0/1")]


def test_other_models_of_force10_are_no_e_series() -> None:
    with pytest.raises(UnknownPlatform, match="S50N"):
        force10.read(answering({**FTOS, "show version": FTOS["show version"].replace("E300", "S50N")}))


# -- Nortel --------------------------------------------------------------------------------------------------
ERS = {
    "show sys-info": "sysDescr:   Ethernet Routing Switch 5510-48T\n   HW:02   FW:5.0.0.3   SW:v5.1.0.014\n"
    "sysName: edge\n",
    "show running-config": 'vlan create 4 name "campus" type port\nvlan members remove 1 1-48\n'
    "vlan members add 4 1,47-48\nvlan ports 47-48 tagging tagAll\nmlt 1 name up enable members 47-48\n",
    "show interfaces": "Port Trunk  Admin   Oper Link LinkTrap Negotiation  Speed    Duplex Control\n"
    "1           Enable  Up   Up   Enabled  Enabled     100Mbps  Full   Disable\n"
    "2           Enable  Down Down Enabled  Enabled\n"
    "47   1      Enable  Up   Up   Enabled  Enabled     1000Mbps Full   Disable\n",
    # As M. McNamara's account prints it of a 5530 stack.
    "show autotopology nmm-table": """\
LSlot                                                                     RSlot
LPort IP Addr         Seg ID   MAC Addr     Chassis Type     BT LS  CS   RPort
----- --------------- -------- ------------ ---------------- -- --- ---- -----
 0/ 0 10.102.255.65   0x000000 00159BEACC00 5530-24TFD       12 Yes HTBT    NA
 1/47 10.102.1.5      0x000406 0004387070E8 Passport 8610    12 Yes HTBT  4/ 6
something else
""",
}


def test_a_5510_tells_trunks_members_and_topology() -> None:
    facts = nortel.read(answering(ERS))
    assert (facts.hostname, facts.image, facts.mac) == ("edge", "5.1.0.014", "00159beacc00")
    ports = {port.name: port for port in facts.ports}
    assert set(ports) == {"1", "47"}
    assert (ports["1"].rate, ports["1"].vlans, ports["1"].tagged) == (100_000_000, (4,), False)
    assert (ports["47"].rate, ports["47"].lag, ports["47"].tagged) == (10**9, "MLT1", True)
    assert facts.channels == (Channel("MLT1", ("47", "48")),)
    assert facts.vlans == (Vlan(4, "campus"),)
    assert facts.neighbours == (
        Neighbour("SONMP", "47", "4/6", addresses=("10.102.1.5",), platform="Passport 8610", mac="0004387070e8"),
    )
    assert [(note.topic, note.line) for note in facts.notes] == [(Topic.NOT_UNDERSTOOD, "something else")]


# -- names ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "port"),
    [
        ("Gi1/0/1", "GigabitEthernet1/0/1"), ("GigabitEthernet1/0/1", "GigabitEthernet1/0/1"),
        ("Gi 0/15", "GigabitEthernet 0/15"), ("1/48", "48"), ("1/ 7", "7"), ("48", "48"),
        ("Fa0/1", None), ("", None), ("G", None), ("T1/0", None),
    ],
)  # fmt: skip
def test_ports_are_known_by_their_short_names(text: str, port: str | None) -> None:
    known = ["GigabitEthernet1/0/1", "GigabitEthernet 0/15", "48", "7", "Ten1/0", "Twe1/0"]
    assert port_named(text, known) == port


def test_lists_of_numbers() -> None:
    assert numbers("1-3,48") == (1, 2, 3, 48)
    assert numbers("1/1-1/3, 2/7") == (1, 2, 3, 7)
    assert numbers("none") == ()
    assert numbers("1-99999999999,5,9-x,7-999999") == (5,)
