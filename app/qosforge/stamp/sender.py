"""A session sender: test packets at a steady rate, and what came back of them (RFC 8762, section 4.2)."""

from __future__ import annotations

import errno
import select
import socket
import time
from dataclasses import dataclass, field

from qosforge.errors import InputError, Place, ServiceError
from qosforge.stamp.clock import clock_estimate
from qosforge.stamp.packet import (
    LEAST_BYTES,
    MOST_BYTES,
    PORT,
    Answer,
    ErrorEstimate,
    SenderPacket,
    decode_time,
    encode_time,
)
from qosforge.stamp.sockets import Received, bind, open_socket, receive, resolve, traffic_class

WAIT_SECONDS = 2.0
"""How long the last answers are waited for (RFC 2544, section 23)."""
MOST_PACKETS = 10_000_000
_HEADERS = {socket.AF_INET: 28, socket.AF_INET6: 48}
_NS = 10**9
_PLAIN = ErrorEstimate(error_seconds=1e-6)


@dataclass(frozen=True, slots=True)
class Session:
    """What is sent where: ``packets`` of ``ip_bytes`` each, at ``rate_bps`` bits of IP a second.

    ``source_host`` and ``source_port`` are what they come from; the kernel chooses where they are empty or 0.
    ``identifier`` is that of RFC 8972, 0 for none: reflectors of RFC 8762 alone give it back or leave it zero.
    """

    host: str
    port: int = PORT
    dscp: int = 0
    ip_bytes: int = 100
    rate_bps: float = 40_000.0
    packets: int = 50
    wait_seconds: float = WAIT_SECONDS
    source_host: str = ""
    source_port: int = 0
    identifier: int = 0

    @property
    def interval_ns(self) -> int:
        """From one packet to the next."""
        return round(self.ip_bytes * 8 * _NS / self.rate_bps)


@dataclass(frozen=True, slots=True)
class Exchange:
    """One packet and its answer, in nanoseconds: ``sent_ns`` since 1970 by the sender's clock.

    ``forward_ns`` and ``backward_ns`` are one-way delays by both clocks, and may be negative where these differ;
    ``round_trip_ns`` is by the sender's clock, without the reflector's own time. ``number`` is the reflector's, and
    ``ttl`` the packet's as it got there. All are ``None`` where no answer came.
    """

    sequence: int
    sent_ns: int
    forward_ns: int | None = None
    backward_ns: int | None = None
    round_trip_ns: int | None = None
    number: int | None = None
    ttl: int | None = None
    answer_dscp: int | None = None


@dataclass
class SessionResult:
    """What a session gave: every packet that was sent, in the order of sending, those without an answer included.

    ``arrival_order`` has the sequence numbers in the order in which answers came; ``copies`` counts answers to what
    was answered before, ``foreign`` packets that were no answers of this session.
    """

    session: Session
    local: ErrorEstimate
    remote: ErrorEstimate | None = None
    exchanges: list[Exchange] = field(default_factory=list)
    arrival_order: list[int] = field(default_factory=list)
    copies: int = 0
    foreign: int = 0


def run_session(session: Session) -> SessionResult:
    """Send all packets of a session, and wait for their answers.

    Raises:
        InputError: a value of the session is impossible.
        ServiceError: the host is not reached, or nothing answers there.
    """
    family, address = resolve(session.host, session.port)
    payload_bytes = _payload_bytes(session, family)
    with open_socket(family) as opened:
        if session.source_host or session.source_port:
            source_host = session.source_host or ("::" if family == socket.AF_INET6 else "0.0.0.0")  # noqa: S104
            source_family, source = resolve(source_host, session.source_port)
            if source_family != family:
                message = f"{session.source_host} and {session.host} are addresses of different families"
                raise InputError(message, Place(path="source"), "give both of IPv4, or both of IPv6")
            bind(opened, source)
        level, option, value = traffic_class(session.dscp, family)
        opened.setsockopt(level, option, value)
        try:
            opened.connect(address)
        except OSError as error:
            raise ServiceError(f"{session.host} is not reached: {error.strerror}") from None
        opened.setblocking(False)
        running = _Running(session, opened, payload_bytes)
        running.send_all()
        running.wait()
        return running.result()


def _payload_bytes(session: Session, family: socket.AddressFamily) -> int:
    headers = _HEADERS[family]
    least, most = headers + LEAST_BYTES, headers + MOST_BYTES if family == socket.AF_INET else MOST_BYTES
    if not least <= session.ip_bytes <= most:
        message = f"a test packet has {least} to {most} bytes with its headers, not {session.ip_bytes}"
        raise InputError(message, Place(path="size"), "44 octets are STAMP's own (RFC 8762)")
    if not session.rate_bps > 0 or not 1 <= session.packets <= MOST_PACKETS:
        message = f"{session.packets} packets at {session.rate_bps:g} b/s cannot be sent"
        raise InputError(message, Place(path="rate"), f"1 to {MOST_PACKETS:,} packets, at a rate above 0")
    return session.ip_bytes - headers


