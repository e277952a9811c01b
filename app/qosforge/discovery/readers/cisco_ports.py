"""Ports of an IOS device: what ``show interfaces`` tells of them, and what the configuration does."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from pydantic import ValidationError

from qosforge.configtree import ConfigLine
from qosforge.discovery.facts import Channel, PortFacts, Topic, Vlan
from qosforge.discovery.names import numbers
from qosforge.discovery.readers.cisco_answers import CiscoAnswers
from qosforge.discovery.templates import Row
from qosforge.inventory.models import Circuit, Framing

NO_PORTS = re.compile(r"(?:Loopback|Null|Tunnel|Vlan|Dialer|Virtual-\w+|NVI|BRI|Async|Port-channel)\s?\S*", re.I)
"""Names of interfaces that are no ports of the device."""
_SPEED = re.compile(r"(\d+)\s*(M|G)b(?:/s|ps)")
_FRAMINGS = {
    "ARPA": Framing.ETHERNET,
    "802.1Q Virtual LAN": Framing.ETHERNET,
    "HDLC": Framing.HDLC,
    "PPP": Framing.PPP,
    "FRAME-RELAY": Framing.FRAME_RELAY,
    "ATM": Framing.ATM,
}
_T1 = 1_544_000  # what IOS takes any serial line for until it is told its bandwidth


def ports_of(
    reading: CiscoAnswers, shown: Mapping[str, Row], config: Mapping[str, ConfigLine], *, switch: bool
) -> Iterator[PortFacts]:
    """The ports that are up: by what is shown of them and configured on them, both by their names."""
    members = _members(config)
    bundled = {port for ports in members.values() for port in ports}
    down = []
    for name, row in shown.items():
        if NO_PORTS.fullmatch(name) or name in bundled or name not in config:
            continue
        lines = [line.text for line in config[name].children]
        if "shutdown" in lines or row["link_status"].startswith("administratively"):
            continue
        if row["link_status"] != "up" or not row["protocol_status"].startswith("up"):
            down.append(name)
            continue
        if "." in name and row["encapsulation"].startswith(("802.1Q", "ARPA")):
            continue  # its main interface stands for it
        port = _port(reading, name, row, config[name], switch=switch)
        if port is None:
            continue
        parts = [part for part in config if part.startswith(f"{name}.")]
        if parts and port.framing is Framing.ETHERNET:
            inside = [child.text for part in parts for child in config[part].children]
            vlans = tuple(
                int(found[1]) for line in inside if (found := re.match(r"encapsulation dot1Q (\d+)", line))
            )
            port = PortFacts(name, port.rate, tagged=True, vlans=vlans, routed=True)
        yield _with_member(reading, port, members.get(name, []))
    if down:
        hint = "give them to the inventory by hand where they are in use; else nothing"
        reading.note(Topic.LEFT_OUT, ", ".join(down), "ports without a link are left out", hint)


def _port(reading: CiscoAnswers, name: str, row: Row, config: ConfigLine, *, switch: bool) -> PortFacts | None:
    lines = [line.text for line in config.children]
    framing = _FRAMINGS.get(row["encapsulation"].strip().rstrip("."))
    if framing is None:
        line = f"{name}: Encapsulation {row['encapsulation'] or 'not told'}"
        hint = "describe the interface in hosts.yaml by hand"
        reading.note(Topic.NOT_UNDERSTOOD, line, "no framing of the inventory is called so: left out", hint)
        return None
    circuit = None
    if framing in {Framing.FRAME_RELAY, Framing.ATM}:
        circuit = _circuit(lines)
        if circuit is None:
            if "." in name or _circuits_of(lines):
                hint = "give the interface a circuit in hosts.yaml by hand"
                reading.note(Topic.LEFT_OUT, name, "no single circuit is configured on it: left out", hint)
            return None
    if name.startswith("Multilink"):
        framing = Framing.MLPPP
    speed = _SPEED.search(row["speed"] or "")
    told = int(row["bandwidth"].split()[0]) * 1000 if row["bandwidth"] else 0
    rate = told
    if framing is Framing.ATM:
        rate = _cell_rate(config) or told
        if rate == told:
            hint = "give the circuit a rate on the device (vbr-nrt, cbr, ubr), or correct it in hosts.yaml"
            reading.note(Topic.ASSUMED, name, "the circuit states no rate: it is taken for that of the port", hint)
    if framing is Framing.ETHERNET and speed:
        rate = int(speed[1]) * (10**9 if speed[2] == "G" else 10**6)
    if name.startswith("Serial") and told == _T1 and not any(line.startswith("bandwidth ") for line in lines):
        hint = f"give {name} a 'bandwidth' line on the device, or its rate in hosts.yaml"
        reading.note(
            Topic.ASSUMED, f"{name}: BW 1544 Kbit", "the rate is what IOS assumes of any serial line", hint
        )
    if not rate:
        hint = "describe the interface in hosts.yaml by hand"
        reading.note(Topic.NOT_UNDERSTOOD, name, "'show interfaces' tells no rate: left out", hint)
        return None
    if switch and "no switchport" not in lines and not any(line.startswith("switchport mode ") for line in lines):
        hint = "give the port 'switchport mode access' or 'trunk', or check 'tagged' in hosts.yaml"
        reading.note(Topic.ASSUMED, name, "the port may negotiate a trunk: taken for one without tags", hint)
    return PortFacts(
        name=name,
        rate=rate,
        framing=framing,
        tagged="switchport mode trunk" in lines,
        vlans=_carried(lines),
        voice_vlan=_number(lines, r"switchport voice vlan (\d+)"),
        lag=lag_of(lines),
        circuit=circuit,
        routed=not switch or "no switchport" in lines,
    )


def _carried(lines: list[str]) -> tuple[int, ...]:
    if "switchport mode trunk" in lines:
        allowed = [line.split()[-1] for line in lines if line.startswith("switchport trunk allowed vlan ")]
        return numbers(",".join(allowed))
    access = _number(lines, r"switchport access vlan (\d+)")
    return (access,) if access else ()


def _number(lines: list[str], pattern: str) -> int | None:
    return next((int(found[1]) for line in lines if (found := re.fullmatch(pattern, line))), None)


def lag_of(lines: list[str]) -> str | None:
    """The link aggregation of a port, by the lines of its interface."""
    group = _number(lines, r"channel-group (\d+)(?: mode \S+)?")
    return f"Port-channel{group}" if group is not None else None


def _circuits_of(lines: list[str]) -> list[str]:
    return [line for line in lines if re.match(r"frame-relay interface-dlci |pvc ", line)]


def _circuit(lines: list[str]) -> Circuit | None:
    found = _circuits_of(lines)
    if len(found) != 1:
        return None
    dlci = re.match(r"frame-relay interface-dlci (\d+)", found[0])
    vc = re.match(r"pvc (?:[A-Za-z]\S* )?(?:(\d+)/)?(\d+)", found[0])
    try:
        if dlci:
            return Circuit(dlci=int(dlci[1]))
        return Circuit(vpi=int(vc[1] or 0), vci=int(vc[2])) if vc else None
    except ValidationError:
        return None


def _cell_rate(config: ConfigLine) -> int:
    """The rate of an ATM circuit in bits per second: the sustainable one of ``vbr``; 0 where it states none."""
    for circuit in config.children:
        for line in circuit.children if circuit.text.startswith("pvc ") else ():
            if found := re.match(r"(?:vbr-n?rt \d+|cbr|ubr) (\d+)", line.text):
                return int(found[1]) * 1000
    return 0


def _members(config: Mapping[str, ConfigLine]) -> dict[str, list[str]]:
    """Lines of each multilink bundle; 12.3 and later print ``ppp multilink group``."""
    found: dict[str, list[str]] = {}
    for name, line in config.items():
        lines = [child.text for child in line.children]
        group = _number(lines, r"(?:ppp multilink group|multilink-group) (\d+)")
        if group is not None and not name.startswith("Multilink"):
            found.setdefault(f"Multilink{group}", []).append(name)
    return found


def _with_member(reading: CiscoAnswers, port: PortFacts, members: list[str]) -> PortFacts:
    if len(members) > 1:
        hint = "check the rate of the bundle: an inventory holds one line of it"
        reading.note(Topic.ASSUMED, f"{port.name}: {', '.join(members)}", "the bundle has several lines", hint)
    return PortFacts(**{**vars(port), "member": members[0]}) if members else port


def channels_of(config: Mapping[str, ConfigLine]) -> Iterator[Channel]:
    """Port-channels with their members."""
    found: dict[str, list[str]] = {}
    for name, line in config.items():
        lag = lag_of([child.text for child in line.children])
        if lag is not None:
            found.setdefault(lag, []).append(name)
    yield from (Channel(name, tuple(ports)) for name, ports in found.items())


def vlans_of(tree: tuple[ConfigLine, ...], ports: tuple[PortFacts, ...]) -> Iterator[Vlan]:
    """VLANs that are configured, or that a port carries."""
    named: dict[int, str] = {number: "" for port in ports for number in (*port.vlans, port.voice_vlan) if number}
    for line in tree:
        if found := re.fullmatch(r"vlan (\d+)", line.text):
            inside = (child.text.split(maxsplit=1)[1] for child in line.children if child.text.startswith("name "))
            named[int(found[1])] = next(inside, "")
    yield from (Vlan(number, named[number]) for number in sorted(named))
