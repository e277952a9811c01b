"""A telnet connection as the ways to misbehave know a process of SSH."""

from __future__ import annotations

import asyncio
import contextlib
from types import SimpleNamespace
from typing import Any

from tests.doors import Plain

ACCOUNT = (b"lab", b"lab")
_IAC_WILL_ECHO = bytes([255, 251, 1])
_IAC_WILL_GO_ON = bytes([255, 251, 3])


class TelnetProcess:
    """One connection: its output, its input byte by byte without telnet's commands, and its end.

    By telnet a session has no command of its own.
    """

    command: str | None = None

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self._stream = Plain(reader, writer, telnet=True)
        self._held = b""
        self._after_return = False
        self.stdout = SimpleNamespace(write=self._stream.write, drain=writer.drain, write_eof=self._write_eof)
        self.stdin = SimpleNamespace(read=self._read)
        self.channel = SimpleNamespace(pause_reading=writer.transport.pause_reading)  # type: ignore[attr-defined]

    def is_closing(self) -> bool:
        """Whether the connection is at its end."""
        return self._writer.is_closing()

    def exit(self, _code: int) -> None:
        """End it."""
        self._writer.close()

    async def log_in(self) -> bool:
        """Ask for user name and password; whether they are right."""
        self._writer.write(_IAC_WILL_ECHO + _IAC_WILL_GO_ON + b"\r\nUser Access Verification\r\n\r\nUsername: ")
        name = await self._line()
        self._writer.write(b"\r\nPassword: ")
        right = (name, await self._line()) == ACCOUNT
        self._writer.write(b"\r\n" if right else b"\r\n% Login invalid\r\n")
        return right

    async def _line(self) -> bytes:
        line = b""
        while (byte := await self._read(1)) not in (b"\r", b"\n", b"") or not line:
            if not byte:
                raise OSError("the client is gone")
            line += byte.strip(b"\r\n\0")
        return line

    async def _read(self, _most: int) -> bytes:
        while True:
            if not self._held:
                self._held = await self._stream.read()
            byte, self._held = self._held[:1], self._held[1:]
            after_return, self._after_return = self._after_return, byte == b"\r"
            if not after_return or byte not in (b"\n", b"\0"):  # a line ends by two bytes (RFC 854)
                return byte

    def _write_eof(self) -> None:
        with contextlib.suppress(OSError):
            self._writer.write_eof()


async def serve_telnet(way: Any, talk: Any, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Ask for the account, unless that is never answered, and let the device talk."""
    process = TelnetProcess(reader, writer)
    if not await process.log_in():
        return
    if way.unanswered:
        await asyncio.Event().wait()
    await talk(process)
