"""The host keys that OpenSSH's known_hosts files have of one host (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT).

Paramiko reads a whole file for each connection and looks every line up among those before it: n devices cost n³
comparisons. Here a file is read once, and again when it has changed. Paramiko also takes a line with a marker for a
broken one and connects to nobody then.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import asyncssh
import paramiko
from paramiko.hostkeys import HostKeyEntry
from paramiko.ssh_exception import SSHException

_HASHED = "|1|"
_REVOKED = "@revoked"
_KEY = 3
"""The field of a marked line that has the key."""
_Version = tuple[tuple[str, int, int, int], ...]
"""Path, inode, time of the last change (ns) and size (bytes) of each file."""


class RevokedHostKey(SSHException):
    """A device shows a host key that known_hosts marks as revoked."""


class RevokedKeyPolicy(paramiko.MissingHostKeyPolicy):  # type: ignore[misc]  # paramiko is untyped here
    """Refuses revoked keys before ``policy`` says what becomes of those that are not known."""

    def __init__(self, policy: paramiko.MissingHostKeyPolicy, files: Iterable[str]) -> None:
        self._policy = policy
        self._files = tuple(files)

    def missing_host_key(self, client: paramiko.SSHClient, hostname: str, key: paramiko.PKey) -> None:
        """See Paramiko.

        Raises:
            RevokedHostKey: the key is marked as revoked, of whatever host.
        """
        if key.get_base64() in _lines(_version(self._files)).revoked:
            raise RevokedHostKey(f"{hostname} shows a host key that is marked as revoked in known_hosts")
        self._policy.missing_host_key(client, hostname, key)


def known_keys(files: Iterable[str], name: str) -> paramiko.HostKeys:
    """What the files have of the host ``name`` (as `known_hosts_name` gives it), and no other.

    Of keys of one type the first counts. A key that is marked as revoked, of whatever host, is left out. Patterns
    and certificate authorities are not read: Paramiko verifies no certificates.

    Raises:
        InvalidHostKey: a line about this host is broken.
        OSError: a file cannot be read.
    """
    found = paramiko.HostKeys()
    lines = _lines(_version(files))
    about = [*lines.plain.get(name, ()), *((number, line) for number, line in lines.hashed if _hashes(line, name))]
    for number, line in sorted(about):
        with contextlib.suppress(SSHException):  # no key of the type it says: passed over, as by Paramiko
            entry = HostKeyEntry.from_line(line, number)
            if entry is None or entry.key.get_base64() in lines.revoked:
                continue
            if entry.key.get_name() not in (found.lookup(name) or {}):
                found.add(name, entry.key.get_name(), entry.key)
    return found


def known_patterns(files: Iterable[str]) -> asyncssh.SSHKnownHosts:
    """The files for AsyncSSH, which reads patterns and markers, too.

    Raises:
        OSError: a file cannot be read.
        ValueError: a line is broken.
    """
    return _patterns(_version(files))


@dataclass(frozen=True)
class _Lines:
    """Numbered lines by each plain name that they have, those with hashed names, and revoked keys in base64."""

    plain: dict[str, list[tuple[int, str]]]
    hashed: list[tuple[int, str]]
    revoked: set[str]


def _version(files: Iterable[str]) -> _Version:
    found = []
    for file in files:
        status = Path(file).stat()
        found.append((file, status.st_ino, status.st_ctime_ns, status.st_size))
    return tuple(found)


@functools.lru_cache(maxsize=8)
def _lines(version: _Version) -> _Lines:
    found = _Lines({}, [], set())
    text = "\n".join(Path(file).read_text(encoding="utf-8", errors="replace") for file, *_ in version)
    for number, line in enumerate(text.splitlines(), 1):
        fields = line.split()
        if not fields or fields[0].startswith("#"):
            continue
        if fields[0].startswith("@"):
            if fields[0] == _REVOKED and len(fields) > _KEY:
                found.revoked.add(fields[_KEY])
            continue
        if _HASHED in fields[0]:
            found.hashed.append((number, line.strip()))
        for name in fields[0].split(","):
            found.plain.setdefault(name, []).append((number, line.strip()))
    return found


def _hashes(line: str, name: str) -> bool:
    names = line.split(maxsplit=1)[0].split(",")
    return any(each.startswith(_HASHED) and paramiko.HostKeys.hash_host(name, each) == each for each in names)


@functools.lru_cache(maxsize=8)
def _patterns(version: _Version) -> asyncssh.SSHKnownHosts:
    return asyncssh.import_known_hosts("\n".join(Path(file).read_text(encoding="utf-8") for file, *_ in version))
