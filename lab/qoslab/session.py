"""The wire side of a login: echo, line editing, paging, questions."""

from __future__ import annotations

import asyncio
import codecs
import contextlib
from collections import deque
from typing import Protocol

from qoslab.box import Box
from qoslab.faults import OF_THE_BOX, Fault
from qoslab.shell import Question, Reply, Shell

_LONGEST_LINE = 16384
_DRIP_SECONDS = 0.1
_ERASE = "\b \b"
_SCREEN = 24
"""Lines of a screen whose length nobody set."""


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
            if self._box.faults.stands("banner"):
                await self._handle(Reply(self._box.faults.banner))
            await self._handle(self._box.greeting(self._shell))
            while True:
                self._print(self._shell.prompt)
                line, ended = await self._line(echo=True)
                self._box.typed.append((self._shell.mode.name, line.strip()))
                faults = self._box.faults.at(line, configuring=self._shell.configuring)
                for fault in faults:
                    await self._before(fault)
                reply = self._shell.feed(line)
                for fault in faults:
                    await self._after(fault, reply)
                await self._handle(reply)
                if ended:
                    self._shell.end()
        except Hangup:
            pass
        finally:
            self._flush()
            self._box.detach(self._stream.abort)

    # -- planted faults ----------------------------------------------------------------------------------
    async def _before(self, fault: Fault) -> None:
        """Let a fault happen that comes before its line is carried out."""
        if fault.kind == "slow":
            self._flush()
            await asyncio.sleep(fault.seconds)
        elif fault.kind == "page":
            self._shell.length = _SCREEN
        elif fault.kind == "drip":
            await self._say_forever(".")
        elif fault.kind in {"disconnect", "hang"} and not fault.taken:
            await self._fall_silent(fault)
        elif fault.kind in OF_THE_BOX:
            self._box.happen(fault.kind, fault.text)
            if fault.kind == "reboot":
                raise Hangup
            return
        else:
            return
        self._box.faults.came_about(fault.kind)

    async def _after(self, fault: Fault, reply: Reply) -> None:
        """Let a fault happen that comes with the answer to its line."""
        if fault.kind == "log" and self._box.log_line:
            lines = reply.text.split("\n")
            middle = len(lines) // 2
            reply.text = "\n".join([*lines[:middle], self._box.log_line, *lines[middle:]])
            self._box.faults.came_about(fault.kind)
        elif fault.kind in {"disconnect", "hang"} and fault.taken:
            await self._fall_silent(fault)

    async def _fall_silent(self, fault: Fault) -> None:
        """Cut the session in the middle of the line's echo, or say no more."""
        self._box.faults.came_about(fault.kind)
        if fault.kind == "hang":
            self._flush()
            await self._say_forever("")
        echoed = "".join(self._out).rstrip("\r\n")
        self._out = [echoed[: len(echoed) // 2]]
        self._flush()
        self._stream.abort()
        raise Hangup

    async def _say_forever(self, text: str) -> None:
        if text:
            self._box.faults.came_about("drip")
        while True:
            self._print(text)
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
