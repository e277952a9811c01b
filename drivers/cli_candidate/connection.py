"""Netmiko connections whose every byte passes a session guard."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import paramiko
from napalm.base.exceptions import ConnectionClosedException
from netmiko import BaseConnection
from netmiko._telnetlib.telnetlib import Telnet
from netmiko.channel import TelnetChannel
from netmiko.exceptions import NetmikoAuthenticationException, NetmikoTimeoutException
from paramiko.ssh_exception import SSHException

from cli_candidate.guard import SessionGuard
from cli_candidate.known_hosts import RevokedKeyPolicy, known_keys
from cli_candidate.legacy import LegacyChannel, LegacyClient
from cli_candidate.route import SSH_PORT, SessionRoute, connect, describe_failure, known_hosts_name
from cli_candidate.telnet import log_in

# Netmiko and paramiko have clocks of their own, which say less when they run out: the guard's come first.
_LATER_SECONDS = 30.0
_TELNET = "_telnet"
_CLOSED = "the device closed the session"
# IOS asks three times before it shows its prompt again (Cisco, Security Command Reference: enable).
_TRIES = 3


class GuardedClient(paramiko.SSHClient):
    """An SSH client that connects by a guard, by itself or through the command ``jump``."""

    def __init__(self, guard: SessionGuard, jump: Sequence[str] = ()) -> None:
        super().__init__()
        self._guard = guard
        self._jump = jump

    def connect(
        self, hostname: str, port: int = 22, *, sock: Any = None, timeout: float | None = None, **parameters: Any
    ) -> None:
        """Connect and log in; ``timeout`` bounds the TCP connection alone.

        Raises:
            ValueError: ``sock`` is given, whose bytes nobody would count.
            SSHException: the device, or the jump host, cannot be talked to.
        """
        if sock is not None:
            raise ValueError("a session over a socket of one's own has no limits; leave sock out")
        later = self._guard.longest_seconds + _LATER_SECONDS
        parameters |= {
            # Of the keys that lie about, a device sees none: those it is to see are named.
            "look_for_keys": False,
            "timeout": later,
            "auth_timeout": later,
            "banner_timeout": later,
            "channel_timeout": later,
            "transport_factory": functools.partial(_transport, later),
        }
        sock = connect(self._guard, self._jump, hostname, port, timeout)
        try:
            super().connect(hostname, port, sock=sock, **parameters)
        except (SSHException, EOFError) as error:
            said = self._guard.last_words()
            if not said:
                raise
            raise SSHException(describe_failure(self._jump, said)) from error


def _transport(handshake_timeout: float, *arguments: Any, **parameters: Any) -> paramiko.Transport:
    made = paramiko.Transport(*arguments, **parameters)
    made.handshake_timeout = handshake_timeout
    return made


class GuardedConnection(BaseConnection):
    """Mixed into a Netmiko class: its reads and writes end when the guard cuts the session, or the device does."""

    def __init__(
        self, *arguments: Any, guard: SessionGuard, route: SessionRoute | None = None, **parameters: Any
    ) -> None:
        """Connect; ``guard`` holds it to the limits of the step under way, ``route`` is how it comes there."""
        self.guard = guard
        self.route = route or SessionRoute()
        if self.route.transport == "telnet" and not parameters["device_type"].endswith(_TELNET):
            parameters["device_type"] += _TELNET
        parameters["read_timeout_override"] = guard.longest_seconds + _LATER_SECONDS
        super().__init__(*arguments, **parameters)

    def establish_connection(self, width: int = 511, height: int = 1000) -> None:
        """Connect and log in; see Netmiko."""
        if self.protocol != "telnet":
            super().establish_connection(width, height)
            return
        telnet = Telnet()
        telnet.sock = connect(self.guard, self.route.jump, self.host, self.port or 23, self.conn_timeout)
        self.remote_conn = telnet
        self.channel = TelnetChannel(conn=telnet, encoding=self.encoding)
        try:
            if hasattr(self, "menu_login"):
                self.menu_login()
            else:
                log_in(self)
        except (NetmikoAuthenticationException, ConnectionClosedException) as error:
            said = self.guard.last_words()
            if not said:
                raise
            raise NetmikoTimeoutException(describe_failure(self.route.jump, said)) from error
        # The log-in has read the prompt that some platforms wait for next.
        self.write_channel(self.RETURN)

    def _build_ssh_client(self) -> paramiko.SSHClient:
        if self.route.transport != "ssh-legacy":
            client = self._get_ssh_client_instance()
            files = known_hosts_files(self)
            known = known_keys(files, known_hosts_name(self.host, self.port or SSH_PORT))
            for name, keys in known.items():
                for kind, key in keys.items():
                    client.get_host_keys().add(name, kind, key)
            client.set_missing_host_key_policy(RevokedKeyPolicy(self.key_policy, files))
            return client
        return LegacyClient(self.guard, self.route.jump, known_hosts_files(self))

    def _get_ssh_client_instance(self) -> paramiko.SSHClient:
        return GuardedClient(self.guard, self.route.jump)

    def enable_secret_handler(self, pattern: str, output: str, re_flags: int = re.IGNORECASE) -> str:
        """Give the enable secret; see Netmiko, which waits for a prompt where a device asks for it once more.

        Raises:
            ValueError: the device refuses the secret.
        """
        if not re.search(pattern, output, flags=re_flags):
            return ""
        said = self._answered(self.secret, pattern, re_flags)
        if not re.search(pattern, said, flags=re_flags):
            return said
        for _ in range(_TRIES - 1):
            if re.search(pattern, said, flags=re_flags):
                said = self._answered("", pattern, re_flags)
        raise ValueError("the device asked for the enable secret again")

    def _answered(self, answer: str, pattern: str, re_flags: int) -> str:
        self.write_channel(self.normalize_cmd(answer))
        return str(self.read_until_prompt_or_pattern(pattern=pattern, re_flags=re_flags, read_entire_line=True))

    def read_channel(self) -> str:
        """What has arrived.

        Raises:
            LimitExceededError, SessionStoppedError: the guard cut the session.
            ConnectionClosedException: the device closed it.
        """
        self.guard.check()
        try:
            text = str(super().read_channel())
            if not text and self.is_closed:
                # The last words may have arrived between the two looks.
                text = str(super().read_channel())
                if not text:
                    raise EOFError(_CLOSED)
        except EOFError as error:  # telnet's own word for it
            self.guard.check()
            raise ConnectionClosedException(_CLOSED) from error
        return text

    def write_channel(self, out_data: str) -> None:
        """Send.

        Raises:
            LimitExceededError, SessionStoppedError: the guard cut the session.
            ConnectionClosedException: the device closed it.
        """
        self.guard.check()
        try:
            super().write_channel(out_data)
        except (OSError, EOFError) as error:
            self.guard.check()
            raise ConnectionClosedException(_CLOSED) from error

    def is_alive(self) -> bool:
        """Whether the session stands; see Netmiko."""
        if isinstance(self.remote_conn, LegacyChannel):
            return self.remote_conn.is_active()
        return bool(super().is_alive())

    @property
    def is_closed(self) -> bool:
        """Whether the device has closed the session, as far as that is known without a word to it."""
        return self.remote_conn is None or bool(getattr(self.remote_conn, "closed", False))


def known_hosts_files(connection: BaseConnection) -> list[str]:
    """The files of host keys that a Netmiko connection is to believe."""
    system = Path("~/.ssh/known_hosts").expanduser()
    files = [str(system)] if connection.system_host_keys and system.is_file() else []
    alternative = connection.alt_key_file if connection.alt_host_keys else ""
    return [*files, alternative] if alternative and Path(alternative).is_file() else files


@functools.cache
def guarded(connection: type[BaseConnection]) -> type[GuardedConnection]:
    """The Netmiko class ``connection``, guarded."""
    return type(f"Guarded{connection.__name__}", (GuardedConnection, connection), {})
