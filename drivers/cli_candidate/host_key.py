"""The host key that an SSH server shows, before anybody trusts it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import asyncssh

from cli_candidate.legacy import ALGORITHMS
from cli_candidate.route import SessionRoute

_RSA = ("rsa-sha2-512", "rsa-sha2-256")


@dataclass(frozen=True, slots=True)
class HostKey:
    """A public host key as known_hosts has it, ``ssh-ed25519 AAAA…``, and its fingerprint, ``SHA256:…``."""

    public: str
    fingerprint: str


def read_host_key(host: str, port: int, route: SessionRoute, seconds: float, types: Sequence[str] = ()) -> HostKey:
    """The key that a server shows; nobody logs in. One of these ``types`` (``ssh-rsa``) where any are given.

    Raises:
        OSError: it is not reached, is no SSH server, or has no such key; in one line.
    """
    options = {"known_hosts": None, "config": [], "username": "nobody", "login_timeout": seconds}
    legacy = route.transport == "ssh-legacy"
    if legacy:
        options |= {
            key: value for key, value in ALGORITHMS.items() if key not in ("kex_algs", "server_host_key_algs")
        }
    wanted = [
        name
        for kind in types
        for name in ((*_RSA, *(["ssh-rsa"] if legacy else [])) if kind == "ssh-rsa" else (kind,))
    ]

    async def shown() -> asyncssh.SSHKey | None:
        return await asyncssh.get_server_host_key(
            host,
            port,
            proxy_command=list(route.jump) if route.jump else (),
            # Both are arguments of their own: what the options have of them, AsyncSSH's defaults replace.
            kex_algs=ALGORITHMS["kex_algs"] if legacy else (),
            server_host_key_algs=wanted or (ALGORITHMS["server_host_key_algs"] if legacy else ()),
            options=asyncssh.SSHClientConnectionOptions(**options),
            config=[],
        )

    try:
        key = asyncio.run(asyncio.wait_for(shown(), seconds))
    except TimeoutError:
        raise OSError(f"no answer within {seconds:g} s") from None
    except (asyncssh.Error, OSError, ValueError) as error:
        raise OSError(str(error) or type(error).__name__) from error
    if key is None:
        raise OSError("it shows no host key")
    public = " ".join(key.export_public_key().decode().split()[:2])
    return HostKey(public, key.get_fingerprint())
