"""Test packets of STAMP in the unauthenticated mode (RFC 8762, sections 4.2.1 and 4.3.1), and those of TWAMP Light.

Both protocols have the same fields at the same places. A TWAMP Light sender may send 14 octets and its reflector
may answer with 41 (RFC 5357, sections 4.1.2 and 4.2.1); one of STAMP sends and answers with 44 at least.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Final, Self

PORT: Final = 862
"""The UDP port of reflectors (RFC 8762, section 4.1)."""
LEAST_BYTES: Final = 44
"""A test packet of STAMP; what is longer is padding."""
LEAST_TWAMP_BYTES: Final = 14
LEAST_TWAMP_ANSWER_BYTES: Final = 41
MOST_BYTES: Final = 65_507
"""The largest payload of UDP over IPv4."""

_SENT: Final = struct.Struct("!I8sHH")
_ANSWER: Final = struct.Struct("!I8sHH8sI8sH2xB")
_ERA_SECONDS: Final = 2**32
_UNIX_EPOCH_IN_NTP: Final = 2_208_988_800
_NS: Final = 10**9
_SEQUENCES: Final = 2**32


@dataclass(frozen=True, slots=True)
class ErrorEstimate:
    """How well a clock is known to go (RFC 4656, section 4.1.2): ``error_seconds`` is an upper limit.

    ``synchronized`` is whether the clock follows UTC by an outside source; ``ptp`` whether timestamps are those of
    IEEE 1588 (seconds and nanoseconds) rather than of NTP (seconds and fractions of 2⁻³²).
    """

    synchronized: bool = False
    error_seconds: float = 0.0
    ptp: bool = False

    def encode(self) -> int:
        """The 16 bits: S, Z, a scale of six bits and a multiplier of eight that is never 0. It is rounded up."""
        multiplier, scale = self.error_seconds * 2**32, 0
        while multiplier > 255 and scale < 63:
            multiplier, scale = multiplier / 2, scale + 1
        whole = min(255, max(1, -int(-multiplier // 1)))
        return self.synchronized << 15 | self.ptp << 14 | scale << 8 | whole

    @classmethod
    def decode(cls, bits: int) -> Self:
        """What 16 bits say."""
        seconds = (bits & 0xFF) * 2.0 ** ((bits >> 8 & 0x3F) - 32)
        return cls(bool(bits >> 15), seconds, bool(bits >> 14 & 1))


def encode_time(unix_ns: int) -> bytes:
    """A moment, in nanoseconds since 1970, as the eight octets of NTP (RFC 5905, section 6)."""
    seconds, ns = divmod(unix_ns, _NS)
    return struct.pack("!II", (seconds + _UNIX_EPOCH_IN_NTP) % _ERA_SECONDS, (ns << 32) // _NS)


def decode_time(octets: bytes, *, ptp: bool, near_ns: int) -> int:
    """The moment, in nanoseconds since 1970, that eight octets mean: of all eras the one nearest to ``near_ns``.

    NTP's first era ends in 2036. The truncated format of IEEE 1588 counts from 1970, and its seconds start again in
    2106.
    """
    seconds, rest = struct.unpack("!II", octets)
    ns: int = rest if ptp else (rest * _NS + 2**31) >> 32
    unix = seconds if ptp else seconds - _UNIX_EPOCH_IN_NTP
    era = _ERA_SECONDS * _NS
    moment = unix * _NS + ns
    return int(moment + round((near_ns - moment) / era) * era)


@dataclass(frozen=True, slots=True)
class SenderPacket:
    """What a session's sender sends. ``stamp`` are the eight octets of its moment, which come back as they went.

    ``session`` is the identifier of RFC 8972 (section 3), 0 where there is none: then it is of the octets that are
    to be zero.
    """

    sequence: int
    stamp: bytes
    estimate: int
    session: int = 0

    def encode(self, payload_bytes: int) -> bytes:
        """The payload of the UDP packet, padded with zeros."""
        head = _SENT.pack(self.sequence % _SEQUENCES, self.stamp, self.estimate, self.session)
        return head.ljust(payload_bytes, b"\0")

    @classmethod
    def decode(cls, payload: bytes) -> Self:
        """Read a packet; raises ``ValueError`` for one that is too short."""
        if len(payload) < LEAST_TWAMP_BYTES:
            raise ValueError(f"a test packet has {LEAST_TWAMP_BYTES} octets at least, not {len(payload)}")
        return cls(*_SENT.unpack(payload[: _SENT.size].ljust(_SENT.size, b"\0")))


@dataclass(frozen=True, slots=True)
class Answer:
    """What a reflector answers: its own number and moments, and the sender's as they came."""

    sequence: int
    stamp: bytes
    estimate: int
    session: int
    received: bytes
    sender_sequence: int
    sender_stamp: bytes
    sender_estimate: int
    sender_ttl: int

    def encode(self, payload_bytes: int) -> bytes:
        """The payload of the UDP packet: as long as the sender's, 44 octets at least."""
        head = _ANSWER.pack(
            self.sequence % _SEQUENCES,
            self.stamp,
            self.estimate,
            self.session,
            self.received,
            self.sender_sequence,
            self.sender_stamp,
            self.sender_estimate,
            self.sender_ttl,
        )
        return head.ljust(max(payload_bytes, LEAST_BYTES), b"\0")

    @classmethod
    def decode(cls, payload: bytes) -> Self:
        """Read an answer; raises ``ValueError`` for one that is too short."""
        if len(payload) < LEAST_TWAMP_ANSWER_BYTES:
            raise ValueError(f"an answer has {LEAST_TWAMP_ANSWER_BYTES} octets at least, not {len(payload)}")
        return cls(*_ANSWER.unpack(payload[: _ANSWER.size]))
