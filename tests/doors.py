"""One emulated device apart from any lab, behind doors of several kinds: plain, SSH of old and new, telnet."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import asyncssh

from qoslab.box import Box
from qoslab.boxes import make_box
from qoslab.clock import Clock
from qoslab.session import Session
from qoslab.spec import BoxSpec
from qoslab.storage import Storage

USERNAME, PASSWORD, SECRET = "operator", "right-word", "more-word"
T = TypeVar("T")

_IAC, _DO, _DONT, _WILL, _WONT, _SB, _SE = 255, 253, 254, 251, 252, 250, 240
_ECHO, _SGA, _TERMINAL_TYPE, _WINDOW_SIZE = 1, 3, 24, 31

LEGACY = {
    "kex_algs": ["diffie-hellman-group1-sha1"],
    "encryption_algs": ["3des-cbc"],
    "mac_algs": ["hmac-sha1"],
    "signature_algs": ["ssh-rsa"],
}
"""What IOS 12.2 offers and nothing else (Cisco, Secure Shell Configuration Guide: SSH version 2)."""


class Plain:
    """A TCP connection as a session's stream; the telnet side of it where there is one."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, telnet: bool = False) -> None:
        self._reader = reader
        self._writer = writer
        self._telnet = telnet
        self._held = b""

    async def read(self) -> bytes:
        """Bytes without the telnet commands in them."""
        while True:
            with contextlib.suppress(OSError):
                data = await self._reader.read(4096)
                if not data or not self._telnet:
                    return data
                text = self._without_commands(data)
                if text:
                    return text
                continue
            return b""

    def write(self, data: bytes) -> None:
        """Send; a byte 255 is said twice (RFC 854)."""
        self._writer.write(data.replace(b"\xff", b"\xff\xff") if self._telnet else data)

    def abort(self) -> None:
        """Cut it."""
        self._writer.transport.abort()

    async def close(self) -> None:
        """End it after what was sent."""
        with contextlib.suppress(OSError):
            self._writer.close()
            await self._writer.wait_closed()

    def _without_commands(self, data: bytes) -> bytes:
        data, self._held = self._held + data, b""
        text = bytearray()
        at = 0
        while at < len(data):
            if data[at] != _IAC:
                text.append(data[at])
                at += 1
                continue
            length = 3 if data[at + 1 : at + 2] and data[at + 1] in (_DO, _DONT, _WILL, _WONT) else 2
            if data[at + 1 : at + 2] == bytes([_SB]):
                end = data.find(bytes([_IAC, _SE]), at)
                length = end + 2 - at if end >= 0 else len(data) + 1
            if at + length > len(data):
                self._held = data[at:]
                break
            at += length
        return bytes(text)


