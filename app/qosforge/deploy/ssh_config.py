"""What OpenSSH's configuration says of a device and of the jump hosts before it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qosforge.errors import InputError, Place

# Nobody is there to be asked, and a jump host with another key is no jump host.
_UNATTENDED = ("-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=yes")


@dataclass(frozen=True)
class SshEntry:
    """Where a host really is, and the command that carries a connection to it; empty where none is needed.

    ``key_files`` are private keys that are there.
    """

    hostname: str
    port: int
    username: str | None = None
    key_files: tuple[Path, ...] = ()
    command: tuple[str, ...] = ()


class SshConfig:
    """OpenSSH's configuration file, read once; one that is not there says nothing."""

    def __init__(self, path: Path) -> None:
        """Read it.

        Raises:
            InputError: it cannot be read.
        """
        self._path = path
        self._text: str | None = None
        try:
            self._text = path.read_text(encoding="utf-8") if path.is_file() else None
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"cannot be read: {error}", Place(file=str(path)), "correct it") from None

    def entry(
        self, hostname: str, port: int | None, default_port: int, username: str | None, jump: str | None
    ) -> SshEntry:
        """What holds for a host that an inventory names; the ``port``, user name and ``jump`` that it gives weigh
        more.

        Raises:
            InputError: the file is no such configuration.
        """
        found = self._found(hostname, port, username)
        real, real_port = found.get("hostname", hostname), int(found.get("port", port or default_port))
        hops = jump or found.get("proxyjump")
        return SshEntry(
            hostname=real,
            port=real_port,
            username=found.get("user"),
            key_files=tuple(path for name in found.get("identityfile", ()) if (path := Path(name)).is_file()),
            command=self._command(found.get("proxycommand"), None if hops == "none" else hops, real, real_port),
        )

    def _found(self, hostname: str, port: int | None, username: str | None) -> dict[str, Any]:
        if self._text is None:
            return {}
        # It takes long to import, and most machines have no such file.
        from paramiko import SSHConfig, SSHException  # noqa: PLC0415

        # The first value holds (ssh_config(5)), also in what a proxy's command is completed with.
        given = "Host *\n" + (f"Port {port}\n" if port else "") + (f"User {username}\n" if username else "")
        try:
            return dict(SSHConfig.from_text(given + self._text).lookup(hostname))
        except (SSHException, ValueError) as error:
            raise InputError(f"cannot be read: {error}", Place(file=str(self._path)), "correct it") from None

    def _command(self, proxy: str | None, hops: str | None, hostname: str, port: int) -> tuple[str, ...]:
        if hops:
            *before, last = hops.split(",")
            file = ("-F", str(self._path)) if self._text is not None else ()
            through = ("-J", ",".join(before)) if before else ()
            target = f"[{hostname}]:{port}" if ":" in hostname else f"{hostname}:{port}"
            return ("ssh", *file, *_UNATTENDED, *through, "-W", target, *_destination(last))
        if proxy and proxy != "none":
            return ("/bin/sh", "-c", f"exec {proxy}")
        return ()


def _destination(hop: str) -> tuple[str, ...]:
    """A jump host as ``ssh`` takes it: its port is an option of its own."""
    user, at, host = hop.rpartition("@")
    if host.startswith("["):
        name, _, port = host[1:].partition("]")
        port = port.removeprefix(":")
    else:
        name, _, port = host.partition(":")
    return (*(("-p", port) if port else ()), f"{user}{at}{name}")
