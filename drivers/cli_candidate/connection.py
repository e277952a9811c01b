"""Netmiko connections whose every byte passes a session guard."""

from __future__ import annotations

import functools
from typing import Any

import paramiko
from napalm.base.exceptions import ConnectionClosedException
from netmiko import BaseConnection

from cli_candidate.guard import SessionGuard

# Netmiko and paramiko have clocks of their own, which say less when they run out: the guard's come first.
_LATER_SECONDS = 30.0


class GuardedClient(paramiko.SSHClient):
    """An SSH client that connects by a guard."""

    def __init__(self, guard: SessionGuard) -> None:
        super().__init__()
        self._guard = guard

    def connect(
        self, hostname: str, port: int = 22, *, sock: Any = None, timeout: float | None = None, **parameters: Any
    ) -> None:
        """Connect and log in; ``timeout`` bounds the TCP connection alone.

        Raises:
            ValueError: ``sock`` is given, whose bytes nobody would count.
        """
        if sock is not None:
            raise ValueError("a session over a socket of one's own has no limits; leave sock out")
        later = self._guard.longest_seconds + _LATER_SECONDS
        parameters |= {
            "timeout": later,
            "auth_timeout": later,
            "banner_timeout": later,
            "channel_timeout": later,
            "transport_factory": functools.partial(_transport, later),
        }
        super().connect(hostname, port, sock=self._guard.connect(hostname, port, timeout), **parameters)


def _transport(handshake_timeout: float, *arguments: Any, **parameters: Any) -> paramiko.Transport:
    made = paramiko.Transport(*arguments, **parameters)
    made.handshake_timeout = handshake_timeout
    return made


class GuardedConnection(BaseConnection):
    """Mixed into a Netmiko class: its reads and writes end when the guard cuts the session, or the device does."""

    def __init__(self, *arguments: Any, guard: SessionGuard, **parameters: Any) -> None:
        """Connect; ``guard`` holds it to the limits of the step that is under way."""
        self.guard = guard
        parameters["read_timeout_override"] = guard.longest_seconds + _LATER_SECONDS
        super().__init__(*arguments, **parameters)

    def _get_ssh_client_instance(self) -> paramiko.SSHClient:
        return GuardedClient(self.guard)

    def read_channel(self) -> str:
        """What has arrived.

        Raises:
            LimitExceededError, SessionStoppedError: the guard cut the session.
            ConnectionClosedException: the device closed it.
        """
        self.guard.check()
        text = str(super().read_channel())
        if not text and self._is_closed():
            # The last words may have arrived between the two looks.
            text = str(super().read_channel())
            if not text:
                self.guard.check()
                raise ConnectionClosedException("the device closed the session")
        return text

    def write_channel(self, out_data: str) -> None:
        """Send.

        Raises:
            LimitExceededError, SessionStoppedError: the guard cut the session.
        """
        self.guard.check()
        try:
            super().write_channel(out_data)
        except (OSError, EOFError):
            self.guard.check()
            raise

    def _is_closed(self) -> bool:
        channel = self.remote_conn
        return isinstance(channel, paramiko.Channel) and channel.closed


@functools.cache
def guarded(connection: type[BaseConnection]) -> type[GuardedConnection]:
    """The Netmiko class ``connection``, guarded."""
    return type(f"Guarded{connection.__name__}", (GuardedConnection, connection), {})
