"""irtt, for round trips: its commands, and its JSON read. By its exchanges the clocks of two hosts are compared."""

from __future__ import annotations

import json
from dataclasses import dataclass

from qosforge.errors import TesterError

PORT = 2112


@dataclass(frozen=True, slots=True)
class RoundTrip:
    """One packet there and back, in nanoseconds, without the server's own time; all ``None`` where it was lost.

    ``there_ns`` and ``back_ns`` are by two clocks, and may be negative.
    """

    number: int
    there_ns: int | None = None
    back_ns: int | None = None
    round_trip_ns: int | None = None


def server_words(address: str) -> list[str]:
    """A server; it ends with the command that it is in."""
    return ["irtt", "server", "-b", address_and_port(address)]


def client_words(address: str, *, interval_ms: float, seconds: float, dscp: int = 0, payload: int = 0) -> list[str]:
    """A client whose report goes to standard output."""
    return [
        *("irtt", "client", "-Q", "-o", "-", "-i", f"{interval_ms:g}ms", "-d", f"{seconds:g}s"),
        *("-l", str(payload), f"--dscp={dscp << 2}", address_and_port(address)),
    ]


def address_and_port(address: str) -> str:
    """As irtt takes them."""
    return f"[{address}]:{PORT}" if ":" in address else f"{address}:{PORT}"


def read_report(text: str) -> list[RoundTrip]:
    """Every packet of a client's report, those that are lost included.

    Raises:
        TesterError: it is no report of irtt's.
    """
    try:
        trips = []
        for entry in json.loads(text)["round_trips"]:
            if entry["lost"] != "false":
                trips.append(RoundTrip(int(entry["seqno"])))
                continue
            delay = entry["delay"]
            trips.append(
                RoundTrip(int(entry["seqno"]), int(delay["send"]), int(delay["receive"]), int(delay["rtt"]))
            )
    except (ValueError, KeyError, TypeError) as error:
        raise TesterError(f"irtt gives no report that can be read: {error!r}") from None
    return trips


def clock_offset_ns(trips: list[RoundTrip]) -> tuple[int, int]:
    """How far the server's clock is ahead of the client's, and the error of that: half of the quickest round trip.

    Raises:
        TesterError: nothing came back.
    """
    arrived = [trip for trip in trips if trip.round_trip_ns is not None]
    if not arrived:
        raise TesterError("irtt's packets do not come back", hint=f"let UDP port {PORT} pass between the hosts")
    best = min(arrived, key=lambda trip: trip.round_trip_ns or 0)
    return ((best.there_ns or 0) - (best.back_ns or 0)) // 2, -(-(best.round_trip_ns or 0) // 2)
