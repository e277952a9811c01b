"""A session reflector: it answers test packets, and counts those of each session (RFC 8762, section 4.3)."""

from __future__ import annotations

import select
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from qosforge.stamp.clock import clock_estimate
from qosforge.stamp.packet import PORT, Answer, ErrorEstimate, SenderPacket, encode_time
from qosforge.stamp.sockets import Address, Received, bind, open_socket, receive, resolve, traffic_class

IDLE_SECONDS = 900.0
"""A session that is silent for so long begins anew (REFWAIT of RFC 5357, section 4.2)."""
MOST_SESSIONS = 4_096
"""Sessions that are counted at once; of more the one that was silent longest is forgotten."""
_LOOK_SECONDS = 0.25
_AT_ONCE = 256


@dataclass
class Sessions:
    """The next number of each session's answers; ``stateless``: that of the packet that is answered."""

    stateless: bool = False
    _next: OrderedDict[tuple[Address, int], tuple[int, float]] = field(default_factory=OrderedDict)

    def number(self, key: tuple[Address, int], sequence: int, now: float) -> int:
        """The number of the answer to a packet."""
        if self.stateless:
            return sequence
        number, last = self._next.pop(key, (0, now))
        if now - last > IDLE_SECONDS:
            number = 0
        if len(self._next) >= MOST_SESSIONS:
            self._next.popitem(last=False)
        self._next[key] = (number + 1, now)
        return number


class Reflector:
    """Answers test packets that come to one address. Each is answered with the DSCP that it came with.

    The answer is as long as the packet (44 octets at least), so that it is of little use for flooding others.
    """

    def __init__(self, host: str, port: int = PORT, *, stateless: bool = False) -> None:
        """Take the port.

        Raises:
            InputError: the host has no address.
            ServiceError: the port cannot be taken.
        """
        family, address = resolve(host, port)
        self._socket = open_socket(family)
        self._family = family
        try:
            bind(self._socket, address)
        except BaseException:
            self._socket.close()
            raise
        self._socket.setblocking(False)
        self._sessions = Sessions(stateless)
        self._estimate = clock_estimate()
        self.port: int = self._socket.getsockname()[1]
        self.answered = 0
        self.refused = 0
        """Packets that were none of the protocol."""

    def __enter__(self) -> Reflector:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def serve(self, stopped: Callable[[], bool], *, seconds: float | None = None) -> None:
        """Answer until ``stopped`` says so, or for so many seconds."""
        end = None if seconds is None else time.monotonic() + seconds
        while not stopped() and (end is None or time.monotonic() < end):
            ready, _, _ = select.select([self._socket], [], [], _LOOK_SECONDS)
            if ready:
                self._estimate = clock_estimate()
                self._answer_waiting()

    def _answer_waiting(self) -> None:
        for _ in range(_AT_ONCE):
            try:
                self._answer(receive(self._socket))
            except BlockingIOError:
                return
            except OSError:  # an ICMP error of an earlier answer, or nobody is reached: the next one may be
                continue

    def _answer(self, got: Received) -> None:
        try:
            packet = SenderPacket.decode(got.payload)
        except ValueError:
            self.refused += 1
            return
        number = self._sessions.number((got.sender, packet.session), packet.sequence, time.monotonic())
        ancillary = [traffic_class(got.dscp, self._family)]
        payload = answer(packet, got, number, self._estimate, time.time_ns())
        self._socket.sendmsg([payload], ancillary, 0, got.sender)
        self.answered += 1


def answer(packet: SenderPacket, got: Received, number: int, estimate: ErrorEstimate, now_ns: int) -> bytes:
    """The answer to a packet, with a number, the clock's error estimate and the moment at which it leaves."""
    return Answer(
        sequence=number,
        stamp=encode_time(now_ns),
        estimate=estimate.encode(),
        session=packet.session,
        received=encode_time(got.unix_ns),
        sender_sequence=packet.sequence,
        sender_stamp=packet.stamp,
        sender_estimate=packet.estimate,
        sender_ttl=got.ttl,
    ).encode(len(got.payload))
