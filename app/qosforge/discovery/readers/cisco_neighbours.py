"""Neighbours of an IOS device: CDP, and LLDP where the image has it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from qosforge.discovery.facts import Neighbour, Topic
from qosforge.discovery.names import is_station, port_named
from qosforge.discovery.readers.cisco_answers import CiscoAnswers, is_answered, table
from qosforge.discovery.templates import Row

Ask = Callable[[str], str]


def neighbours_of(
    reading: CiscoAnswers, ask: Ask, ports: list[str]
) -> tuple[tuple[Neighbour, ...], frozenset[str]]:
    """What it hears on its ports, and the protocols that it speaks."""
    found: list[Neighbour] = []
    speaks: set[str] = set()
    for protocol, command, port_field, head in (
        ("CDP", "show cdp neighbors detail", "neighbor_interface", "Device ID:"),
        ("LLDP", "show lldp neighbors detail", "neighbor_port_id", "Chassis id:"),
    ):
        answer = ask(command)
        if not is_answered(answer):
            continue
        speaks.add(protocol)
        rows = table(reading, command, answer, "links")
        lost = answer.count(head) - len(rows)
        if lost:
            hint = "describe the missing links in links.yaml by hand"
            message = f"{lost} of its neighbours could not be read off '{command}'"
            reading.note(Topic.NOT_UNDERSTOOD, head, message, hint)
        found += _told(reading, protocol, port_field, rows, ports)
    return tuple(found), frozenset(speaks)


def _told(
    reading: CiscoAnswers, protocol: str, port_field: str, rows: list[Row], ports: list[str]
) -> Iterator[Neighbour]:
    for row in rows:
        port = port_named(row["local_interface"], ports)
        if port is None:
            line = f"{row['local_interface']}: {row['neighbor_name']}"
            hint = "describe the link in links.yaml by hand"
            reading.note(Topic.NOT_UNDERSTOOD, line, f"{protocol} names a port that is not configured", hint)
            continue
        yield Neighbour(
            protocol=protocol,
            port=port,
            remote_port=row[port_field],
            name=row["neighbor_name"],
            addresses=(row["mgmt_address"],) if row["mgmt_address"] else (),
            platform=row["platform"],
            mac=re.sub(r"[^0-9a-f]", "", row.get("chassis_id", "").lower()),
            station=is_station(row["capabilities"]),
        )
