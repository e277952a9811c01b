"""Host keys of devices: the one that a device shows, those that are known, and the file they are recorded in."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cli_candidate.host_key import HostKey, read_host_key
from cli_candidate.known_hosts import known_keys
from cli_candidate.route import SessionRoute, known_hosts_name

from qosforge.deploy.route import CONNECT_SECONDS, LoginTarget
from qosforge.errors import DeviceError, InputError, Place
from qosforge.settings import Settings

_SYSTEM = Path("~/.ssh/known_hosts")
"""What Paramiko's ``load_system_host_keys`` reads."""


@dataclass(frozen=True)
class ShownKey:
    """The host key that a device shows.

    ``known``: it is the one that is known; ``other``: another one is. ``name`` is the device as known_hosts has it.
    """

    device: str
    name: str
    key: HostKey
    known: bool
    other: bool


def trusted_files(settings: Settings) -> tuple[Path, ...]:
    """Where known host keys are looked for: OpenSSH's file of who runs this, and the one that we record in."""
    return (_SYSTEM.expanduser(), settings.known_hosts_file)


def shown_key(device: str, target: LoginTarget, files: Sequence[Path]) -> ShownKey:
    """The host key that a device shows now, beside those of the ``files``. Nobody logs in.

    Raises:
        DeviceError: it is not reached, or is no SSH server.
        InputError: it is reached by telnet, which has none.
    """
    arguments = target.arguments
    route = SessionRoute(arguments.get("transport", "ssh"), tuple(arguments.get("jump", ())))
    if route.transport == "telnet":
        raise InputError("it is reached by telnet, which has no host keys", Place(device=device), "leave it out")
    name = known_hosts_name(target.hostname, arguments["port"])
    known = _known(name, files)
    try:
        # Of a device with several keys, the kind that is known is the one to compare.
        key = read_host_key(
            target.hostname, arguments["port"], route, CONNECT_SECONDS, [k.split()[0] for k in known]
        )
    except OSError as error:
        hint = "is it up, and its address right?"
        if route.transport == "ssh":
            hint += " an old device needs the transport ssh-legacy, or telnet, which has no host keys"
        raise DeviceError(f"cannot be reached: {error}", Place(device=device), hint) from None
    return ShownKey(device, name, key, key.public in known, bool(known) and key.public not in known)


def record_key(file: Path, shown: ShownKey) -> None:
    """Write the key of a device into a file, in place of others that it has for it.

    Raises:
        InputError: the file cannot be written.
    """
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with file.with_name(f"{file.name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
            kept = [line for line in lines if not _names(line, shown.name)]
            _replace(file, "".join(f"{line}\n" for line in (*kept, f"{shown.name} {shown.key.public}")))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"cannot be written: {error}", Place(file=str(file)), "set QOSFORGE_KNOWN_HOSTS_FILE"
        ) from None


def _known(name: str, files: Sequence[Path]) -> list[str]:
    found = known_keys([str(file) for file in files if file.is_file()], name).lookup(name) or {}
    return [f"{kind} {key.get_base64()}" for kind, key in found.items()]


def _names(line: str, name: str) -> bool:
    """Whether a line is about this host and no other."""
    fields = line.split()
    return len(fields) >= 3 and fields[0] == name


def _replace(file: Path, text: str) -> None:
    """Put a file in its place whole; nobody else may change which keys are trusted."""
    descriptor, made = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as writing:
            writing.write(text)
            writing.flush()
            os.fsync(writing.fileno())
        Path(made).replace(file)
    except BaseException:
        Path(made).unlink(missing_ok=True)
        raise
