"""Cisco IOS routers and Catalysts: ``show version``, running configuration, interfaces, CDP and LLDP.

Answers are read by ntc-templates (``cisco_ios_show_version``, ``_show_interfaces``, ``_show_cdp_neighbors_detail``,
``_show_lldp_neighbors_detail``).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from qosforge.configtree import ConfigLine
from qosforge.discovery.facts import DeviceFacts
from qosforge.discovery.readers.cisco_answers import CiscoAnswers, table
from qosforge.discovery.readers.cisco_neighbours import neighbours_of
from qosforge.discovery.readers.cisco_ports import channels_of, ports_of, vlans_of
from qosforge.discovery.readers.problems import NotAnswered, UnknownPlatform
from qosforge.discovery.templates import UnreadableAnswer, rows
from qosforge.platforms.base import platform
from qosforge.platforms.ios_software import image_of, platform_of

_SHOW_PORTS = "show interfaces"
Ask = Callable[[str], str]


class _Version(NamedTuple):
    platform: str
    image: str
    model: str
    serial: str


def read(ask: Ask) -> DeviceFacts:
    """What a device behind an IOS command line says.

    Raises:
        UnknownPlatform: an image that is none of our platforms'.
        NotAnswered: it does not answer to ``show version`` or ``show running-config`` as IOS does.
    """
    version = _version(ask("show version"))
    running = ask("show running-config")
    tree = platform(version.platform).grammar.parse(running)
    named = next((line.text.split()[1] for line in tree if line.text.startswith("hostname ")), None)
    if named is None:
        raise NotAnswered("show running-config: no hostname")
    reading = CiscoAnswers(named)
    switch = platform(version.platform).family.switches
    config = {_interface(line): line for line in tree if line.text.startswith("interface ")}
    shown = {row["interface"]: row for row in table(reading, _SHOW_PORTS, ask(_SHOW_PORTS), "ports")}
    ports = tuple(ports_of(reading, shown, config, switch=switch))
    neighbours, speaks = neighbours_of(reading, ask, list(config))
    domain = next((line.text.split()[-1] for line in tree if re.match(r"ip domain[- ]name ", line.text)), None)
    archive = not switch and {"archive", "ip scp server enable"} <= {line.text for line in tree}
    return DeviceFacts(
        hostname=named,
        platform=version.platform,
        image=version.image,
        # NAPALM's own ios driver replaces and reverts by the archive, and copies files by SCP.
        driver="ios" if archive else platform(version.platform).family.driver,
        model=version.model,
        serial=version.serial,
        names=frozenset({named, *([f"{named}.{domain}"] if domain else [])}),
        addresses=frozenset(re.findall(r"^ ip address (\d+\.\d+\.\d+\.\d+) ", running, re.MULTILINE)),
        features=frozenset({"archive"} if archive else ()),
        ports=ports,
        neighbours=neighbours,
        channels=tuple(channels_of(config)),
        vlans=tuple(vlans_of(tree, ports)),
        speaks=speaks,
        notes=tuple(reading.notes),
    )


def _version(answer: str) -> _Version:
    try:
        found = rows("cisco_ios", "show version", answer)
    except UnreadableAnswer as error:
        raise NotAnswered(f"show version: {error}") from None
    if not found or not found[0]["software_image"]:
        raise NotAnswered("show version: no software image")
    row = found[0]
    name = platform_of(row["software_image"])
    if name is None:
        raise UnknownPlatform(f"{' '.join(row['hardware'])} with {row['software_image']}")
    image = image_of(name, row["version"], answer)
    return _Version(name, image, next(iter(row["hardware"]), ""), next(iter(row["serial"]), ""))


def _interface(line: ConfigLine) -> str:
    return line.text.split(maxsplit=1)[1].removesuffix(" point-to-point").removesuffix(" multipoint")
