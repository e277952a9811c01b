"""Counters of whole ports, as a platform's show command prints them: packets and bytes in and out.

Only answers of which a record is known to us are read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

PORT = re.compile(r"(?P<port>\S.*?) is [^,]+, line protocol is ")
"""The heading of a port, as IOS prints it and those that took its form over."""
FRAME_OVERHEAD_BYTES = 18
"""Header and check sequence of an untagged Ethernet frame, which octet counters include (RFC 3635)."""


@dataclass(frozen=True)
class PortCounters:
    """What a port has counted since somebody cleared it: packets, and bytes of whole frames, both ways.

    ``input`` is what the device received at it, ``output`` what it sent.
    """

    input_packets: int
    input_bytes: int
    output_packets: int
    output_bytes: int


@dataclass(frozen=True)
class PortCount:
    """One direction of one port."""

    port: str
    direction: Literal["input", "output"]
    packets: int
    size_bytes: int


@dataclass(frozen=True)
class PortCounterForm:
    """How a platform shows its port counters: the command, and what finds them in the lines of its answer."""

    command: str
    counts: Callable[[Sequence[str]], Iterator[PortCount]]

    def read(self, answer: str) -> dict[str, PortCounters]:
        """The counters of every port that tells both directions, by its name.

        Raises:
            ValueError: the answer has no port with counters.
        """
        found: dict[str, dict[str, tuple[int, int]]] = {}
        for count in self.counts(answer.splitlines()):
            found.setdefault(count.port, {})[count.direction] = count.packets, count.size_bytes
        counters = {
            port: PortCounters(*of["input"], *of["output"])
            for port, of in found.items()
            if {"input", "output"} <= set(of)
        }
        if not counters:
            raise ValueError(f"'{self.command}' shows no packets and bytes of any port")
        return counters
