"""Counters of whole ports, as show commands print them: packets and bytes in and out.

Only answers of which a record is known to us are read: Cisco's as ntc-templates records them
(``tests/cisco_ios/show_interfaces``), FTOS's as recorded answers of its later releases stand in public exporters.
Of a 5510's ``show port-statistics`` no record is known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

COMMAND = "show interfaces"

FRAME_OVERHEAD_BYTES = 18
"""Header and check sequence of an untagged Ethernet frame, which octet counters include (RFC 3635)."""

_PORT = re.compile(r"(?P<port>\S.*?) is [^,]+, line protocol is ")
_CISCO = {
    "input": re.compile(r" +(\d+) packets input, (\d+) bytes\b.*"),
    "output": re.compile(r" +(\d+) packets output, (\d+) bytes\b.*"),
}
_FTOS_SECTION = re.compile(r"\s*(Input|Output) [Ss]tatistics: *")
_FTOS = re.compile(r" +(\d+) packets, (\d+) bytes\b.*")


@dataclass(frozen=True)
class PortCounters:
    """What a port has counted since somebody cleared it: packets, and bytes of whole frames, both ways.

    ``input`` is what the device received at it, ``output`` what it sent.
    """

    input_packets: int
    input_bytes: int
    output_packets: int
    output_bytes: int


_FAMILIES = {
    "cisco_ios": "cisco",
    "catalyst_2950": "cisco",
    "catalyst_2970": "cisco",
    "catalyst_9000": "cisco",
    "force10_e300": "ftos",
}


def port_counter_commands(platform_id: str) -> tuple[str, ...]:
    """What to ask a device of this platform; nothing where its answer is not known."""
    return (COMMAND,) if platform_id in _FAMILIES else ()


def read_port_counters(platform_id: str, answers: Mapping[str, str]) -> dict[str, PortCounters]:
    """The counters of every port that tells both directions, by its name.

    Raises:
        ValueError: the answer has no port with counters.
    """
    pairs = _cisco if _FAMILIES[platform_id] == "cisco" else _ftos
    found: dict[str, dict[str, tuple[int, int]]] = {}
    for port, direction, packets, size in pairs(answers[COMMAND].splitlines()):
        found.setdefault(port, {})[direction] = packets, size
    counters = {
        port: PortCounters(*of["input"], *of["output"])
        for port, of in found.items()
        if {"input", "output"} <= set(of)
    }
    if not counters:
        raise ValueError(f"'{COMMAND}' shows no packets and bytes of any port")
    return counters


_Pair = tuple[str, str, int, int]


def _cisco(lines: list[str]) -> Iterator[_Pair]:
    port = ""
    for line in lines:
        if match := _PORT.match(line):
            port = match["port"]
            continue
        for direction, pattern in _CISCO.items():
            if port and (match := pattern.fullmatch(line.rstrip())):
                yield port, direction, int(match[1]), int(match[2])


def _ftos(lines: list[str]) -> Iterator[_Pair]:
    port = direction = ""
    for line in lines:
        if match := _PORT.match(line):
            port, direction = match["port"], ""
        elif match := _FTOS_SECTION.fullmatch(line):
            direction = match[1].lower()
        elif port and direction and (match := _FTOS.fullmatch(line.rstrip())):
            yield port, direction, int(match[1]), int(match[2])
            direction = ""
