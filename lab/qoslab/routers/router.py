"""A Linux router of a lab, and its SSH server: OpenSSH, one process for each connection."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import subprocess
from collections.abc import Iterable
from pathlib import Path

from qoslab.errors import StartError
from qoslab.routers.cabling import CabledHost
from qoslab.routers.host import Host, require
from qoslab.server import ADDRESS
from qoslab.spec import BoxSpec

PLATFORM = "linux_tc"
USER = "root"
HOST_KEY = "host_key"
LOGIN_KEY = "login_key"
_SSHD = "/usr/sbin/sshd"
_SAVED = "etc/qosforge/qos.conf"
_PROGRAMS = ("tc", "nft")


class Router:
    """A router: what it has saved is entered when it starts, as its unit of systemd would."""

    def __init__(self, spec: BoxSpec, state: Path) -> None:
        self.spec = spec
        self._state = state
        self.host = Host(spec.name, state)
        self._listener: socket.socket | None = None
        self._accepting: asyncio.Task[None] | None = None

    @property
    def key(self) -> Path:
        """The private key that logs in."""
        return self._state / LOGIN_KEY

    @property
    def public_key(self) -> str:
        """The key that the server shows."""
        return public_key(self._state)

    @property
    def port(self) -> int:
        """Where it listens on loopback."""
        assert self._listener is not None
        return int(self._listener.getsockname()[1])

    def start(self) -> None:
        """Make it, without cables. Raises StartError where this machine cannot have it."""
        require(("find", "ip", "ln", "nft", "nsenter", "setpriv", "tc", "unshare"))
        if not Path(_SSHD).is_file():
            raise StartError("Linux routers need openssh-server: install the package")
        make_keys(self._state)
        (self._state / "sshd_config").write_text(SSHD_CONFIG.format(state=self._state))
        self.host.start()
        self.host.run("sysctl", "-qw", "net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1")

    def enter_saved(self) -> None:
        """Enter what it has saved, or at its first start what it begins with; its ports are there by now."""
        saved = self._state / _SAVED
        if not saved.is_file() and self.spec.startup_config is not None:
            try:
                saved.write_text(self.spec.startup_config.read_text())
            except (OSError, UnicodeDecodeError) as bad:
                raise StartError(f"router {self.spec.name}: startup configuration: {bad}") from bad
        lines = saved.read_text().splitlines() if saved.is_file() else []
        enter(self.host, lines)

    async def listen(self) -> None:
        """Answer on loopback, at the port it had before where that is free."""
        known = self._state / "port"
        wanted = self.spec.port or (int(known.read_text()) if known.is_file() else 0)
        self._listener = bound(wanted)
        known.write_text(f"{self.port}\n")
        self._accepting = asyncio.create_task(self._accept(self._listener))

    async def _accept(self, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        running: set[asyncio.Task[int]] = set()
        with (self._state / "sshd.log").open("ab") as log:
            while True:
                connection, _ = await loop.sock_accept(listener)
                connection.setblocking(True)
                with connection:
                    process = await asyncio.create_subprocess_exec(
                        *self.host.command(_SSHD, "-i", "-e", "-f", str(self._state / "sshd_config")),
                        stdin=connection.fileno(),
                        stdout=connection.fileno(),
                        stderr=log,
                    )
                waiting = asyncio.create_task(process.wait())
                running.add(waiting)
                waiting.add_done_callback(running.discard)

    async def stop(self) -> None:
        """End it with all its sessions; what it has saved stays."""
        if self._accepting is not None:
            self._accepting.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._accepting
        if self._listener is not None:
            self._listener.close()
        self.host.stop()


def make_keys(state: Path) -> None:
    """Make the key that a server shows and the one that logs in, where they are not there yet."""
    state.mkdir(parents=True, exist_ok=True, mode=0o700)
    for name in (HOST_KEY, LOGIN_KEY):
        if not (state / name).is_file():
            command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "qoslab", "-f", str(state / name)]
            subprocess.run(command, check=True)  # noqa: S603


def public_key(state: Path) -> str:
    """The key that the server shows."""
    return " ".join((state / f"{HOST_KEY}.pub").read_text().split()[:2])


def enter(host: CabledHost, lines: Iterable[str]) -> None:
    """Enter commands of ``tc`` and ``nft``, as those of a router's configuration."""
    told = tuple(lines)
    for program, command in (("tc", ("tc", "-batch", "-")), ("nft", ("nft", "-f", "-"))):
        batch = [line.removeprefix(f"{program} ") for line in told if line.startswith(f"{program} ")]
        if batch:
            host.run(*command, data="\n".join(batch) + "\n")


def bound(port: int) -> socket.socket:
    """A socket that listens on loopback at a port, or at another where that is taken; 0: any."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setblocking(False)
    try:
        listener.bind((ADDRESS, port))
    except OSError:
        if not port:
            raise
        listener.close()
        return bound(0)
    listener.listen()
    return listener


SSHD_CONFIG = """\
HostKey {state}/host_key
AuthorizedKeysFile {state}/login_key.pub
StrictModes no
UsePAM no
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
PubkeyAuthentication yes
PrintMotd no
PrintLastLog no
PidFile none
"""
