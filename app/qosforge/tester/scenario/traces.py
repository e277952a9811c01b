"""Recorded traffic: packets of a CSV file or a capture (pcap, pcapng) as sources for the twin."""

from __future__ import annotations

import csv
import io
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path
from typing import Any, BinaryIO

import dpkt

from qosforge.errors import InputError, Place
from qosforge.twin.sources import TraceSource

PS = 10**12
PCAPNG_MAGIC = 0x0A0D0D0A
"""Type of the section header block that opens every pcapng file, the same in both byte orders."""
LINKS = {
    0: dpkt.loopback.Loopback,
    1: dpkt.ethernet.Ethernet,
    9: dpkt.ppp.PPP,
    113: dpkt.sll.SLL,
    276: dpkt.sll2.SLL2,
}
"""Link types (tcpdump.org/linktypes.html) that carry IP under a header."""
RAW = (12, 101, 228, 229)
"""Link types without one."""
IPV6_HEADER = 40
IP_BYTES = range(20, 65536)
MOST_SECONDS = 10**6
"""The twin simulates no longer."""


@dataclass(frozen=True, slots=True)
class Trace:
    """The packets of one flow: times in picoseconds from the file's first packet, ascending, and IP bytes."""

    flow: str
    times_ps: tuple[int, ...]
    ip_bytes: tuple[int, ...]

    def source(self, repeat_ps: int | None = None, start_ps: int = 0) -> TraceSource:
        """The twin's source; with ``repeat_ps`` it starts again after so long."""
        return TraceSource(times_ps=self.times_ps, ip_bytes=self.ip_bytes, repeat_ps=repeat_ps, start_ps=start_ps)


@dataclass(frozen=True, slots=True)
class _Packet:
    seconds: Fraction
    ip_bytes: int
    flow: str


class _Whole(io.BufferedReader):
    """A file that refuses to end within what is read: the capture library takes the rest for a packet."""

    def read(self, size: int | None = -1, /) -> bytes:
        data = super().read(size)
        if data and size is not None and len(data) < size:
            raise ValueError("the file ends within it")
        return data


def read_traces(path: Path) -> tuple[Trace, ...]:
    """The flows of a recording in order of appearance.

    A name that ends in ``.csv`` is a table with the columns ``time`` (seconds, ascending), ``bytes`` (of the IP
    packet) and, if it holds several flows, ``flow``. Everything else is a capture; its flows are the 5-tuples of
    its IP packets, what is not IP is left out, and all its interfaces are taken to keep time like the first.

    Raises:
        InputError: no such file, not what its name says, or no packets; names the file and the line (CSV) or the
            packet (capture).
    """
    try:
        with _Whole(path.open("rb", buffering=0)) as file:
            packets = list(_table(path) if path.suffix.lower() == ".csv" else _capture(path, file))
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", Place(file=str(path)), "name a file") from None
    place = Place(file=str(path))
    if not packets:
        raise InputError("holds no IP packets", place, "record the traffic itself")
    packets.sort(key=lambda packet: packet.seconds)
    first = packets[0].seconds
    if packets[-1].seconds - first > MOST_SECONDS:
        raise InputError(f"lasts more than {MOST_SECONDS} s", place, "cut out the part that matters")
    flows: dict[str, list[_Packet]] = {}
    for packet in packets:
        flows.setdefault(packet.flow, []).append(packet)
    return tuple(
        Trace(
            flow=name,
            times_ps=tuple(round((packet.seconds - first) * PS) for packet in own),
            ip_bytes=tuple(packet.ip_bytes for packet in own),
        )
        for name, own in flows.items()
    )


