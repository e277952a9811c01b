"""Server-sent events out of the lines of a stream (HTML standard, section 9.2.6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ServerSentEvent:
    """One event; ``id`` is the last that the stream gave, empty before the first."""

    kind: str
    data: str
    id: str


def sent_events(lines: Iterable[str]) -> Iterator[ServerSentEvent | None]:
    """Events in their order; ``None`` for each comment, by which a service shows that it is there."""
    kind, last = "", ""
    data: list[str] = []
    for line in lines:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if not line:
            if data:
                yield ServerSentEvent(kind or "message", "\n".join(data), last)
            kind, data = "", []
        elif not name:
            yield None
        elif name == "event":
            kind = value
        elif name == "data":
            data.append(value)
        elif name == "id" and "\0" not in value:
            last = value
