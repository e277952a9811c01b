"""Nortel 5510: ``show sys-info``, running configuration, ports and the topology table.

The topology table has the columns of M. McNamara's account of the protocol ("Nortel Discovery Protocol"): local
port, address, segment, MAC, chassis type, and the remote port as slot and port. It tells no names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from qosforge.discovery.facts import Channel, DeviceFacts, Neighbour, Note, PortFacts, Topic, Vlan
from qosforge.discovery.names import label, numbers
from qosforge.discovery.readers.problems import NotAnswered, UnknownPlatform
from qosforge.platforms.base import platform

_ID = "nortel_5510"
_NEIGHBOUR = re.compile(
    r" *(?P<slot>\d+)/ *(?P<port>\d+) +(?P<address>\d+\.\d+\.\d+\.\d+) +0x[0-9A-Fa-f]+ +(?P<mac>[0-9A-Fa-f]{12}) "
    r"+(?P<model>\S.*?) +\d+ +(?:Yes|No) +\S+ +(?:(?P<rslot>\d+)/ *(?P<rport>\d+)|NA)"
)
_PORT = re.compile(r"(?:\d+/)?(\d+) .*\b(?:Enable|Disable) +(Up|Down) +(Up|Down) .*?(?:(\d+)Mbps.*)?")
Ask = Callable[[str], str]


def read(ask: Ask) -> DeviceFacts:
    """What a 5510 says.

    Raises:
        UnknownPlatform: another model.
        NotAnswered: it does not answer as an ERS does.
    """
    info = ask("show sys-info")
    model = re.search(r"sysDescr:\s+.*?(\d{4}\S*)", info)
    image = re.search(r"SW:v?(\S+)", info)
    if model is None or image is None:
        raise NotAnswered("show sys-info: no model or software version")
    if not model[1].startswith("5510"):
        raise UnknownPlatform(f"Nortel {model[1]} with {image[1]}")
    running = [line.strip() for line in ask("show running-config").splitlines()]
    named = re.search(r"sysName:[ \t]+(\S+)", info)
    topology = ask("show autotopology nmm-table")
    own = re.search(r"^ *0/ *0 +(\S+) +0x0+ +([0-9A-Fa-f]{12}) ", topology, re.MULTILINE)
    mac = own[2].lower() if own else ""
    hostname = named[1] if named else f"ers-{mac}"
    notes: list[Note] = []
    serial = re.search(r"Serial #:\s*(\S+)", info)
    addresses = [found[1] for line in running if (found := re.match(r"ip address .*?(\d+\.\d+\.\d+\.\d+)", line))]
    return DeviceFacts(
        hostname=hostname,
        platform=_ID,
        image=image[1],
        driver=platform(_ID).family.driver,
        model=model[1],
        serial=serial[1] if serial else "",
        mac=mac,
        names=frozenset({hostname, label(hostname)}),
        addresses=frozenset(addresses),
        ports=tuple(_ports(ask("show interfaces"), running, hostname, notes)),
        neighbours=tuple(_neighbours(topology, hostname, notes)),
        channels=tuple(_channels(running)),
        vlans=tuple(_vlans(running)),
        speaks=frozenset({"SONMP"}),
        notes=tuple(notes),
    )


def _channels(running: list[str]) -> Iterator[Channel]:
    for line in running:
        if (found := re.match(r"mlt (\d+) .*\bmembers? ([\d/,-]+)", line)) is not None:
            yield Channel(f"MLT{found[1]}", tuple(map(str, numbers(found[2]))))


def _vlans(running: list[str]) -> Iterator[Vlan]:
    for line in running:
        if (found := re.match(r'vlan create (\d+)(?: name "?(\S+?)"?)? type', line)) is not None:
            yield Vlan(int(found[1]), found[2] or "")


def _members(running: list[str]) -> dict[int, set[int]]:
    """VLANs by port; every port is in VLAN 1 until it is taken out."""
    found: dict[int, set[int]] = {}
    for line in running:
        if (clock := re.match(r"vlan members (add |remove )?(\d+) ([\d/,-]+)", line)) is None:
            continue
        for port in numbers(clock[3]):
            carried = found.setdefault(port, set())
            if clock[1] == "remove ":
                carried.discard(int(clock[2]))
            else:
                carried.add(int(clock[2]))
    return found


def _tagged(running: list[str]) -> set[int]:
    lines = (re.match(r"vlan ports ([\d/,-]+) tagging (tagAll|untagPvidOnly)", line) for line in running)
    return {port for found in lines if found for port in numbers(found[1])}


def _ports(shown: str, running: list[str], hostname: str, notes: list[Note]) -> Iterator[PortFacts]:
    vlans, tagged = _members(running), _tagged(running)
    lags = {port: channel.name for channel in _channels(running) for port in channel.ports}
    read = 0
    for line in shown.splitlines():
        found = _PORT.fullmatch(line.rstrip())
        if found is None:
            continue
        read += 1
        number, _, link, speed = found.groups()
        if link != "Up" or speed is None:
            continue
        yield PortFacts(
            name=number,
            rate=int(speed) * 10**6,
            tagged=int(number) in tagged,
            vlans=tuple(sorted(vlans.get(int(number), ()))),
            lag=lags.get(number),
        )
    if not read:
        hint = "describe its ports in hosts.yaml by hand"
        message = "'show interfaces' has no line of a known form"
        notes.append(Note(Topic.NOT_UNDERSTOOD, hostname, shown.strip().partition("\n")[0], message, hint))


def _neighbours(table: str, hostname: str, notes: list[Note]) -> Iterator[Neighbour]:
    rows = table.partition("-----")[2].splitlines()[1:]
    for line in rows:
        found = _NEIGHBOUR.fullmatch(line.rstrip())
        if found is None:
            if line.strip():
                hint = "describe the link in links.yaml by hand"
                message = "the topology table has a line of no known form"
                notes.append(Note(Topic.NOT_UNDERSTOOD, hostname, line.strip(), message, hint))
        elif found["port"] != "0" and found["rport"]:
            yield Neighbour(
                protocol="SONMP",
                port=found["port"],
                remote_port=f"{found['rslot']}/{found['rport']}",
                addresses=(found["address"],),
                platform=found["model"],
                mac=found["mac"].lower(),
            )
