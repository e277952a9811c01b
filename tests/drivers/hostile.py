"""Devices on loopback that misbehave, each in one way that has a name."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import itertools
import os
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import asyncssh

from .hostile_telnet import serve_telnet

Step = str
"""A step of a session, as the drivers' limits name them."""

TRIGGERS: dict[Step, tuple[bytes, ...]] = {
    "read": (b"show running",),
    "show": (b"show policy-map", b"show clock"),
    "batch": (b"configure terminal", b"dir"),
    "copy": (b"copy flash",),
    "save": (b"write mem", b"copy config", b"show archive", b"show reload"),
}
"""What the commands of a step begin with, in whichever driver; ``copy`` is NAPALM's part of a batch."""

EXECUTED: dict[Step, bytes] = {
    "read": b"tc -d -j qdisc show",
    "show": b"show clock",
    "batch": b"cat /run/qosforge/pending",
    "save": b"mv /run/qosforge/pending /run/qosforge/kept",
}
"""What stands in the commands of a step that a Linux router is given, each in a session of its own."""

Act = Callable[["asyncssh.SSHServerProcess[bytes]"], Awaitable[None]]


async def silent(process: Any) -> None:
    """Say nothing, for ever."""
    await asyncio.Event().wait()


async def drip(process: Any) -> None:
    """A byte now and then, for ever."""
    while not process.is_closing():
        process.stdout.write(b".")
        await asyncio.sleep(0.1)


async def endless(process: Any) -> None:
    """Lines without end, as fast as they are taken."""
    for number in itertools.count():
        if process.is_closing():
            return
        process.stdout.write(b"interface Ethernet%d\r\n mtu 1500\r\n" % number * 200)
        await process.stdout.drain()
        await asyncio.sleep(0)  # for the end of the connection to be noticed


async def huge(process: Any) -> None:
    """A configuration of 100 MB, with an end and a prompt."""
    line = b"access-list 100 permit ip any any\r\n"
    for _ in range(100_000_000 // (len(line) * 1000)):
        if process.is_closing():
            return
        process.stdout.write(line * 1000)
        await process.stdout.drain()
        await asyncio.sleep(0)  # for the end of the connection to be noticed
    process.stdout.write(b"end\r\nBox#")
    await asyncio.Event().wait()


async def garbage(process: Any) -> None:
    """Random bytes without end."""
    while not process.is_closing():
        process.stdout.write(os.urandom(8192))
        await process.stdout.drain()
        await asyncio.sleep(0)  # for the end of the connection to be noticed


async def look_alike(process: Any) -> None:
    """A prompt in the middle of the answer."""
    process.stdout.write(b"\r\nhostname Box\r\nbanner motd ^C\r\nBox#")
    await asyncio.sleep(0.2)
    process.stdout.write(b"\r\n^C\r\ninterface Ethernet0\r\nend\r\nBox#")


async def asks(process: Any) -> None:
    """Questions without end, as long as there is somebody to answer."""
    while not process.is_closing():
        process.stdout.write(b"\r\nReally? [confirm]")
        if not await process.stdin.read(1):
            await asyncio.Event().wait()


async def half_close(process: Any) -> None:
    """No more output, and no end of the session either."""
    process.stdout.write(b"\r\nhostname Box\r\n")
    process.stdout.write_eof()
    await asyncio.Event().wait()


async def hang_up(process: Any) -> None:
    """The end of the session in the middle of a line."""
    process.stdout.write(b"\r\nhostname Bo")
    process.exit(1)


async def cut_off(process: Any) -> None:
    """The end of the connection in the middle of a line."""
    process.stdout.write(b"\r\nhostname Bo")
    process.get_extra_info("connection").abort()


async def one_line(process: Any) -> None:
    """A line of 1 MB, and a prompt."""
    process.stdout.write(b"a" * 1_000_000 + b"\r\nBox#")
    await process.stdout.drain()


async def never_ends(process: Any) -> None:
    """The end of a session is refused."""


async def deaf(process: Any) -> None:
    """Take nothing any more: what is sent fills the window."""
    process.channel.pause_reading()
    await asyncio.Event().wait()


@dataclass(frozen=True)
class Way:
    """One way to misbehave.

    Where there is a ``step``, the device is as it should be until a command of that step is typed, and then does
    ``act``. ``login``: the same right after the login, in place of a prompt. ``raw``: it never gets as far as SSH.
    ``unanswered``: it never answers the password, or the request for a session.
    """

    name: str
    step: Step = "login"
    act: Act | None = None
    raw: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]] | None = None
    unanswered: str = ""


