"""Two hosts and a router between them, as network namespaces: h1 – r – h2, with IPv4 and IPv6.

For tests of probes alone. It takes root; ``why_not`` says what is missing.
"""

from __future__ import annotations

import ctypes
import os
import socket
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from tests import parts

MTU = 1500
_TRIES = 500
_NETWORK = 0x40000000  # CLONE_NEWNET of <sched.h>


def why_not() -> str | None:
    """Why there can be no namespaces here; ``None`` where there can."""
    if missing := parts.why_not("namespaces"):
        return missing
    if os.geteuid() != 0 or subprocess.run(["unshare", "-n", "true"], capture_output=True, check=False).returncode:
        return "network namespaces: they take root (CAP_SYS_ADMIN)"
    return None


@dataclass(frozen=True)
class Hosts:
    """The names of the namespaces, and the addresses of both hosts by the version of IP."""

    h1: str
    r: str
    h2: str
    addresses: ClassVar = {4: ("10.9.1.1", "10.9.2.1"), 6: ("fd09:1::1", "fd09:2::1")}

    def run(self, namespace: str, *command: str) -> str:
        """Run a command in a namespace; its output."""
        return subprocess.run(
            ["ip", "netns", "exec", namespace, *command], capture_output=True, text=True, check=True
        ).stdout


@contextmanager
def inside(namespace: str) -> Iterator[None]:
    """Let this thread open its sockets in a namespace."""
    libc = ctypes.CDLL(None, use_errno=True)
    with Path("/proc/thread-self/ns/net").open() as own, Path("/run/netns", namespace).open() as other:
        if libc.setns(other.fileno(), _NETWORK):
            raise OSError(ctypes.get_errno(), f"setns: {namespace}")
        try:
            yield
        finally:
            libc.setns(own.fileno(), _NETWORK)


@contextmanager
def two_hosts() -> Iterator[Hosts]:
    """The hosts, which can reach each other; nothing is left of them."""
    tag = uuid.uuid4().hex[:6]
    hosts = Hosts(*(f"qfp-{tag}-{name}" for name in ("h1", "r", "h2")))
    try:
        _run("\n".join(f"netns add {name}" for name in (hosts.h1, hosts.r, hosts.h2)))
        for number, host in enumerate((hosts.h1, hosts.h2), start=1):
            _run(f"link add e0 netns {host} type veth peer name p{number} netns {hosts.r}")
            for namespace, device, last in ((host, "e0", 1), (hosts.r, f"p{number}", 254)):
                v6 = {1: "1", 254: "fe"}[last]
                _run(
                    f"addr add 10.9.{number}.{last}/24 dev {device}\n"
                    f"addr add fd09:{number}::{v6}/64 dev {device} nodad\n"
                    f"link set lo up\nlink set {device} mtu {MTU} up",
                    namespace,
                )
            _run(f"route add default via 10.9.{number}.254\n-6 route add default via fd09:{number}::fe", host)
        for setting in ("ipv4/ip_forward", "ipv6/conf/all/forwarding"):
            hosts.run(hosts.r, "sh", "-c", f"echo 1 > /proc/sys/net/{setting}")
        _await_way(hosts)
        yield hosts
    finally:
        for name in (hosts.h1, hosts.r, hosts.h2):
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)


def _await_way(hosts: Hosts) -> None:
    """Until packets of IPv6 arrive both ways: its routers take up to a second to find the first neighbours."""
    one, other = hosts.addresses[6]
    port, ends = 9, []  # that of the discard service (RFC 863)
    for namespace, address in ((hosts.h1, one), (hosts.h2, other)):
        with inside(namespace):
            ends.append(socket.socket(socket.AF_INET6, socket.SOCK_DGRAM))
        ends[-1].bind((address, port))
        ends[-1].settimeout(0.02)
    with ends[0], ends[1]:
        waiting = {0, 1}
        for _ in range(_TRIES):
            for sender, target in ((0, other), (1, one)):
                ends[sender].sendto(b"there?", (target, port))
            for receiver in sorted(waiting):
                with suppress(TimeoutError):
                    ends[receiver].recv(16)
                    waiting.remove(receiver)
            if not waiting:
                return
    raise TimeoutError(f"nothing arrives between {one} and {other}")


def _run(lines: str, namespace: str | None = None) -> None:
    for line in lines.splitlines():
        words = ["ip", *(("-n", namespace) if namespace else ()), *line.split()]
        subprocess.run(words, check=True, capture_output=True)
