"""Encapsulation of an IP packet on a line: IP fragments, compressed headers, link fragments, frames.

The rules are those of the twin (``twin/SCENARIO.md``, framing): RFC 791 (IP fragments), RFC 2508 (RTP header
compression), RFC 1990 and FRF.12 (fragments of a link), IEEE 802.3, RFC 1662, RFC 2427 and RFC 2684 (frames).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from qosforge.twin.scenario import PS, EgressSpec, FramingSpec, LinkSpec

_IP_HEADER = 20
_OFFSET_UNIT = 8
_RTP_HEADERS = 40
_ADDED: dict[FramingSpec, int] = {
    "none": 0,
    "ethernet": 18,
    "hdlc": 7,
    "ppp": 7,
    "mlppp": 7,
    "frame_relay": 7,
    "atm": 16,
    "atm_mux": 8,
}
"""Bytes that a frame adds to its packet; a multilink's sequence number and a tag come on top."""
_TAG = 4
_SEQUENCE, _SHORT_SEQUENCE = 4, 2
_LEAST_ETHERNET = 64
_PREAMBLE_AND_GAP = 20
_CELL, _CELL_PAYLOAD = 53, 48
_FRF12, _FRF12_FIRST = 9, 2


@dataclass(frozen=True, slots=True)
class Carried:
    """An IP packet on a line: frame bytes, which shares and policers count, and bits of line time.

    ``fragments`` are the packets that IP makes of it where it is larger than the line's MTU: they wait in queues
    one by one, and what they have together is the packet's.
    """

    ip_bytes: int
    frame_bytes: float | Fraction
    wire_bits: float | Fraction
    fragments: tuple[Carried, ...] = ()

    @property
    def parts(self) -> tuple[Carried, ...]:
        """What waits in queues: the packet, or its fragments."""
        return self.fragments or (self,)


@dataclass(frozen=True, slots=True)
class PacketPart:
    """An IP packet, or with ``whole`` false a fragment of one: RFC 2508 leaves the headers of those as they are."""

    ip_bytes: int
    whole: bool = True


@dataclass(frozen=True, slots=True)
class Encapsulation:
    """How a port and its link carry packets; sizes in bytes, ``rate`` in bits per second.

    ``fragment`` is the most IP bytes of a fragment of the link, ``saved`` what the headers lose to compression.
    """

    framing: FramingSpec
    rate: int
    tagged: bool = False
    short_sequence: bool = False
    ip_mtu: int | None = None
    fragment: int | None = None
    interleave: bool = False
    multiclass: bool = False
    saved: int = 0

    @classmethod
    def of(cls, link: LinkSpec, egress: EgressSpec, *, rtp: bool) -> Encapsulation:
        """Of a link and the egress of a port at its end, as the twin's scenario has them, for packets with ``rtp``
        headers or others.
        """
        return cls(
            framing=link.framing,
            rate=link.rate_bps,
            tagged=link.tagged,
            short_sequence=link.short_sequence,
            ip_mtu=egress.ip_mtu,
            fragment=egress.fragment_bytes,
            interleave=egress.interleave,
            multiclass=egress.multiclass,
            saved=_RTP_HEADERS - egress.compressed_header_bytes if rtp and egress.header_compression else 0,
        )

    def cut(self, part: PacketPart) -> Iterator[PacketPart]:
        """The parts that come to the port's queues: fragments of payloads of multiples of 8 bytes (RFC 791)."""
        if self.ip_mtu is None or part.ip_bytes <= self.ip_mtu:
            yield part
            return
        most = max((self.ip_mtu - _IP_HEADER) // _OFFSET_UNIT, 1) * _OFFSET_UNIT
        payload = part.ip_bytes - _IP_HEADER
        for sent in range(0, payload, most):
            yield PacketPart(_IP_HEADER + min(most, payload - sent), whole=False)

    def received_bytes(self, part: PacketPart) -> int:
        """Frame bytes that policers of the far end count: whole frames, and with their headers."""
        return self._frame(part.ip_bytes, plain=False)

    def policed_bytes(self, part: PacketPart) -> int:
        """Frame bytes that policers before the queue count: without the split into fragments of the link."""
        return self._frame(self._left(part), plain=self._plain)

    def carry(self, part: PacketPart, *, urgent: bool) -> Carried:
        """What a part is here; packets of ``urgent`` queues are not cut by the link unless all are."""
        left = self._left(part)
        cut = self.fragment is not None and left > self.fragment and (self.multiclass or not urgent)
        if not cut:
            frames = [self._frame(left, plain=self._plain)]
        else:
            size = self.fragment or left
            pieces = [min(size, left - at) for at in range(0, left, size)]
            frames = [self._fragment(piece, first=number == 0) for number, piece in enumerate(pieces)]
        # Every frame takes a whole number of picoseconds.
        time = sum(-(-8 * self._line_bytes(frame) * PS // self.rate) for frame in frames)
        return Carried(part.ip_bytes, sum(frames), Fraction(time * self.rate, PS))

    @property
    def _plain(self) -> bool:
        """Whether whole packets go beside a multilink's sequence of fragments."""
        return self.interleave and not self.multiclass

    def _left(self, part: PacketPart) -> int:
        saved = self.saved if part.whole and part.ip_bytes > _RTP_HEADERS else 0
        return part.ip_bytes - saved

    def _frame(self, ip_bytes: int, *, plain: bool) -> int:
        frame = ip_bytes + _ADDED[self.framing]
        if self.framing == "ethernet":
            return max(frame + (_TAG if self.tagged else 0), _LEAST_ETHERNET)
        if self.framing == "mlppp" and not plain:
            return frame + (_SHORT_SEQUENCE if self.short_sequence else _SEQUENCE)
        return frame

    def _fragment(self, ip_bytes: int, *, first: bool) -> int:
        if self.framing == "frame_relay":
            return ip_bytes + _FRF12 + (_FRF12_FIRST if first else 0)
        return self._frame(ip_bytes, plain=False)

    def _line_bytes(self, frame: int) -> int:
        if self.framing == "ethernet":
            return frame + _PREAMBLE_AND_GAP
        if self.framing in {"atm", "atm_mux"}:
            return math.ceil(frame / _CELL_PAYLOAD) * _CELL
        return frame
