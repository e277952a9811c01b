"""The wire side of a login: echo, line editing, paging, questions."""

from __future__ import annotations

import asyncio
import codecs
import contextlib
from collections import deque
from typing import Protocol

from app.lab.box import Box
from app.lab.shell import Question, Reply, Shell

_LONGEST_LINE = 16384
_DRIP_SECONDS = 0.1
_ERASE = "\b \b"


class Hangup(Exception):
    """The client is gone or was thrown out."""


class Stream(Protocol):
    """The raw channel: bytes in, bytes out, and a way to cut it."""

    async def read(self) -> bytes:
        """Some bytes; b"" at the end."""

    def write(self, data: bytes) -> None:
        """Queue bytes for the client."""

    def abort(self) -> None:
        """Cut the connection without a word."""


class Session:
    """One interactive login on one stream."""

    def __init__(self, box: Box, stream: Stream, user: str) -> None:
        self._box = box
        self._stream = stream
        self._shell: Shell = box.new_shell(user)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._keys: deque[str] = deque()
        self._out: list[str] = []
        self._after_return = False

    async def run(self) -> None:
        """Serve until the user exits or the client vanishes."""
        self._box.attach(self._stream.abort)
        try:
            await self._handle(self._box.greeting(self._shell))
            while True:
                self._print(self._shell.prompt)
                line, ended = await self._line(echo=True)
                if self._box.faults.seconds_per_line:
                    self._flush()
                    await asyncio.sleep(self._box.faults.seconds_per_line)
                if self._box.faults.drips(line):
                    await self._drip()
                await self._handle(self._shell.feed(line))
                if ended:
                    self._shell.end()
        except Hangup:
            pass
        finally:
            self._flush()
            self._box.detach(self._stream.abort)

    async def _drip(self) -> None:
        while True:
            self._print(".")
            self._flush()
            with contextlib.suppress(TimeoutError):
                if not await asyncio.wait_for(self._stream.read(), _DRIP_SECONDS):
                    raise Hangup

    async def _handle(self, reply: Reply) -> None:
        while True:
            if reply.abort:
                self._out.clear()
                self._stream.abort()
                raise Hangup
            if reply.text:
                await self._page(reply.text, self._shell.length if reply.paged else 0)
            if reply.close:
                raise Hangup
            if reply.ask is None:
                return
            reply = await self._ask(reply.ask)

    async def _ask(self, question: Question) -> Reply:
        self._print(question.prompt)
        if not question.single_key:
            line, _ = await self._line(echo=question.echo)
            return question.answer(line)
        while True:
            key = await self._key()
            self._after_return = key == "\r"
            if not question.keys or key in question.keys:
                if question.echo:
                    self._print(self._box.line_end if key in "\r\n" else key + self._box.line_end)
                return question.answer(key)

    async def _page(self, text: str, length: int) -> None:
        lines = self._box.layout(self._shell, text).split("\n")
        room = length - 1
        shown = 0
        for at, line in enumerate(lines):
            if length and shown >= room and at < len(lines):
                self._print(self._box.more_prompt)
                key = await self._key()
                wipe = len(self._box.more_prompt)
                self._print("\b" * wipe + " " * wipe + "\b" * wipe)
                if key in "qQ\x03":
                    return
                shown = room - 1 if key in "\r\n" else 0
                self._after_return = key == "\r"
            self._print(line + self._box.line_end)
            shown += 1

    async def _line(self, *, echo: bool) -> tuple[str, bool]:
        """One edited line, and whether it ended with Ctrl-Z."""
        typed: list[str] = []
        while True:
            key = await self._key()
            if key == "\n" and self._after_return:
                self._after_return = False
                continue
            self._after_return = key == "\r"
            if key in "\r\n":
                self._print(self._box.line_end)
                return "".join(typed), False
            if key == "\x1a":
                self._print(("^Z" if echo else "") + self._box.line_end)
                return "".join(typed), True
            if key == "\x03":
                self._print(self._box.line_end + self._shell.prompt)
                typed.clear()
            elif key == "\x15":
                self._print(_ERASE * len(typed) if echo else "")
                typed.clear()
            elif key in "\b\x7f":
                if typed:
                    typed.pop()
                    self._print(_ERASE if echo else "")
            elif (key.isprintable() or key == "\t") and len(typed) < _LONGEST_LINE:
                typed.append(key)
                if echo:
                    self._print(key)

    async def _key(self) -> str:
        while not self._keys:
            self._flush()
            data = await self._stream.read()
            if not data:
                raise Hangup
            self._keys.extend(self._decoder.decode(data).replace("\0", ""))  # NAPALM's is_alive sends NUL
        return self._keys.popleft()

    def _print(self, text: str) -> None:
        self._out.append(text)

    def _flush(self) -> None:
        if self._out:
            self._stream.write("".join(self._out).encode())
            self._out.clear()
