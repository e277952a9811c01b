"""A scripted command line behind a real SSH server: for what a well-behaved box never does."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

import asyncssh

Script = Callable[[str], "str | None"]


@dataclass
class Peer:
    """A box on loopback: account lab / lab, privileged at once.

    ``script`` gets each line: its answer is printed before the prompt, None hangs up. ``modes`` maps
    the first word of a command to the mode it enters. A line that ends in ``?>`` style questions is
    scripted by returning a text that ends in "\\0": then no prompt follows and the next line is its
    answer. ``silent`` lines get neither answer nor prompt.
    """

    script: Script
    name: str = "Box"
    modes: dict[str, str] = field(default_factory=dict)
    root_mode: str = "(config)"
    greeting: str = ""
    silent: set[str] = field(default_factory=set)
    after_prompt: dict[str, str] = field(default_factory=dict)
    typed: list[str] = field(default_factory=list)
    port: int = 0
    host_key: str = ""

    def __enter__(self) -> Peer:
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self._thread.start()
        assert self._ready.wait(60)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._done.set)
        self._thread.join(60)

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._done = asyncio.Event()
        self._connections: list[asyncssh.SSHServerConnection] = []
        key = asyncssh.generate_private_key("ssh-ed25519")
        self.host_key = key.export_public_key().decode().strip()
        server = await asyncssh.listen(
            "127.0.0.1",
            0,
            server_host_keys=[key],
            server_factory=lambda: _Login(self._connections),
            process_factory=self._session,
            line_editor=False,
            encoding="utf-8",
        )
        self.port = server.get_port()
        self._ready.set()
        await self._done.wait()
        server.close()
        for connection in self._connections:
            connection.abort()
            await connection.wait_closed()
        await asyncio.sleep(0.01)  # transports close in the round after

    async def _session(self, process: asyncssh.SSHServerProcess) -> None:
        modes: list[str] = []
        process.stdout.write(self.greeting + self._prompt(modes))
        line = ""
        try:
            while data := await process.stdin.read(1):
                if data not in "\r\n":
                    line += data.replace("\0", "")
                    continue
                process.stdout.write(line + "\r\n")
                answer = self._answer(line.strip(), modes)
                if answer is None:
                    break
                process.stdout.write(answer)
                line = ""
        except (asyncssh.Error, OSError):
            pass
        process.exit(0)

    def _prompt(self, modes: list[str]) -> str:
        return f"{self.name}{modes[-1] if modes else ''}#"

    def _answer(self, line: str, modes: list[str]) -> str | None:
        if line:
            self.typed.append(line)
        if line in self.silent:
            return ""
        said = self.script(line) if line else ""
        if said is None:
            return None
        if said.endswith("\0"):
            return said[:-1].replace("\n", "\r\n")
        refused = "%" in said
        word = line.partition(" ")[0]
        if line == "configure terminal":
            modes[:] = [self.root_mode]
        elif line == "end":
            modes.clear()
        elif line == "exit":
            if not modes:
                return None
            modes.pop()
        elif modes and word in self.modes and not refused:
            mode = self.modes[word]
            while mode in modes:
                modes.pop()
            modes.append(mode)
        text = f"{said}\n" if said else ""
        return (text + self._prompt(modes) + self.after_prompt.get(line, "")).replace("\n", "\r\n")


class _Login(asyncssh.SSHServer):
    def __init__(self, connections: list[asyncssh.SSHServerConnection]) -> None:
        self._connections = connections

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._connections.append(conn)

    def begin_auth(self, username: str) -> bool:
        return True

    def password_auth_supported(self) -> bool:
        return True

    def validate_password(self, username: str, password: str) -> bool:
        return (username, password) == ("lab", "lab")
