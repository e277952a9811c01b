"""Devices of every platform on loopback that are as they should be until they misbehave.

They are emulated, but for Linux routers, which are namespaces of this machine.

Each turns hostile in one way of `tests.drivers.hostile` when a command of a step is typed, and all at once: those
that come there first wait for `Boxes.let_loose`. What each has come to is known from its side of the connection.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import threading
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import asyncssh

from qoslab.box import Box
from qoslab.boxes import make_box
from qoslab.clock import Clock
from qoslab.session import Session
from qoslab.spec import BoxSpec
from qoslab.storage import Storage

from .hostile import Way, drip, endless, garbage, huge, never_ends
from .hostile_linux import EXECUTED, NamespaceRouter, shell
from .hostile_telnet import serve_telnet

T = TypeVar("T")

ACCOUNT = "lab"
"""User name, password and enable secret."""
TRIGGERS: Mapping[str, tuple[str, ...]] = {
    "read": ("show running",),
    "show": ("show policy-map", "show qos statistics", "show version", "show clock"),
    "batch": ("configure terminal", "dir"),
    "save": ("write", "copy config"),
}
"""What the first command of a step of a run, or of a check, begins with, in whichever driver."""
_FLOODS = (endless, huge, garbage)
_IN_A_FLOOD = 1 << 16
_IN_A_DRIP = 2


@dataclass
class Hostile:
    """One device: where it listens, and how far its misbehaviour has come."""

    name: str
    way: Way
    box: Box | NamespaceRouter
    port: int = 0
    reached: bool = False
    """Whether its command was typed, or the connection has come to where it falls out of step."""
    acting: bool = False
    sent: int = 0
    """Bytes that it sent since it misbehaves."""
    connections: set[object] = field(default_factory=set)
    """Those that are open."""

    @property
    def in_the_midst(self) -> bool:
        """Whether it misbehaves now, in an open connection."""
        if self.way.act in _FLOODS or self.way.name in {"banner-without-end", "packet-without-end"}:
            least = _IN_A_FLOOD
        else:
            least = _IN_A_DRIP if self.way.act is drip or self.way.name == "dripping-version" else 0
        return self.acting and bool(self.connections) and self.sent >= least


class Boxes:
    """The devices and an event loop of their own, while the block lasts."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="hostile-boxes", daemon=True)
        self._key = asyncssh.generate_private_key("ssh-ed25519")
        self._loose = asyncio.Event()
        self._healed = False
        self._closers: list[Callable[[], Any]] = []
        self.devices: dict[str, Hostile] = {}

    @property
    def host_key(self) -> str:
        """The public part of every device's host key."""
        return " ".join(self._key.export_public_key().decode().split()[:2])

    def __enter__(self) -> Boxes:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._do(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(60)
        self._loop.close()

    def add(self, name: str, way: Way, platform: str, image: str, startup: str, *, telnet: bool = False) -> Hostile:
        """Start one more, reached by SSH or telnet; the device."""
        spec = BoxSpec(
            name=name, platform=platform, image=image, username=ACCOUNT, password=ACCOUNT, secret=ACCOUNT
        )
        return self._do(self._add(way, spec, startup, telnet=telnet))

    def let_loose(self) -> None:
        """Let everything happen for which devices wait, and what comes later at once."""
        self._loop.call_soon_threadsafe(self._loose.set)

    def heal(self) -> None:
        """From now on every device is as it should be, in new connections."""
        self._healed = True

    def running(self, name: str) -> str:
        """What a device holds now."""

        async def read() -> str:
            return self.devices[name].box.running_text()

        return self._do(read())

    async def hostile(self, device: Hostile) -> bool:
        """Tell that a device has come to where it misbehaves, and wait until it may; whether it is to."""
        if self._healed:
            return False
        device.reached = True
        await self._loose.wait()
        device.acting = True
        return True

    async def _add(self, way: Way, spec: BoxSpec, startup: str, *, telnet: bool) -> Hostile:
        box: Box | NamespaceRouter
        if spec.platform == "linux_tc":
            box = NamespaceRouter(self._folder / spec.name, startup)
        else:
            box = make_box(spec, Storage(self._folder / spec.name, startup), Clock())
        box.boot()
        device = self.devices[spec.name] = Hostile(spec.name, way, box)
        if way.raw is None and not telnet:
            server = await asyncssh.create_server(
                lambda: _Login(self, device),
                "127.0.0.1",
                0,
                server_host_keys=[self._key],
                encoding=None,
                line_editor=False,
                allow_scp=False,
            )
            self._closers.append(server.close)
            device.port = server.get_port()
            return device

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            device.connections.add(writer)
            with contextlib.suppress(OSError, asyncio.CancelledError):
                if way.raw is None:
                    await serve_telnet(way, functools.partial(self._talk, device), reader, writer)
                elif await self.hostile(device):
                    await way.raw(reader, _Counted(writer, device))  # type: ignore[arg-type]
            device.connections.discard(writer)
            writer.close()

        plain = await asyncio.start_server(serve, "127.0.0.1", 0)
        self._closers.append(plain.close)
        device.port = int(plain.sockets[0].getsockname()[1])
        return device

    async def _talk(self, device: Hostile, process: Any) -> None:
        with contextlib.suppress(asyncssh.Error, OSError):
            shown = _Shown(process, device)
            if process.command is not None:
                await self._execute(device, shown)
                return
            if device.way.step == "login" and device.way.act is not None and await self.hostile(device):
                await device.way.act(shown)
                return
            if isinstance(device.box, NamespaceRouter):
                await shell(shown)
            else:
                await Session(device.box, _Stream(self, device, shown), ACCOUNT).run()
            if device.way.step == "logout" and not self._healed:
                await asyncio.Event().wait()
            process.exit(0)

    async def _execute(self, device: Hostile, process: Any) -> None:
        """One command in a session of its own."""
        assert isinstance(device.box, NamespaceRouter)
        act, trigger = device.way.act, EXECUTED.get(device.way.step)
        turns = trigger is not None and trigger in process.command and await self.hostile(device)
        if not turns or act is None or act is never_ends:
            await device.box.execute(process)
            return
        await act(process)
        process.exit(1)

    async def _close(self) -> None:
        self._loose.set()
        for close in self._closers:
            close()
        for device in self.devices.values():
            for connection in tuple(device.connections):
                _cut(connection)
            device.box.power_off()
        await asyncio.sleep(0)
        me = asyncio.current_task()
        others = [task for task in asyncio.all_tasks() if task is not me]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    def _do(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(60)


def _cut(connection: Any) -> None:
    """End one of SSH, or the writer of a plain one."""
    end = getattr(connection, "abort", None) or connection.transport.abort
    end()


class _Login(asyncssh.SSHServer):  # type: ignore[misc]  # asyncssh is untyped here
    def __init__(self, boxes: Boxes, device: Hostile) -> None:
        self._boxes = boxes
        self._device = device

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._connection = conn
        self._device.connections.add(conn)

    def connection_lost(self, exc: Exception | None) -> None:
        self._device.connections.discard(self._connection)

    def begin_auth(self, username: str) -> bool:
        return True

    def password_auth_supported(self) -> bool:
        return True

    async def validate_password(self, username: str, password: str) -> bool:
        if self._device.way.unanswered == "password" and await self._boxes.hostile(self._device):
            await asyncio.Event().wait()
        return (username, password) == (ACCOUNT, ACCOUNT)

    async def session_requested(self) -> Any:
        # Given to the server's own process factory, unless it is the session that goes unanswered.
        if self._device.way.unanswered == "session" and await self._boxes.hostile(self._device):
            await asyncio.Event().wait()
        return asyncssh.SSHServerProcess(lambda process: self._boxes._talk(self._device, process), None, 3, False)


class _Counted:
    """A writer whose bytes count as those of a device that misbehaves."""

    def __init__(self, writer: Any, device: Hostile) -> None:
        self._writer = writer
        self._device = device

    def __getattr__(self, name: str) -> Any:
        return getattr(self._writer, name)

    def write(self, data: bytes) -> None:
        if self._device.acting:
            self._device.sent += len(data)
        self._writer.write(data)


class _Shown:
    """A process of asyncssh as the ways know it."""

    def __init__(self, process: Any, device: Hostile) -> None:
        self._process = process
        self.stdout = _Counted(process.stdout, device)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._process, name)


class _Stream:
    """The stream of a device's own session, until a line is typed at which the device turns hostile."""

    def __init__(self, boxes: Boxes, device: Hostile, process: Any) -> None:
        self._boxes = boxes
        self._device = device
        self._process = process
        self._line = b""
        self._due = False

    async def read(self) -> bytes:
        """Bytes of the client; a device that misbehaves hands none on."""
        if self._due and await self._boxes.hostile(self._device):
            self._process.stdout.write(b"\r\n")
            assert self._device.way.act is not None
            await self._device.way.act(self._process)
            return b""
        try:
            data: bytes = await self._process.stdin.read(4096)
        except (asyncssh.Error, OSError):
            return b""
        kept = b""
        for key in data:
            kept += bytes([key])
            if key not in b"\r\n":
                self._line += bytes([key])
                continue
            line, self._line = self._line.strip(b"\0 ").decode(errors="replace"), b""
            if self._device.way.step == "logout" and line.startswith("show running"):
                self._device.reached = self._device.acting = True
            if self._turns(line):
                self._due = True
                return kept[:-1] or b"\0"  # echoed, and not carried out
        return kept or data

    def write(self, data: bytes) -> None:
        """Bytes to the client; one that is gone loses them."""
        with contextlib.suppress(asyncssh.Error, OSError):
            self._process.stdout.write(data)

    def abort(self) -> None:
        """Cut the whole connection."""
        for connection in tuple(self._device.connections):
            _cut(connection)

    def _turns(self, line: str) -> bool:
        way = self._device.way
        return way.act is not None and not self._boxes._healed and line.startswith(TRIGGERS.get(way.step, ("\0",)))
