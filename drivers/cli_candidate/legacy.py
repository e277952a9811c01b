"""SSH with legacy algorithms, which old devices need and Paramiko has left out since its release 4.

AsyncSSH still has them. It works in an event loop of its own thread; what Netmiko calls of a Paramiko client and
channel is answered from there.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import warnings
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

import asyncssh
import paramiko
from paramiko.ssh_exception import AuthenticationException, BadHostKeyException, SSHException

from cli_candidate.guard import SessionGuard
from cli_candidate.known_hosts import known_keys, known_patterns
from cli_candidate.route import connect, describe_failure, known_hosts_name

T = TypeVar("T")

# The library below says so at every key exchange; whoever chose these algorithms knows.
warnings.filterwarnings("ignore", message="Diffie-Hellman over finite fields", module="asyncssh")

ALGORITHMS = {
    "kex_algs": "+diffie-hellman-group14-sha1,diffie-hellman-group-exchange-sha1,diffie-hellman-group1-sha1",
    "encryption_algs": "+aes256-cbc,aes192-cbc,aes128-cbc,3des-cbc",
    "mac_algs": "+hmac-sha1,hmac-md5",
    "server_host_key_algs": "+ssh-rsa",
    "signature_algs": "+ssh-rsa",
}
"""What IOS 12, FTOS 7 and ERS 5 offer (RFC 4253, sections 6.3, 6.4, 6.6 and 8), after all that is safe."""
_CLOSE_SECONDS = 2.0
_LATER_SECONDS = 30.0


class _Shell(asyncssh.SSHClientSession):  # type: ignore[misc]  # asyncssh is untyped here
    """Keeps what arrives until it is read."""

    def __init__(self) -> None:
        self._arrived = bytearray()
        self._lock = threading.Lock()
        self.closed = False

    def data_received(self, data: bytes, datatype: Any) -> None:
        """Keep it, whichever stream it came by."""
        del datatype
        with self._lock:
            self._arrived += data

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing comes any more."""
        del exc
        self.closed = True

    def ready(self) -> bool:
        """Whether something waits to be read."""
        return bool(self._arrived)

    def take(self, most: int) -> bytes:
        """What arrived first, up to so many bytes."""
        with self._lock:
            data = bytes(self._arrived[:most])
            del self._arrived[:most]
        return data


class _Shown(asyncssh.SSHClient):  # type: ignore[misc]  # asyncssh is untyped here
    """Remembers the host key that is not among the known ones."""

    key: paramiko.PKey | None = None

    def validate_host_public_key(self, host: str, addr: str, port: int, key: Any) -> bool:
        """Never believe it."""
        entry = paramiko.hostkeys.HostKeyEntry.from_line(f"{host} {key.export_public_key().decode()}")
        self.key = entry.key if entry is not None else None
        return False


async def _agent() -> Any:
    """The SSH agent of who runs this."""
    try:
        return await asyncssh.connect_agent()
    except OSError as error:
        raise SSHException(f"no SSH agent answers: {error}") from error


class LegacyChannel:
    """A shell, as far as Netmiko and NAPALM call a Paramiko channel."""

    def __init__(self, client: LegacyClient, channel: Any, shell: _Shell) -> None:
        self._client = client
        self._channel = channel
        self._shell = shell

    @property
    def closed(self) -> bool:
        """Whether the device has closed it and nothing is left to read."""
        return self._shell.closed and not self._shell.ready()

    @property
    def transport(self) -> LegacyChannel:
        """What NAPALM asks whether it is active."""
        return self

    def is_active(self) -> bool:
        """Whether more may arrive."""
        return not self._shell.closed

    def settimeout(self, seconds: float) -> None:
        """Nothing here waits: the guard's clocks hold."""

    def set_keepalive(self, seconds: float) -> None:
        """The guard finds a silent device."""

    def recv_ready(self) -> bool:
        """Whether something waits to be read."""
        return self._shell.ready()

    def recv(self, most: int) -> bytes:
        """What arrived; empty where nothing did."""
        return self._shell.take(most)

    def sendall(self, data: bytes) -> None:
        """Send all of it.

        Raises:
            OSError: the session is closed.
        """
        if self._shell.closed:
            raise OSError("the session is closed")
        self._client.soon(self._channel.write, data)

    def close(self) -> None:
        """Close it."""
        self._client.soon(self._channel.close)


