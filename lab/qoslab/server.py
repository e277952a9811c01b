"""The SSH server of one box: password login, shell, and SCP in where the box takes files."""

from __future__ import annotations

import contextlib
import hmac
import logging
import shlex

import asyncssh

from qoslab.box import Box
from qoslab.errors import BoxError
from qoslab.session import Session

_LOG = logging.getLogger("lab.server")
_LARGEST_FILE = 16 * 1024 * 1024
ADDRESS = "127.0.0.1"


class _Login(asyncssh.SSHServer):  # type: ignore[misc]  # asyncssh is untyped here
    """Password authentication against the box's one account; ``connected`` has the connections that are open."""

    def __init__(self, box: Box, connected: set[asyncssh.SSHServerConnection]) -> None:
        self._box = box
        self._connected = connected
        self._connection: asyncssh.SSHServerConnection | None = None

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        """Know it while it is open."""
        self._connection = conn
        self._connected.add(conn)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        del exc
        self._connected.discard(self._connection)

    def begin_auth(self, username: str) -> bool:
        """A password is always needed."""
        del username
        return True

    def password_auth_supported(self) -> bool:
        """Passwords are the only way in."""
        return True

    def validate_password(self, username: str, password: str) -> bool:
        """Check both in constant time."""
        if self._box.faults.stands("refuse_login"):
            return False
        spec = self._box.spec
        good_name = hmac.compare_digest(username.encode(), spec.username.encode())
        return hmac.compare_digest(password.encode(), spec.password.encode()) and good_name


class _Channel:
    """A process of asyncssh as the session's stream."""

    def __init__(self, process: asyncssh.SSHServerProcess) -> None:
        self._process = process

    async def read(self) -> bytes:
        """Bytes from the client; window changes and breaks are no data."""
        while True:
            try:
                data: bytes = await self._process.stdin.read(4096)
            except (asyncssh.TerminalSizeChanged, asyncssh.BreakReceived, asyncssh.SignalReceived):
                continue
            except (asyncssh.Error, OSError):
                return b""
            return data

    def write(self, data: bytes) -> None:
        """Bytes to the client; one that is gone loses them."""
        with contextlib.suppress(asyncssh.Error, OSError):
            self._process.stdout.write(data)

    def abort(self) -> None:
        """Cut the whole connection."""
        with contextlib.suppress(asyncssh.Error, OSError):
            self._process.channel.get_connection().abort()


class BoxServer:
    """Listens for one box on loopback."""

    def __init__(self, box: Box) -> None:
        self._box = box
        self._acceptor: asyncssh.SSHAcceptor | None = None
        self._connected: set[asyncssh.SSHServerConnection] = set()
        self._key = self._host_key()
        self.port = 0

    @property
    def public_key(self) -> str:
        """The host key as ``ssh-ed25519 AAAA...``."""
        return " ".join(self._key.export_public_key().decode().split()[:2])

    async def start(self) -> None:
        """Listen on the port the box had before, the one asked for, or a free one. Raises OSError."""
        wanted = self._box.spec.port or int(self._box.storage.recall("port") or 0)
        try:
            await self._listen(wanted)
        except OSError:
            if not wanted or self._box.spec.port:
                raise
            _LOG.warning("%s: port %d is taken now, choosing another", self._box.spec.name, wanted)
            await self._listen(0)
        self._box.storage.remember("port", str(self.port))

    async def stop(self) -> None:
        """Close the listener and cut every connection."""
        if self._acceptor is not None:
            self._acceptor.close()
            # From Python 3.12 on, waiting for the listener is waiting for every connection.
            for connection in tuple(self._connected):
                connection.abort()
            await self._acceptor.wait_closed()

    async def _listen(self, port: int) -> None:
        self._acceptor = await asyncssh.create_server(
            lambda: _Login(self._box, self._connected),
            ADDRESS,
            port,
            server_host_keys=[self._key],
            process_factory=self._serve,
            encoding=None,
            line_editor=False,
            allow_scp=False,
            agent_forwarding=False,
            login_timeout=30,
        )
        self.port = self._acceptor.get_port()

    def _host_key(self) -> asyncssh.SSHKey:
        kept = self._box.storage.recall("host_key")
        if kept is not None:
            return asyncssh.import_private_key(kept)
        key = asyncssh.generate_private_key("ssh-ed25519")
        self._box.storage.remember("host_key", key.export_private_key().decode())
        return key

    async def _serve(self, process: asyncssh.SSHServerProcess) -> None:
        channel = _Channel(process)
        try:
            if process.command is None:
                user = process.channel.get_connection().get_extra_info("username")
                await Session(self._box, channel, user).run()
            else:
                await self._command(process.command, channel)
        except (asyncssh.Error, OSError) as lost:
            _LOG.info("%s: client lost: %s", self._box.spec.name, lost)
        finally:
            with contextlib.suppress(asyncssh.Error, OSError):
                process.exit(0)

    async def _command(self, command: str, channel: _Channel) -> None:
        try:
            words = shlex.split(command)
        except ValueError:
            words = []
        if len(words) < 3 or words[0] != "scp" or "-t" not in words[1:-1] or not self._box.accepts_files:
            channel.write(b"\x01Administratively disabled.\n")
            return
        await _Sink(channel, self._box, words[-1]).run()


class _Sink:
    """The receiving side of the SCP protocol, one file."""

    def __init__(self, channel: _Channel, box: Box, path: str) -> None:
        self._channel = channel
        self._box = box
        self._path = path
        self._held = b""

    async def run(self) -> None:
        """Take one file and hand it to the box."""
        self._channel.write(b"\0")
        while True:
            line = await self._until_newline()
            if not line.startswith(b"T"):
                break
            self._channel.write(b"\0")
        fields = line.split(None, 2)
        if len(fields) != 3 or not line.startswith(b"C") or not fields[1].isdigit():
            self._channel.write(b"\x01scp: protocol error\n")
            return
        size = int(fields[1])
        if size > _LARGEST_FILE:
            self._channel.write(b"\x01scp: no space left on device\n")
            return
        self._channel.write(b"\0")
        data = await self._exactly(size + 1)
        if len(data) != size + 1:
            return
        try:
            self._box.receive_file(self._path, data[:size])
        except BoxError as refused:
            self._channel.write(f"\x01scp: {refused}\n".encode())
            return
        self._channel.write(b"\0")
        await self._channel.read()

    async def _until_newline(self) -> bytes:
        while b"\n" not in self._held and len(self._held) < 4096:
            more = await self._channel.read()
            if not more:
                return b""
            self._held += more
        line, _, self._held = self._held.partition(b"\n")
        return line

    async def _exactly(self, size: int) -> bytes:
        while len(self._held) < size:
            more = await self._channel.read()
            if not more:
                return self._held
            self._held += more
        data, self._held = self._held[:size], self._held[size:]
        return data