class _Running:
    """A session under way."""

    def __init__(self, session: Session, opened: socket.socket, payload_bytes: int) -> None:
        self._session = session
        self._socket = opened
        self._payload_bytes = payload_bytes
        self._local = clock_estimate()
        self._estimate = (self._local if self._local.synchronized else _PLAIN).encode()
        self._stamps: list[bytes] = []
        self._sent_ns: list[int] = []
        self._answers: dict[int, Exchange] = {}
        self._remote: ErrorEstimate | None = None
        self._copies = self._foreign = 0
        self._refused = 0
        self._unreachable: OSError | None = None

    def send_all(self) -> None:
        """Every packet at its time; one that is late is sent at once, so that the rate is kept."""
        begin = time.monotonic_ns()
        for sequence in range(self._session.packets):
            due = begin + sequence * self._session.interval_ns
            while (left := due - time.monotonic_ns()) > 0:
                self._take_in(left / _NS)
            self._send(sequence)
            self._take_in(0)

    def wait(self) -> None:
        """Until all answers have come, or for as long as the session says."""
        end = time.monotonic() + self._session.wait_seconds
        while len(self._answers) < len(self._stamps) and (left := end - time.monotonic()) > 0:
            self._take_in(left)

    def result(self) -> SessionResult:
        """What came of it.

        Raises:
            ServiceError: nothing did.
        """
        if not self._answers:
            name = f"UDP port {self._session.port} of {self._session.host}"
            if self._refused:
                hint = "start one there: qosforge probe reflector"
                raise ServiceError(f"no reflector is at {name}: the port is closed", hint=hint)
            if self._unreachable is not None:
                raise ServiceError(f"{name} is not reached: {self._unreachable.strerror}")
            hint = "look whether a reflector runs there, and whether a filter on the way drops its packets"
            raise ServiceError(f"none of {len(self._stamps)} packets was answered by {name}", hint=hint)
        exchanges = [
            self._answers.get(sequence, Exchange(sequence, sent)) for sequence, sent in enumerate(self._sent_ns)
        ]
        return SessionResult(
            self._session,
            self._local,
            self._remote,
            exchanges,
            list(self._answers),
            self._copies,
            self._foreign,
        )

    def _send(self, sequence: int) -> None:
        sent_ns = time.time_ns()
        stamp = encode_time(sent_ns)
        self._stamps.append(stamp)
        self._sent_ns.append(sent_ns)
        packet = SenderPacket(sequence, stamp, self._estimate, self._session.identifier)
        try:
            self._socket.send(packet.encode(self._payload_bytes))
        except OSError as error:  # counted as sent: what the sender's own queue has no room for is lost
            self._note(error)

    def _note(self, error: OSError) -> None:
        if error.errno == errno.ECONNREFUSED:
            self._refused += 1
        elif error.errno == errno.EMSGSIZE:
            message = f"a packet of {self._session.ip_bytes} bytes does not fit on the way to {self._session.host}"
            raise InputError(message, Place(path="size"), "take a smaller one") from None
        elif error.errno not in (errno.EAGAIN, errno.ENOBUFS):
            self._unreachable = error

    def _take_in(self, seconds: float) -> None:
        ready, _, _ = select.select([self._socket], [], [], seconds)
        while ready:
            try:
                self._take(receive(self._socket))
            except BlockingIOError:
                return
            except OSError as error:
                self._note(error)

    def _take(self, got: Received) -> None:
        try:
            answer = Answer.decode(got.payload)
        except ValueError:
            self._foreign += 1
            return
        sequence = answer.sender_sequence
        # Who does not see the packets cannot make answers: these give back the moment that was sent.
        if sequence >= len(self._stamps) or self._stamps[sequence] != answer.sender_stamp:
            self._foreign += 1
            return
        if sequence in self._answers:
            self._copies += 1
            return
        self._remote = ErrorEstimate.decode(answer.estimate)
        sent = self._sent_ns[sequence]
        there = decode_time(answer.received, ptp=self._remote.ptp, near_ns=sent)
        left = decode_time(answer.stamp, ptp=self._remote.ptp, near_ns=sent)
        self._answers[sequence] = Exchange(
            sequence=sequence,
            sent_ns=sent,
            forward_ns=there - sent,
            backward_ns=got.unix_ns - left,
            round_trip_ns=got.unix_ns - sent - (left - there),
            number=answer.sequence,
            ttl=answer.sender_ttl,
            answer_dscp=got.dscp,
        )