class LegacyClient:
    """A client with old algorithms, as far as Netmiko calls a Paramiko client. One connection in its life."""

    def __init__(self, guard: SessionGuard, jump: Sequence[str], known_hosts: Sequence[str]) -> None:
        """``known_hosts`` are files of OpenSSH's form; a device whose key is in none of them is refused."""
        self._guard = guard
        self._jump = jump
        self._known_hosts = list(known_hosts)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="ssh-legacy", daemon=True)
        self._connection: Any = None

    def connect(
        self,
        hostname: str,
        port: int = 22,
        *,
        username: str = "",
        password: str | None = None,
        key_filename: str | None = None,
        passphrase: str | None = None,
        allow_agent: bool = False,
        timeout: float | None = None,
        **_parameters: Any,
    ) -> None:
        """Connect and log in; arguments as Paramiko's, ``timeout`` bounds the TCP connection alone.

        Raises:
            AuthenticationException: user name, password and keys are refused.
            BadHostKeyException: the device shows another key than the known one.
            SSHException: no host key is known, no agent answers that should, or no algorithm is in common.
            OSError: nothing accepts the connection.
        """
        sock = connect(self._guard, self._jump, hostname, port, timeout)
        sock.setblocking(False)
        self._thread.start()
        shown = _Shown()
        later = self._guard.longest_seconds + _LATER_SECONDS

        async def opened() -> Any:
            async with contextlib.AsyncExitStack() as stack:
                try:
                    keys: list[Any] = [*asyncssh.load_keypairs([key_filename], passphrase)] if key_filename else []
                    if allow_agent:
                        keys += await (await stack.enter_async_context(await _agent())).get_keys()
                except BaseException:
                    sock.close()
                    raise
                return await asyncssh.connect(
                    hostname,
                    port,
                    sock=sock,
                    config=[],
                    client_factory=lambda: shown,
                    known_hosts=known_patterns(self._known_hosts),
                    username=username,
                    password=password or None,
                    # AsyncSSH takes an empty list for the keys of ~/.ssh.
                    client_keys=keys or None,
                    agent_path=None,
                    login_timeout=later,
                    connect_timeout=later,
                    **ALGORITHMS,
                )

        try:
            self._connection = self._wait(opened())
        except asyncssh.PermissionDenied as error:
            raise AuthenticationException(str(error)) from error
        except asyncssh.HostKeyNotVerifiable as error:
            raise self._unknown(known_hosts_name(hostname, port), shown.key) from error
        except (asyncssh.Error, OSError, ValueError) as error:
            said = self._guard.last_words()
            self._guard.check()
            raise SSHException(describe_failure(self._jump, said) if said else str(error)) from error

    def invoke_shell(self, term: str = "vt100", width: int = 80, height: int = 24) -> LegacyChannel:
        """A shell on a terminal of this size in characters."""
        opening = self._connection.create_session(
            _Shell, term_type=term, term_size=(width, height), encoding=None, request_pty="force"
        )
        channel, shell = self._wait(opening)
        return LegacyChannel(self, channel, shell)

    def soon(self, function: Any, *arguments: Any) -> None:
        """Call a function in the thread of the connection."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(function, *arguments)

    def close(self) -> None:
        """End the connection and its thread."""
        if not self._thread.is_alive():
            self._loop.close()
            return
        with contextlib.suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(self._end(), self._loop).result(_CLOSE_SECONDS)
        self.soon(self._loop.stop)
        self._thread.join(_CLOSE_SECONDS)
        if not self._thread.is_alive():
            self._loop.close()

    async def _end(self) -> None:
        if self._connection is not None:
            self._connection.abort()
            await self._connection.wait_closed()

    def _wait(self, opening: Coroutine[Any, Any, T]) -> T:
        async def done() -> T:
            return await opening

        return asyncio.run_coroutine_threadsafe(done(), self._loop).result()

    def _unknown(self, name: str, shown: paramiko.PKey | None) -> Exception:
        """Why a host key is refused: another one is known, or none."""
        known = next(iter((known_keys(self._known_hosts, name).lookup(name) or {}).values()), None)
        if known is not None and shown is not None:
            return BadHostKeyException(name, shown, known)
        return SSHException(f"Server {name!r} not found in known_hosts")
