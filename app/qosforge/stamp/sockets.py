"""UDP sockets that tell when a packet came, by the kernel's clock, and with which DSCP and TTL."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from qosforge.errors import InputError, Place, ServiceError

_TIMESTAMP = getattr(socket, "SO_TIMESTAMPNS", 35)  # Linux has it, and Python no name for it before 3.14
_RECEIVE_TTL = getattr(socket, "IP_RECVTTL", 12)
_RECEIVE_TOS = getattr(socket, "IP_RECVTOS", 13)
_TIME = struct.Struct("ll")
_INT = struct.Struct("i")
_ROOM = 512
_BUFFER_BYTES = 4 * 2**20
MOST_BYTES = 65_535

Address = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Received:
    """A packet as it came; ``dscp`` and ``ttl`` are 0 and 255 where the kernel did not say."""

    payload: bytes
    sender: Address
    unix_ns: int
    dscp: int
    ttl: int


def resolve(host: str, port: int) -> tuple[socket.AddressFamily, Address]:
    """The address of a host, as a socket takes it.

    Raises:
        InputError: there is none.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)
    except OSError as error:
        message = f"{host} has no address: {error}"
        raise InputError(message, Place(path="host"), "write an address, or a name that is known here") from None
    family, _, _, _, address = found[0]
    return family, address


def open_socket(family: socket.AddressFamily) -> socket.socket:
    """A UDP socket that tells moments, TTL and DSCP, and does not fragment what leaves it."""
    opened = socket.socket(family, socket.SOCK_DGRAM)
    opened.setsockopt(socket.SOL_SOCKET, _TIMESTAMP, 1)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER_BYTES)
    if family == socket.AF_INET6:
        opened.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        opened.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVHOPLIMIT, 1)
        opened.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVTCLASS, 1)
    else:
        opened.setsockopt(socket.IPPROTO_IP, _RECEIVE_TTL, 1)
        opened.setsockopt(socket.IPPROTO_IP, _RECEIVE_TOS, 1)
    return opened


def bind(opened: socket.socket, address: Address) -> None:
    """Take a port.

    Raises:
        ServiceError: somebody else has it, or it is not this user's to take.
    """
    try:
        opened.bind(address)
    except OSError as error:
        message = f"UDP port {address[1]} of {address[0]} cannot be taken: {error.strerror}"
        raise ServiceError(message, hint="take another one with --port, or end what has it") from None


def traffic_class(dscp: int, family: socket.AddressFamily) -> tuple[int, int, bytes]:
    """A DSCP as ancillary data of one packet, or as an option of a socket (its first two parts)."""
    value = _INT.pack(dscp << 2)
    if family == socket.AF_INET6:
        return socket.IPPROTO_IPV6, socket.IPV6_TCLASS, value
    return socket.IPPROTO_IP, socket.IP_TOS, value


def receive(opened: socket.socket) -> Received:
    """The next packet; raises what ``recvmsg`` does."""
    payload, ancillary, _, sender = opened.recvmsg(MOST_BYTES, _ROOM)
    return _received(payload, sender, ancillary)


def _received(payload: bytes, sender: Address, ancillary: Iterable[tuple[int, int, bytes]]) -> Received:
    unix_ns, dscp, ttl = time.time_ns(), 0, 255
    for level, kind, data in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, _TIMESTAMP) and len(data) >= _TIME.size:
            seconds, ns = _TIME.unpack(data[: _TIME.size])
            unix_ns = seconds * 10**9 + ns
        elif (level, kind) == (socket.IPPROTO_IP, socket.IP_TTL):
            ttl = _INT.unpack(data[:4])[0]
        elif (level, kind) == (socket.IPPROTO_IP, socket.IP_TOS):
            dscp = data[0] >> 2
        elif (level, kind) == (socket.IPPROTO_IPV6, socket.IPV6_HOPLIMIT):
            ttl = _INT.unpack(data[:4])[0]
        elif (level, kind) == (socket.IPPROTO_IPV6, socket.IPV6_TCLASS):
            dscp = _INT.unpack(data[:4])[0] >> 2
    return Received(payload, sender, unix_ns, dscp, min(ttl, 255))