class Doors(AbstractContextManager["Doors"]):
    """The device and an event loop of its own; everything ends with the block."""

    def __init__(self, folder: Path, platform: str, image: str, startup: str) -> None:
        spec = BoxSpec(
            name="box", platform=platform, image=image, username=USERNAME, password=PASSWORD, secret=SECRET
        )
        self.box: Box = make_box(spec, Storage(folder, startup), Clock())
        self.logins: list[tuple[str, str]] = []
        """User name and password of everybody who came by a door that asks for them."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="doors", daemon=True)
        self._tasks: set[asyncio.Task[None]] = set()
        self._closing: list[Callable[[], Any]] = []

    def __enter__(self) -> Doors:
        self._thread.start()
        self._do(self._boot())
        return self

    def __exit__(self, *_: object) -> None:
        self._do(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)
        self._loop.close()

    def type_as(self, user: str, *lines: str) -> None:
        """Type lines in a session of a user who vanishes then; answers to questions are among them."""

        async def work() -> None:
            shell, question = self.box.new_shell(user), None
            for line in lines:
                reply = question.answer(line) if question is not None else shell.feed(line)
                question = reply.ask

        self._do(work())

    def running(self) -> str:
        """What the device holds now."""

        async def read() -> str:
            return self.box.running_text()

        return self._do(read())

    def startup(self) -> str:
        """What it would boot with."""

        async def read() -> str:
            return self.box.storage.startup()

        return self._do(read())

    def plain(self) -> int:
        """A port that is the command line itself: what a real server puts a login before."""

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            stream = Plain(reader, writer)
            await Session(self.box, stream, USERNAME).run()
            await stream.close()

        return self._listen(serve)

    def telnet(self, tries: int = 3) -> int:
        """A telnet port that asks as IOS does (Cisco IOS Terminal Services Configuration Guide: telnet)."""

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            stream = Plain(reader, writer, telnet=True)
            for word, option in (
                (_WILL, _ECHO),
                (_WILL, _SGA),
                (_DO, _TERMINAL_TYPE),
                (_DO, _WINDOW_SIZE),
            ):
                writer.write(bytes([_IAC, word, option]))
            writer.write(b"\r\n\r\nUser Access Verification\r\n\r\n")
            for _ in range(tries):
                name = await _asked(stream, b"Username: ", echo=True)
                word = await _asked(stream, b"Password: ", echo=False)
                self.logins.append((name, word))
                if (name, word) == (USERNAME, PASSWORD):
                    await Session(self.box, stream, name).run()
                    break
                writer.write(b"\r\n% Login invalid\r\n\r\n")
            await stream.close()

        return self._listen(serve)

    def ssh(
        self, key: asyncssh.SSHKey | None = None, *, interactive: bool = False, **algorithms: list[str]
    ) -> tuple[int, str]:
        """An SSH port with these algorithms alone, and its host key's public part.

        With ``interactive`` it takes no password but asks for it (keyboard-interactive, RFC 4256).
        """
        host_key = key or asyncssh.generate_private_key("ssh-ed25519")
        doors = self

        class Login(asyncssh.SSHServer):  # type: ignore[misc]
            def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
                self._connection = conn
                doors._closing.append(conn.abort)

            def begin_auth(self, username: str) -> bool:
                # Paramiko asks for the service once more before it answers questions; OpenSSH takes that
                # (auth2.c, input_service_request), AsyncSSH takes it where it still expects it.
                self._connection._next_service = b"ssh-userauth"
                return True

            def password_auth_supported(self) -> bool:
                return not interactive

            def validate_password(self, username: str, password: str) -> bool:
                doors.logins.append((username, password))
                return (username, password) == (USERNAME, PASSWORD)

            def kbdint_auth_supported(self) -> bool:
                return interactive

            def get_kbdint_challenge(self, username: str, lang: str, submethods: str) -> Any:
                return "", "", lang, [("Password: ", False)]

            def validate_kbdint_response(self, username: str, responses: list[str]) -> bool:
                doors.logins.append((username, responses[0]))
                return (username, responses) == (USERNAME, [PASSWORD])

        class Channel:
            def __init__(self, process: Any) -> None:
                self._process = process

            async def read(self) -> bytes:
                try:
                    return bytes(await self._process.stdin.read(4096))
                except (asyncssh.Error, OSError):
                    return b""

            def write(self, data: bytes) -> None:
                with contextlib.suppress(asyncssh.Error, OSError):
                    self._process.stdout.write(data)

            def abort(self) -> None:
                self._process.channel.get_connection().abort()

        async def shell(process: Any) -> None:
            await Session(self.box, Channel(process), USERNAME).run()
            with contextlib.suppress(asyncssh.Error, OSError):
                process.exit(0)

        async def start() -> int:
            acceptor = await asyncssh.create_server(
                Login,
                "127.0.0.1",
                0,
                server_host_keys=[host_key],
                process_factory=shell,
                encoding=None,
                line_editor=False,
                **algorithms,
            )
            self._closing.append(acceptor.close)
            return int(acceptor.get_port())

        public = " ".join(host_key.export_public_key().decode().split()[:2])
        return self._do(start()), public

    def _listen(self, serve: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]) -> int:
        async def kept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            self._tasks.add(task)
            self._closing.append(writer.transport.abort)
            try:
                with contextlib.suppress(OSError, asyncio.CancelledError):
                    await serve(reader, writer)
            finally:
                writer.close()  # a client that vanished in the midst leaves it open
                self._tasks.discard(task)

        async def start() -> int:
            server = await asyncio.start_server(kept, "127.0.0.1", 0)
            self._closing.append(server.close)
            port: int = server.sockets[0].getsockname()[1]
            return port

        return self._do(start())

    async def _boot(self) -> None:
        self.box.boot()

    async def _close(self) -> None:
        self.box.power_off()
        for task in tuple(self._tasks):
            task.cancel()
        closed = 0
        while closed < len(self._closing):
            # Who came at the last moment is accepted only after the doors are shut, and stands at the end.
            shutting, closed = self._closing[closed:], len(self._closing)
            for close in shutting:
                close()
            await asyncio.sleep(0.05)  # for what was aborted to be told of it

    def _do(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(20)


async def _asked(stream: Plain, prompt: bytes, *, echo: bool) -> str:
    """One line that a client typed in answer to a prompt."""
    stream.write(prompt)
    typed = ""
    while True:
        data = await stream.read()
        if not data:
            raise OSError("the client is gone")
        for key in data.decode(errors="replace").replace("\0", ""):
            if key in "\r\n":
                if not typed and key == "\n":
                    continue  # of the line before
                stream.write(b"\r\n")
                return typed
            typed += key
            if echo:
                stream.write(key.encode())


@contextmanager
def device(
    folder: Path, platform: str = "cisco_ios", image: str = "12.4", startup: str = "hostname R1\n"
) -> Iterator[Doors]:
    """A booted device with a startup configuration."""
    with Doors(folder, platform, image, startup) as doors:
        yield doors
