"""What a Batfish service answered: rows of tables as its JSON has them, and questions at which it failed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from qosforge.dscp import dscp_label

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Answers:
    """Rows by question, and why it failed at others. A question that was not asked has neither."""

    rows: Mapping[str, list[Row]]
    failed: Mapping[str, str]

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> Answers:
        """The answers of the process that asks.

        Raises:
            KeyError: they are something else.
        """
        return cls(document["rows"], document["failed"])

    def of(self, question: str) -> list[Row]:
        """The rows of a question."""
        return self.rows.get(question, [])


def node_of(value: Mapping[str, str] | str) -> str:
    """The device that a cell names: a node, an interface or a file of the snapshot."""
    if isinstance(value, str):
        return PurePosixPath(value).name.removesuffix(".cfg")
    return value["hostname"] if "hostname" in value else value["name"]


def source_lines(value: object) -> Iterator[tuple[str, int]]:
    """The device and the line of its copy of everything that a cell refers to."""
    for part in value if isinstance(value, list) else [value]:
        if isinstance(part, Mapping):
            yield from ((node_of(part["filename"]), line) for line in part.get("lines", ()))


def packet(flow: Mapping[str, Any]) -> str:
    """A flow in words."""
    ports = "srcPort" in flow
    source, destination = (
        f"{flow[address]}:{flow[port]}" if ports else str(flow[address])
        for address, port in (("srcIp", "srcPort"), ("dstIp", "dstPort"))
    )
    return f"{str(flow['ipProtocol']).lower()} from {source} to {destination}, DSCP {dscp_label(flow['dscp'])}"