def _table(path: Path) -> Iterator[_Packet]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = csv.DictReader(file, strict=True)
        before = None
        try:
            missing = {"time", "bytes"} - set(rows.fieldnames or ())
            if missing:
                column = sorted(missing)[0]
                raise InputError(f"has no column {column!r}", Place(file=str(path), line=1), "add it to the header")
            for row in rows:
                place = Place(file=str(path), line=rows.line_num)
                packet = _row(row, place)
                if before is not None and packet.seconds < before:
                    raise InputError("is before the row above", place, "sort the rows by time")
                before = packet.seconds
                yield packet
        except csv.Error as error:
            place = Place(file=str(path), line=rows.reader.line_num)
            raise InputError(f"is not CSV ({error})", place, "separate columns by commas") from None
        except UnicodeDecodeError:
            raise InputError("is not UTF-8", Place(file=str(path)), "write it as UTF-8") from None


def _row(row: dict[str, str | None], place: Place) -> _Packet:
    try:
        seconds = Decimal(row["time"] or "")
    except InvalidOperation:
        seconds = Decimal("NaN")
    # An exponent of a million digits would be expanded.
    if not seconds.is_finite() or abs(seconds.adjusted()) > 30:
        raise InputError(f"{row['time']!r} is no time", place, "write seconds such as 0.0125") from None
    size = (row["bytes"] or "").strip()
    if not (size.isascii() and size.isdigit() and len(size) < 6 and int(size) in IP_BYTES):
        raise InputError(f"{row['bytes']!r} is no packet size", place, "write IP bytes, 20 to 65535")
    return _Packet(Fraction(seconds), int(size), row.get("flow") or "")


def _capture(path: Path, file: BinaryIO) -> Iterator[_Packet]:
    number = 0
    try:
        magic = file.read(4)
        file.seek(0)
        form = dpkt.pcapng if magic == PCAPNG_MAGIC.to_bytes(4, "big") else dpkt.pcap
        reader = form.Reader(file)
        # Its floats would round nanoseconds since 1970 to a quarter of a microsecond.
        reader._divisor = Fraction(reader._divisor)
        link = reader.datalink()
        if link not in LINKS and link not in RAW:
            known = ", ".join(str(n) for n in sorted((*LINKS, *RAW)))
            raise InputError(f"has link type {link}", Place(file=str(path)), f"record one of {known}")
        for seconds, frame in reader:
            number += 1
            packet = _ip_packet(link, bytes(frame))
            if packet is not None:
                yield _Packet(Fraction(seconds), *packet)
    except (dpkt.Error, ValueError, struct.error, MemoryError, OverflowError) as error:
        raise InputError(
            f"packet {number + 1} is damaged ({error})" if number else f"is no capture ({error})",
            Place(file=str(path)),
            "give a whole pcap or pcapng file, or a table that ends in .csv",
        ) from None


def _ip_packet(link: int, frame: bytes) -> tuple[int, str] | None:
    """IP bytes and flow of a frame; ``None`` if it is not IP or too short to tell."""
    try:
        packet = _network_layer(link, frame)
    except (dpkt.Error, struct.error, ValueError, IndexError):
        return None
    if isinstance(packet, dpkt.ip6.IP6):
        size, protocol = packet.plen + IPV6_HEADER, packet.nxt
    elif isinstance(packet, dpkt.ip.IP):
        # 0 where the card cuts what the host sends into segments: what was captured is all there is to tell.
        size, protocol = packet.len or len(packet), packet.p
    else:
        return None
    if size not in IP_BYTES:
        return None
    ends = [dpkt.utils.inet_to_str(address) for address in (packet.src, packet.dst)]
    transport = packet.data
    if isinstance(transport, dpkt.tcp.TCP | dpkt.udp.UDP | dpkt.sctp.SCTP):
        ends = [f"{ends[0]}:{transport.sport}", f"{ends[1]}:{transport.dport}"]
    return size, f"{protocol} {ends[0]} > {ends[1]}"


def _network_layer(link: int, frame: bytes) -> Any:
    if link in LINKS:
        return LINKS[link](frame).data
    return (dpkt.ip6.IP6 if frame[:1] and frame[0] >> 4 == 6 else dpkt.ip.IP)(frame)
