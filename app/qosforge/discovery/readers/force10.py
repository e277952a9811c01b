"""Force10 E-Series: ``show version``, running configuration, interfaces and, where the release has it, LLDP.

No template of ntc-templates reads an FTOS of its time. The expressions for ``show lldp neighbors detail`` are those
of the NOC Project's Force10.FTOS reader; ``LineSpeed`` is read as published tools quote it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from qosforge.configtree import ConfigLine
from qosforge.discovery.facts import Channel, DeviceFacts, Neighbour, Note, PortFacts, Topic, Vlan
from qosforge.discovery.names import is_station, numbers, port_named
from qosforge.discovery.readers.problems import NotAnswered, UnknownPlatform
from qosforge.platforms.base import platform

_ID = "force10_e300"
_REFUSED = re.compile(r"% Invalid input|% Error")
_STATE = re.compile(r"^(\S+ \d\S*) is (up|down), line protocol is (up|down)", re.MULTILINE)
_PHYSICAL = re.compile(r"(?:Ten)?GigabitEthernet \d+/\d+")
_MEMBERS = re.compile(r"(tagged|untagged|channel-member) (\S+) (\d+)/(\S+)")
_CHANNEL_IN_VLAN = re.compile(r"(tagged|untagged) (Port-channel \d+)")
_FIELDS = {
    "chassis": re.compile(r"Remote Chassis ID:\s*(\S+)"),
    "port": re.compile(r"Remote Port ID:\s*(.+?)\s*$", re.MULTILINE),
    "name": re.compile(r"Remote System Name:\s*(\S+)"),
    "address": re.compile(r"Remote Management Address \(IPv4\):\s*(\S+)"),
    "capabilities": re.compile(r"Enabled System Capabilities:\s*(.+?)\s*$", re.MULTILINE),
    "description": re.compile(r"Remote System Desc:\s*(.+?)\s*$", re.MULTILINE),
}
Ask = Callable[[str], str]


def read(ask: Ask) -> DeviceFacts:
    """What an E-Series chassis says.

    Raises:
        UnknownPlatform: a model of another series.
        NotAnswered: it does not answer as FTOS does.
    """
    version = ask("show version")
    image = re.search(r"Application Software Version:\s*(\S+)", version)
    model = re.search(r"(?:Chassis|System) Type:\s*(\S+)", version)
    if image is None or model is None:
        raise NotAnswered("show version: no software version or chassis type")
    if not re.fullmatch(r"E\d+i?", model[1]):
        raise UnknownPlatform(f"Force10 {model[1]} with {image[1]}")
    running = ask("show running-config")
    tree = platform(_ID).grammar.parse(running)
    hostname = next((line.text.split()[1] for line in tree if line.text.startswith("hostname ")), None)
    if hostname is None:
        raise NotAnswered("show running-config: no hostname")
    config = {line.text.removeprefix("interface "): line for line in tree if line.text.startswith("interface ")}
    notes: list[Note] = []
    lldp = ask("show lldp neighbors detail")
    # A release without LLDP refuses the command; one that has it off answers with nothing.
    speaks = not _REFUSED.search(lldp) and _runs_lldp(tree)
    shown = ask("show interfaces")
    # All ports of a chassis have its own address, which LLDP tells.
    mac = re.search(r"Hardware is \S+, address is ([0-9a-fA-F:]{17})", shown)
    serial = re.search(r"serial number:\s*(\S+)", version, re.IGNORECASE)
    return DeviceFacts(
        hostname=hostname,
        platform=_ID,
        image=image[1],
        driver=platform(_ID).family.driver,
        model=model[1],
        serial=serial[1] if serial else "",
        mac=mac[1].replace(":", "").lower() if mac else "",
        names=frozenset({hostname}),
        addresses=frozenset(re.findall(r"^ ip address (\d+\.\d+\.\d+\.\d+)/", running, re.MULTILINE)),
        ports=tuple(_ports(shown, config, hostname, notes)),
        neighbours=tuple(_neighbours(lldp, list(config), hostname, notes)) if speaks else (),
        channels=tuple(_channels(config)),
        vlans=tuple(_vlans(config)),
        speaks=frozenset({"LLDP"} if speaks else ()),
        notes=tuple(notes),
    )


def _runs_lldp(tree: tuple[ConfigLine, ...]) -> bool:
    held = next((line for line in tree if line.text == "protocol lldp"), None)
    return held is not None and any(line.text == "no disable" for line in held.children)


def _of_vlans(config: dict[str, ConfigLine]) -> dict[str, list[tuple[str, int]]]:
    """For each port how it is in which VLAN; what a channel carries, its members carry."""
    found: dict[str, list[tuple[str, int]]] = {}
    channels = {channel.name: channel.ports for channel in _channels(config)}
    for name, line in config.items():
        number = name.removeprefix("Vlan ")
        if not number.isdigit() or not name.startswith("Vlan "):
            continue
        lags = (_CHANNEL_IN_VLAN.fullmatch(child.text) for child in line.children)
        bundled = [(lag[1], port) for lag in lags if lag for port in channels.get(lag[2], ())]
        for how, port in (*_listed(line), *bundled):
            found.setdefault(port, []).append((how, int(number)))
    return found


def _listed(line: ConfigLine) -> Iterator[tuple[str, str]]:
    """Member ports: ``untagged GigabitEthernet 0/0,2-3`` names three."""
    for child in line.children:
        if (found := _MEMBERS.fullmatch(child.text)) is not None:
            how, family, slot, listed = found.groups()
            yield from ((how, f"{family} {slot}/{number}") for number in numbers(listed))


def _channels(config: dict[str, ConfigLine]) -> Iterator[Channel]:
    for name, line in config.items():
        if name.startswith("Port-channel "):
            yield Channel(name, tuple(port for _, port in _listed(line)))


def _vlans(config: dict[str, ConfigLine]) -> Iterator[Vlan]:
    for name, line in config.items():
        if name.startswith("Vlan "):
            told = (child.text.split(maxsplit=1)[1] for child in line.children if child.text.startswith("name "))
            yield Vlan(int(name.split()[1]), next(told, ""))


def _ports(shown: str, config: dict[str, ConfigLine], hostname: str, notes: list[Note]) -> Iterator[PortFacts]:
    vlans = _of_vlans(config)
    lags = {port: channel.name for channel in _channels(config) for port in channel.ports}
    marks = [*_STATE.finditer(shown)]
    down = []
    for at, mark in enumerate(marks):
        name = mark[1]
        block = shown[mark.end() : marks[at + 1].start() if at + 1 < len(marks) else len(shown)]
        if not _PHYSICAL.fullmatch(name):
            continue
        held = config.get(name)
        lines = [line.text for line in held.children] if held else []
        if "no shutdown" not in lines:
            continue
        speed = re.search(r"LineSpeed (\d+) Mbit", block)
        if mark[3] != "up" or speed is None:
            down.append(name)
            continue
        carried = vlans.get(name, [])
        yield PortFacts(
            name=name,
            rate=int(speed[1]) * 10**6,
            tagged=any(how == "tagged" for how, _ in carried),
            vlans=tuple(sorted({number for _, number in carried})),
            lag=lags.get(name),
            routed="switchport" not in lines and any(line.startswith("ip address ") for line in lines),
        )
    if down:
        hint = "give them to the inventory by hand where they are in use; else nothing"
        note = Note(Topic.LEFT_OUT, hostname, ", ".join(down), "ports without a link are left out", hint)
        notes.append(note)


def _neighbours(answer: str, ports: list[str], hostname: str, notes: list[Note]) -> Iterator[Neighbour]:
    for part in re.split(r"^=+ *$", answer, flags=re.MULTILINE)[1:]:
        local = re.search(r"Local Interface (\S+ \S+) has \d+ neighbor", part)
        port = port_named(local[1], ports) if local else None
        for entry in re.split(r"(?=Remote Chassis ID Subtype:)", part)[1:]:
            told = {key: found[1] if (found := form.search(entry)) else "" for key, form in _FIELDS.items()}
            if port is None or not told["port"]:
                line = local[0] if local else part.strip().partition("\n")[0]
                hint = "describe the link in links.yaml by hand"
                message = "a neighbour without a port of ours or of its own"
                notes.append(Note(Topic.NOT_UNDERSTOOD, hostname, line, message, hint))
                continue
            yield Neighbour(
                protocol="LLDP",
                port=port,
                remote_port=told["port"],
                name=told["name"],
                addresses=(told["address"],) if told["address"] else (),
                platform=told["description"],
                mac=re.sub(r"[^0-9a-f]", "", told["chassis"].lower()),
                station=is_station(told["capabilities"]),
            )
