"""Random devices of every platform: what the inventory says of them, and what they boot with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from qosforge.inventory.models import Device, Network
from qosforge.platforms.base import installed

TRAINS = ("12.0(5)T", "12.0(6.5)T7", "12.1(5)T", "12.2(15)T", "12.4(15)T", "12.4(24)T", "15.1(4)M")
KBPS = (64, 128, 256, 512, 1000, 2000, 8000)

_ROUTER_PORTS = (
    "FastEthernet0/0",
    "FastEthernet0/1",
    "GigabitEthernet0/2",
    "Serial0/0",
    "Serial0/1",
    "Serial0/2",
    "ATM1/0",
)
HARDWARE = {"cisco_ios": "".join(f"interface {name}\n!\n" for name in _ROUTER_PORTS)}
"""What the devices are made of whose ports differ: the configuration of their first boot names them."""


@dataclass(frozen=True)
class Site:
    """One device: what the inventory says of it, and its startup configuration."""

    device: Device
    startup: str

    @property
    def network(self) -> Network:
        """The device alone."""
        return Network(name="made", devices=(self.device,), links=(), stations=())


def sites(platform: str) -> st.SearchStrategy[Site]:
    """Devices of one platform."""
    return KINDS[platform].sites


def made_site(
    platform: str,
    image: str,
    role: str,
    interfaces: dict[str, dict[str, Any]],
    startup: str,
    *,
    features: tuple[str, ...] = (),
) -> Site:
    """A device that the inventory calls ``box``."""
    made = {
        "name": "box",
        "platform": platform,
        "image": image,
        "role": role,
        "driver": "ios",
        "features": features,
        "interfaces": tuple({"role": role, "name": key, **value} for key, value in interfaces.items()),
    }
    return Site(Device.model_validate(made), startup)


def _routed(kind: str, kbps: int, group: str) -> tuple[str, dict[str, Any], str]:
    """Name, inventory and configuration of one kind of line of a router."""
    said = f" bandwidth {kbps}\n"
    rate: dict[str, Any] = {"rate": kbps * 1000, "tags": ["wan"]}
    if kind in ("hdlc", "ppp"):
        framing = "" if kind == "hdlc" else " encapsulation ppp\n"
        text = f"interface Serial0/0\n{said} ip address 192.0.2.1 255.255.255.252\n{framing}!\n"
        return "Serial0/0", rate | {"encapsulation": kind}, text
    if kind == "mlppp":
        text = (
            f"interface Multilink1\n{said} ip address 192.0.2.5 255.255.255.252\n ppp multilink\n {group}\n!\n"
            f"interface Serial0/1\n no ip address\n encapsulation ppp\n ppp multilink\n {group}\n!\n"
        )
        return "Multilink1", rate | {"encapsulation": kind, "member": "Serial0/1"}, text
    if kind == "frame-relay":
        text = (
            "interface Serial0/2\n no ip address\n encapsulation frame-relay\n!\n"
            f"interface Serial0/2.100 point-to-point\n{said} ip address 192.0.2.9 255.255.255.252\n"
            " frame-relay interface-dlci 100\n!\n"
        )
        return "Serial0/2.100", rate | {"encapsulation": kind, "circuit": {"dlci": 100}}, text
    if kind == "atm":
        text = (
            "interface ATM1/0\n no ip address\n!\n"
            "interface ATM1/0.108 point-to-point\n ip address 192.0.2.13 255.255.255.252\n pvc 4/108\n!\n"
        )
        return "ATM1/0.108", rate | {"encapsulation": kind, "circuit": {"vpi": 4, "vci": 108}}, text
    if kind == "dot1q":
        text = (
            "interface FastEthernet0/1\n no ip address\n!\n"
            "interface FastEthernet0/1.10\n encapsulation dot1Q 10\n ip address 203.0.113.1 255.255.255.0\n!\n"
        )
        return "FastEthernet0/1.10", {"rate": 10**8, "tags": ["trunk"], "tagged": True, "vlans": [10]}, text
    text = "interface GigabitEthernet0/2\n ip address 192.0.2.17 255.255.255.252\n!\n"
    return "GigabitEthernet0/2", {"rate": 10**9, "tags": ["wan"]}, text


@st.composite
def routers(draw: st.DrawFn) -> Site:
    """IOS routers of every train, with lines of every framing."""
    image = draw(st.sampled_from(TRAINS))
    group = "multilink-group 1" if image < "12.3" else "ppp multilink group 1"
    kinds = ("hdlc", "ppp", "mlppp", "frame-relay", "atm", "dot1q", "ethernet")
    chosen = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=3, unique=True))
    if {"hdlc", "ppp"} <= set(chosen):
        chosen.remove("ppp")  # one line has one framing
    cef = draw(st.sampled_from(("ip cef\n", "ip cef\n", "")))
    interfaces: dict[str, dict[str, Any]] = {"FastEthernet0/0": {"rate": 10**8, "tags": ["lan"]}}
    text = f"hostname BOX\n!\n{cef}!\n"
    text += "interface FastEthernet0/0\n ip address 198.51.100.1 255.255.255.0\n!\n"
    for kind in chosen:
        name, entry, lines = _routed(kind, draw(st.sampled_from(KBPS)), group)
        if draw(st.integers(0, 3)) == 0:
            entry["contracted"] = entry["rate"] * draw(st.sampled_from((25, 50, 80))) // 100
        interfaces[name] = entry
        text += lines
    beside = "class-map match-any OPERATOR\n match ip precedence 5\npolicy-map BESIDE\n class OPERATOR\n!\n"
    # Class-maps of older images look at no marks.
    text += draw(st.sampled_from(("",) if image.startswith("12.0") else ("", beside)))
    return made_site("cisco_ios", image, draw(st.sampled_from(("edge", "edge", "middle"))), interfaces, text)


def _port(draw: st.DrawFn, rates: tuple[int, ...], number: int) -> dict[str, Any]:
    """A port of a switch in the inventory; the first one is a trunk."""
    rate = draw(st.sampled_from(rates))
    entry: dict[str, Any] = {"rate": rate, "tags": ["lan"], "vlans": [3]}
    if number == 0 and draw(st.booleans()):
        entry |= {"tags": ["trunk"], "tagged": True, "vlans": [3, 5]}
    elif draw(st.booleans()):
        entry["voice_vlan"] = 5
    if draw(st.integers(0, 4)) == 0:
        entry["contracted"] = rate * draw(st.sampled_from((20, 50, 90))) // 100
    if draw(st.integers(0, 5)) == 0:
        entry["lag"] = "Lag1"
    return entry


@st.composite
def catalysts(draw: st.DrawFn, platform: str) -> Site:
    """Catalysts of both images, with access ports and a trunk."""
    if platform == "catalyst_2950":
        image = draw(st.sampled_from(("12.1EA-EI", "12.1EA-EI", "12.1EA-EI", "12.1EA-SI")))
        names = ("GigabitEthernet0/2", "FastEthernet0/1", "GigabitEthernet0/1")
    else:
        image = "12.2"
        names = ("GigabitEthernet0/1", "GigabitEthernet0/2", "GigabitEthernet0/3")
    interfaces, text = {}, "hostname BOX\n!\n"
    for number, name in enumerate(names[: draw(st.integers(1, 3))]):
        fast = name.startswith("Fast")
        entry = _port(draw, (10**7, 10**8) if fast else (10**8, 10**9), number)
        text += f"interface {name}\n"
        if entry.get("tagged"):
            text += "" if platform == "catalyst_2950" else " switchport trunk encapsulation dot1q\n"
            text += " switchport mode trunk\n"
        else:
            text += " switchport access vlan 3\n switchport mode access\n"
        if "voice_vlan" in entry:
            text += " switchport voice vlan 5\n"
        text += "!\n"
        interfaces[name] = entry
    return made_site(platform, image, draw(st.sampled_from(("access", "core"))), interfaces, text)


@st.composite
def catalysts_9000(draw: st.DrawFn) -> Site:
    """Catalyst 9000s with host ports and an uplink, some contracted, some members of an aggregation."""
    names = ("TenGigabitEthernet1/1/1", "GigabitEthernet1/0/1", "GigabitEthernet1/0/2")
    interfaces, text = {}, "hostname BOX\n!\n"
    for number, name in enumerate(names[: draw(st.integers(1, 3))]):
        rates = (10**9, 10**10) if name.startswith("Ten") else (10**8, 10**9)
        entry = _port(draw, rates, number)
        text += f"interface {name}\n"
        text += " switchport mode trunk\n" if entry.get("tagged") else " switchport mode access\n"
        text += "!\n"
        interfaces[name] = entry
    return made_site("catalyst_9000", "17.12", draw(st.sampled_from(("edge", "access", "core"))), interfaces, text)


@st.composite
def nortels(draw: st.DrawFn) -> Site:
    """5510s that booted with any queue set."""
    interfaces = {
        name: _port(draw, (10**8, 10**9), number)
        for number, name in enumerate(("48", "1", "2")[: draw(st.integers(1, 3))])
    }
    text = (
        "! Embedded ASCII Configuration Generator Script\n! Model = Ethernet Routing Switch 5510-48T\n"
        "! Software version = v5.1.0.014\nenable\nconfigure terminal\nno autosave enable\nsnmp-server name BOX\n"
        "vlan create 3 name data type port\nvlan create 5 name voice type port\nvlan ports 48 tagging tagAll\n"
        f"vlan members 3 1-2,48\nvlan members 5 1,48\nqos agent queue-set {draw(st.integers(1, 8))}\n"
    )
    return made_site("nortel_5510", "5.1", draw(st.sampled_from(("access", "core"))), interfaces, text)


@st.composite
def force10s(draw: st.DrawFn) -> Site:
    """E300s before and since policies of layer 2."""
    interfaces = {}
    text = "hostname BOX\n!\nno qos-rate-adjust\n!\n"
    for number in range(draw(st.integers(1, 3))):
        name = f"GigabitEthernet 0/{number}"
        interfaces[name] = _port(draw, (10**8, 10**9), number)
        text += f"interface {name}\n no ip address\n switchport\n no shutdown\n!\n"
    image = draw(st.sampled_from(("6.5", "7.4.1.0")))
    return made_site("force10_e300", image, draw(st.sampled_from(("access", "core"))), interfaces, text)


LINUX_PORTS = ("lan0", "wan0")


@st.composite
def linux_routers(draw: st.DrawFn) -> Site:
    """Linux routers with two ports, whose inventory says of some schedulers that the kernel has them."""
    rates = (10**9, draw(st.sampled_from((2_000_000, 10_000_000, 34_368_000, 10**8, 10**9, 10**10))))
    interfaces: dict[str, dict[str, Any]] = {
        name: {"rate": rate, "tags": [name.rstrip("0")]} for name, rate in zip(LINUX_PORTS, rates, strict=True)
    }
    if draw(st.integers(0, 3)) == 0:
        interfaces["wan0"]["contracted"] = rates[1] * draw(st.sampled_from((25, 50, 80))) // 100
    text = "".join(f"ip link set dev {name} up\n" for name in interfaces)
    schedulers = tuple(draw(st.sets(st.sampled_from(("ets", "hfsc", "prio", "red", "tbf")))))
    return made_site(
        "linux_tc", "6.1", draw(st.sampled_from(("edge", "middle"))), interfaces, text, features=schedulers
    )


@dataclass(frozen=True)
class Kind:
    """What tests have for a platform: random devices, and whether these are emulated.

    What no emulated device is for is tried on the real thing, in `tests.platforms`.
    """

    sites: st.SearchStrategy[Site]
    emulated: bool = True


KINDS = {
    "cisco_ios": Kind(routers()),
    "catalyst_2950": Kind(catalysts("catalyst_2950")),
    "catalyst_2970": Kind(catalysts("catalyst_2970")),
    "catalyst_9000": Kind(catalysts_9000()),
    "nortel_5510": Kind(nortels()),
    "force10_e300": Kind(force10s()),
    "linux_tc": Kind(linux_routers(), emulated=False),
}
assert KINDS.keys() == installed().keys(), "a platform has no random devices"
PLATFORMS = tuple(KINDS)
EMULATED = tuple(name for name, kind in KINDS.items() if kind.emulated)
