"""A Linux router of namespaces for connections of a test's own: its commands meet this machine's kernel."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
from pathlib import Path
from typing import Any

import asyncssh

from qoslab.routers.host import Host
from tests.linux_router import PORTS, cabled, enter, held

from .hostile import Step

EXECUTED: dict[Step, str] = {
    "read": "tc -d -j qdisc show",
    "show": "uname -sr",
    "batch": "mkdir -p /run/qosforge ",
    "save": "mv /run/qosforge/pending /run/qosforge/kept",
    "logout": "tc -d -j qdisc show",
}
"""What stands in the first command of a step of a run, or of a check; of a batch: in what sets its timer."""


class NamespaceRouter:
    """A router of namespaces with two ports, which holds what is entered, and root's shell."""

    def __init__(self, folder: Path, startup: str) -> None:
        self._startup = startup
        self._host, self._far = Host("router", folder / "router"), Host("far", folder / "far")

    def boot(self) -> None:
        """Start it with its startup configuration."""
        cabled(self._host, self._far, PORTS)
        enter(self._host, self._startup.splitlines())

    def power_off(self) -> None:
        """End it."""
        self._host.stop()
        self._far.stop()

    def running_text(self) -> str:
        """What its kernel holds, as the commands that would enter it."""
        return "".join(f"{line}\n" for line in held(self._host))

    async def execute(self, process: Any) -> None:
        """Run the command of a session of SSH."""
        data = bytearray()
        with contextlib.suppress(asyncssh.Error, OSError):
            while more := await process.stdin.read(1 << 16):
                data += more
        running = await asyncio.create_subprocess_exec(
            *self._host.command("sh", "-c", process.command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        said, errors = await running.communicate(bytes(data))
        with contextlib.suppress(asyncssh.Error, OSError):
            process.stdout.write(said)
            process.stderr.write(errors)
            process.exit(running.returncode)


async def shell(process: Any) -> None:
    """A shell that shows its prompt after every line, until it is left."""
    process.stdout.write(b"Box#")
    line = b""
    while data := await process.stdin.read(1):
        if data not in b"\r\n":
            line += data
            continue
        process.stdout.write(line + b"\r\n")
        if line.strip() == b"exit":
            return
        line = b""
        process.stdout.write(b"Box#")