async def _raw_silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read()


async def _raw_version(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"SSH-2.0-Box\r\n")
    await reader.read()


async def _raw_drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"SSH-2.0-")
    while not writer.is_closing():
        writer.write(b"x")
        await asyncio.sleep(0.1)


async def _raw_banner(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while not writer.is_closing():
        writer.write(b"Authorised use only. " * 400)
        await writer.drain()
        await asyncio.sleep(0)


async def _raw_packet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One packet, said to be of nearly 4 GB."""
    writer.write(b"SSH-2.0-Box\r\n" + (0xFFFFFFFC).to_bytes(4, "big"))
    while not writer.is_closing():
        writer.write(bytes(8192))
        await writer.drain()
        await asyncio.sleep(0)


_EVERY = ("read", "show", "batch", "save")
WAYS = (
    Way("half-open", raw=_raw_silent),
    Way("stalled-key-exchange", raw=_raw_version),
    Way("dripping-version", raw=_raw_drip),
    Way("banner-without-end", raw=_raw_banner),
    Way("packet-without-end", raw=_raw_packet),
    Way("silent-after-the-password", unanswered="password"),
    Way("no-session", unanswered="session"),
    Way("silent-login", act=silent),
    Way("dripping-login", act=drip),
    Way("endless-login", act=endless),
    Way("garbage-login", act=garbage),
    *(Way(f"silent-{step}", step, silent) for step in _EVERY),
    *(Way(f"dripping-{step}", step, drip) for step in _EVERY),
    *(Way(f"endless-{step}", step, endless) for step in _EVERY),
    Way("huge-configuration", "read", huge),
    Way("garbage-configuration", "read", garbage),
    Way("prompt-inside-output", "read", look_alike),
    Way("half-closed", "read", half_close),
    Way("hangs-up", "read", hang_up),
    Way("endless-questions", "batch", asks),
    Way("takes-nothing", "batch", deaf),
    Way("never-closes", "logout", never_ends),
)
HEALTHY = Way("healthy", step="")


@dataclass(frozen=True)
class Kind:
    """What a device is: its platform, its image, the configuration that it shows, and a line that it takes."""

    platform: str
    image: str
    running: bytes = b""
    line: str = "hostname Other"
    typed: bool = True
    """Whether its driver types at a command line, by whatever brings it there; else each command has a session of
    SSH of its own.
    """


_IOS = b"!\r\nversion 12.2\r\n!\r\nhostname Box\r\n!\r\nend\r\n"
KINDS = {
    "ios": Kind("cisco_ios", "12.4", _IOS),
    "ios_legacy": Kind("catalyst_2950", "12.1EA-EI", _IOS),
    "force10": Kind("force10_e300", "6.5", b"! Version 6.5\r\n!\r\nhostname Box\r\n!\r\nend\r\n"),
    "ers": Kind(
        "nortel_5510",
        "5.1",
        b"! Embedded ASCII Configuration Generator Script\r\n! Model = Ethernet Routing Switch 5510-48T\r\n"
        b'enable\r\nconfigure terminal\r\nsnmp-server name "Box"\r\nexit\r\n',
    ),
    "linux_tc": Kind("linux_tc", "6.1", line="tc qdisc del dev wan0 root", typed=False),
}
"""A device for each driver, of a platform that it is for."""


@dataclass
class Devices:
    """Servers in a thread of their own, while the block lasts. Account lab / lab."""

    host_key: str = field(init=False)
    typed: list[tuple[int, str]] = field(default_factory=list)
    """Port and text of every line that was typed."""

    def __enter__(self) -> Devices:
        key = asyncssh.generate_private_key("ssh-ed25519")
        self._key = key
        self.host_key = key.export_public_key().decode().strip()
        self._loop = asyncio.new_event_loop()
        self._closers: list[Callable[[], None]] = []
        self._connections: list[asyncssh.SSHServerConnection] = []
        self._served: dict[asyncio.Task[Any], asyncio.StreamWriter] = {}
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result(60)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(60)
        self._loop.close()

    def add(self, way: Way, driver: str = "ios_legacy", *, telnet: bool = False) -> int:
        """Start one more, of the kind that a driver is for, reached by SSH or telnet; its port."""
        return asyncio.run_coroutine_threadsafe(self._add(way, KINDS[driver], telnet), self._loop).result(60)

    async def _end(self) -> None:
        for close in self._closers:
            close()
        await asyncio.sleep(0.05)  # for what was just accepted to become a connection
        for connection in self._connections:
            connection.abort()
            await connection.wait_closed()
        me = asyncio.current_task()
        others = [task for task in asyncio.all_tasks() if task is not me]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        for writer in self._served.values():
            writer.transport.abort()
        await asyncio.sleep(0.05)  # transports close in the round after

    async def _add(self, way: Way, kind: Kind, telnet: bool) -> int:
        shell = _Shell(way, self, kind)
        if way.raw is not None or telnet:
            raw = way.raw or functools.partial(serve_telnet, way, shell.talk)

            async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                task = asyncio.current_task()
                assert task is not None
                self._served[task] = writer  # the loop itself forgets who waits for ever once the client is gone
                with contextlib.suppress(OSError, asyncio.CancelledError):
                    await raw(reader, writer)
                writer.close()

            plain = await asyncio.start_server(serve, "127.0.0.1", 0)
            self._closers.append(plain.close)
            shell.port = int(plain.sockets[0].getsockname()[1])
            return shell.port
        server = await asyncssh.listen(
            "127.0.0.1",
            0,
            server_host_keys=[self._key],
            server_factory=lambda: _Login(way, self._connections),
            process_factory=None if way.unanswered == "session" else shell.talk,
            line_editor=False,
            encoding=None,
        )
        shell.port = server.get_port()
        self._closers.append(server.close)
        return shell.port


class _Login(asyncssh.SSHServer):
    def __init__(self, way: Way, connections: list[asyncssh.SSHServerConnection]) -> None:
        self._way = way
        self._connections = connections

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._connections.append(conn)

    def begin_auth(self, username: str) -> bool:
        return True

    def password_auth_supported(self) -> bool:
        return True

    async def validate_password(self, username: str, password: str) -> bool:
        if self._way.unanswered == "password":
            await asyncio.Event().wait()
        return (username, password) == ("lab", "lab")

    async def session_requested(self) -> Any:
        await asyncio.Event().wait()


class _Shell:
    """The command line of one device: it echoes, and answers everything with its prompt."""

    def __init__(self, way: Way, devices: Devices, kind: Kind) -> None:
        self._way = way
        self._running = kind.running
        self._devices = devices
        self.port = 0

    async def talk(self, process: Any) -> None:
        if getattr(process, "command", None) is not None:
            await self._execute(process)
            return
        with contextlib.suppress(asyncssh.Error, OSError):
            if self._way.act is not None and self._way.step == "login":
                await self._way.act(process)
            process.stdout.write(b"\r\nBox#")
            mode, line = b"", b""
            while data := await process.stdin.read(1):
                if data not in b"\r\n":
                    line += data.replace(b"\0", b"")
                    continue
                process.stdout.write(line + b"\r\n")
                words, line = line.strip(), b""
                self._devices.typed.append((self.port, words.decode()))
                if self._way.act is not None and words.startswith(TRIGGERS.get(self._way.step, (b"\0",))):
                    await self._way.act(process)
                    continue
                if words == b"configure terminal":
                    mode = b"(config)"
                elif words == b"end":
                    mode = b""
                elif words == b"exit" and not mode and self._way.act is not never_ends:
                    break
                elif words.startswith(b"show running"):
                    process.stdout.write(self._running)
                process.stdout.write(b"Box" + mode + b"#")
        with contextlib.suppress(asyncssh.Error, OSError):
            process.exit(0)

    async def _execute(self, process: Any) -> None:
        """One command in a session of its own: of root, who holds nothing, and has no commit that waits."""
        command = process.command.encode()
        self._devices.typed.append((self.port, process.command))
        with contextlib.suppress(asyncssh.Error, OSError):
            trigger = EXECUTED.get(self._way.step)
            if self._way.act is not None and trigger is not None and trigger in command:
                await self._way.act(process)
            elif b"id -u" in command:
                process.stdout.write(b"0\n")
            elif b"tc -d -j qdisc" in command or b"ip -j link" in command:
                process.stdout.write(b"[]\n")
            process.exit(1 if b"cat /run/qosforge/pending" in command else 0)
