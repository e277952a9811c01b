"""Real OpenSSH servers on the loopback, each of its own folder, user and keys; and an agent."""

from __future__ import annotations

import os
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from getpass import getuser
from pathlib import Path

SSHD = Path("/usr/sbin/sshd")
_START_SECONDS = 60

# Carries a terminal's bytes, unchanged, to a port and back: what a device's own shell would be.
_BRIDGE = """
import os, select, socket, sys
peer = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
while True:
    ready, _, _ = select.select([0, peer], [], [])
    if peer in ready:
        data = peer.recv(65536)
        if not data:
            break
        os.write(1, data)
    if 0 in ready:
        data = os.read(0, 65536)
        if not data:
            break
        peer.sendall(data)
"""


@dataclass(frozen=True)
class Server:
    """A server that runs: where it listens, and its host key as known_hosts has it."""

    port: int
    host_key: str
    log: Path

    @property
    def known(self) -> str:
        """Its line of a known_hosts file."""
        return f"[127.0.0.1]:{self.port} {self.host_key}\n"


def new_key(path: Path, *options: str) -> str:
    """Make a key pair; the public part."""
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path), *options]
    subprocess.run(command, check=True)
    return " ".join(Path(f"{path}.pub").read_text().split()[:2])


@contextmanager
def server(
    folder: Path, allowed: list[str], shell: int | None = None, *options: str, any_command: bool = False
) -> Iterator[Server]:
    """Start a server that lets these public keys in as who runs the tests.

    Behind a login stands the command line at the port ``shell``; ``None``: nothing but forwarding, or
    ``any_command``. ``options`` are lines of sshd_config.
    """
    folder.mkdir()
    host_key = new_key(folder / "host_key")
    (folder / "allowed").write_text("".join(f"{key}\n" for key in allowed))
    bridge = folder / "bridge.py"
    bridge.write_text(_BRIDGE)
    # The terminal is made ready before anything that takes time: what is typed meanwhile is not lost.
    through = f"stty raw -echo; exec {shlex.join([sys.executable, '-S', str(bridge), str(shell)])}"
    command = through if shell is not None else "/bin/false"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    lines = [
        f"Port {port}",
        "ListenAddress 127.0.0.1",
        f"HostKey {folder / 'host_key'}",
        f"AuthorizedKeysFile {folder / 'allowed'}",
        f"PidFile {folder / 'pid'}",
        "StrictModes no",
        "UsePAM no",
        "PasswordAuthentication no",
        "KbdInteractiveAuthentication no",
        *([] if any_command else [f"ForceCommand {command}"]),
        "LogLevel VERBOSE",
        *options,
    ]
    (folder / "config").write_text("\n".join(lines) + "\n")
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    log = folder / "log"
    with log.open("w") as words:
        process = subprocess.Popen([str(SSHD), "-D", "-e", "-f", str(folder / "config")], stderr=words)
    try:
        _await(port, process, log)
        yield Server(port, host_key, log)
    finally:
        process.terminate()
        process.wait()


@contextmanager
def bastion(folder: Path) -> Iterator[str]:
    """A jump host that runs, by the name ``bastion``; OpenSSH's configuration for it."""
    key = folder / "id"
    with server(folder / "sshd", [new_key(key)], None) as jump:
        (folder / "known_jump").write_text(jump.known)
        yield (
            f"Host bastion\n  HostName 127.0.0.1\n  Port {jump.port}\n  User {user()}\n"
            f"  IdentityFile {key}\n  IdentitiesOnly yes\n  UserKnownHostsFile {folder / 'known_jump'}\n"
        )


@contextmanager
def agent(folder: Path, key: Path) -> Iterator[str]:
    """An agent that holds a key; where its socket is."""
    path = str(folder / "agent")
    process = subprocess.Popen(["ssh-agent", "-D", "-a", path], stdout=subprocess.DEVNULL)
    try:
        end = time.monotonic() + _START_SECONDS
        with socket.socket(socket.AF_UNIX) as asking:
            # Its socket is there a moment before it listens.
            while asking.connect_ex(path) and time.monotonic() < end:
                time.sleep(0.02)
        environment = {**os.environ, "SSH_AUTH_SOCK": path}
        subprocess.run(["ssh-add", "-q", str(key)], check=True, env=environment)
        yield path
    finally:
        process.terminate()
        process.wait()


def user() -> str:
    """Who may log in."""
    return getuser()


def _await(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + _START_SECONDS
    while time.monotonic() < end:
        if process.poll() is not None:
            break
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError(f"sshd does not listen: {log.read_text()}")
