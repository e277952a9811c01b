"""Targets of webhooks: their URLs, and the installation's allow list of hosts and networks.

Kept against requests forged by the service itself (Standard Webhooks 1.0.0, "Server side request forgery"): an
address counts by what it resolves to, is resolved once, and the connection goes to the address that was checked.
Which addresses are no public ones is what the registries of IANA say, as Python's ``ipaddress`` has them.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any
from urllib.parse import urlsplit

from qosforge.errors import InputError, Place, ServiceError

LONGEST_URL = 2048
SETTING = "QOSFORGE_WEBHOOK_HOSTS"

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
Resolve = Callable[..., Sequence[tuple[Any, ...]]]
"""As `socket.getaddrinfo`."""

_PORTS = {"http": 80, "https": 443}
_NAME = re.compile(r"(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*")
_TARGET = re.compile(r"[!-~]*")
_OWN = tuple(
    map(
        ip_network,
        (
            *("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"),  # RFC 1918
            *("100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "198.18.0.0/15"),
            *("::1/128", "fc00::/7", "fe80::/10"),
        ),
    )
)
"""Networks outside the Internet that may be named (RFC 6890: the registries of special-purpose addresses)."""
_NAT64 = ip_network("64:ff9b::/96")  # RFC 6052: the last four bytes are the address that is reached


@dataclass(eq=False)
class TargetRefused(ServiceError):
    """The target is not on the allow list, or resolves to an address that is not allowed."""


@dataclass(frozen=True)
class WebhookTarget:
    """A webhook's URL in parts. ``host`` is in small letters and without brackets; ``path`` has the query, too.

    The path of a chat system's webhook is a secret: it is not part of the ``repr``.
    """

    scheme: str
    host: str
    port: int
    path: str

    def __repr__(self) -> str:
        return f"WebhookTarget({self.origin!r})"

    @property
    def authority(self) -> str:
        """The header ``Host``: the host, and the port where it is not the scheme's own."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """What of the URL may be told: without its path, which may be a secret."""
        return f"{self.scheme}://{self.authority}"


def parse_url(url: str) -> WebhookTarget:
    """The parts of a webhook's URL.

    Raises:
        InputError: it is none, carries a user or a fragment, or is neither ``https`` nor ``http`` on the loopback.
    """

    def wrong(what: str, hint: str = "write https://host/path") -> InputError:
        return InputError(what, Place(path="url"), hint)

    if len(url) > LONGEST_URL or not _TARGET.fullmatch(url):
        raise wrong("this is no URL of a webhook", f"at most {LONGEST_URL} characters, visible ones of ASCII alone")
    try:
        parts = urlsplit(url)
        port, host = parts.port, (parts.hostname or "").rstrip(".")
    except ValueError as error:
        raise wrong("this is no URL of a webhook") from error
    if parts.scheme not in _PORTS or "%" in host or not (_is_address(host) or _NAME.fullmatch(host)) or port == 0:
        raise wrong("this is no URL of a webhook")
    if "@" in parts.netloc or "#" in url:
        raise wrong("a URL of a webhook has no user, password or fragment")
    if parts.scheme == "http" and not _is_loopback(host):
        raise wrong("a webhook is https unless its host is the loopback", "write https://")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return WebhookTarget(parts.scheme, host, port or _PORTS[parts.scheme], path)


class AllowList:
    """The hosts that deliveries may go to: names, and networks. An empty one allows nothing."""

    def __init__(self, entries: Sequence[str]) -> None:
        """``entries``: names of hosts and networks in CIDR, as the setting has them."""
        networks = {entry: _network(entry) for entry in entries}
        self._names = frozenset(entry.lower() for entry, network in networks.items() if network is None)
        self._networks = tuple(network for network in networks.values() if network is not None)

    def require_possible(self, target: WebhookTarget) -> None:
        """Make sure that a delivery could go there; what a name resolves to is seen when one is sent.

        Raises:
            InputError: none ever could.
        """
        if _is_address(target.host):
            possible = self._allows(ip_address(target.host), named=False)
        else:
            possible = target.host in self._names or bool(self._networks)
        if not possible:
            raise InputError(
                f"webhooks to {target.host} are not allowed here",
                Place(path="url"),
                f"name the host, or its network, in {SETTING} of `serve` and every worker",
            )

    def addresses(self, target: WebhookTarget, resolve: Resolve | None = None) -> list[tuple[int, tuple[Any, ...]]]:
        """Family and socket address of every place where the target may be reached, resolved this once.

        Raises:
            TargetRefused: the name is not known, or nothing that it resolves to is allowed.
        """
        named = target.host in self._names
        if not named and not self._networks:
            raise self._refusal(f"{target.host} is not among the allowed hosts")
        try:
            found = (resolve or socket.getaddrinfo)(target.host, target.port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            why = getattr(error, "strerror", None) or "no such name"
            raise TargetRefused(
                f"{target.host} is not resolved: {why}", hint="correct the URL or the DNS"
            ) from error
        good = []
        for family, _kind, _protocol, _canonical, where in found:
            if family not in (socket.AF_INET, socket.AF_INET6):
                continue
            address = ip_address(str(where[0]).partition("%")[0])
            plain = target.scheme == "http"
            if self._allows(address, named) and (not plain or _effective_address(address).is_loopback):
                good.append((int(family), where))
        if not good:
            shown = ", ".join(sorted({str(entry[4][0]) for entry in found})[:3])
            raise self._refusal(f"{target.host} is at {shown}, which is not allowed")
        return good

    def _allows(self, address: Address, named: bool) -> bool:
        reached = _effective_address(address)
        if reached.is_multicast or reached.is_unspecified or (reached.is_reserved and not reached.is_loopback):
            return False
        listed = [network for network in self._networks if reached in network]
        if reached.is_global:
            return named or bool(listed)
        # 0.0.0.0/0 names no network of ours: who means a private one writes it.
        return any(_is_within(network, own) for network in listed for own in _OWN)

    @staticmethod
    def _refusal(why: str) -> TargetRefused:
        return TargetRefused(why, hint=f"name the host, or its network, in {SETTING} of the process that sends")


def _effective_address(address: Address) -> Address:
    """The address that packets go to: that inside an IPv6 address which only wraps an IPv4 one."""
    if isinstance(address, IPv4Address):
        return address
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    teredo = address.teredo[1] if address.teredo else None
    return address.ipv4_mapped or address.sixtofour or teredo or address


def _is_within(network: Network, other: Network) -> bool:
    if isinstance(network, IPv4Network):
        return isinstance(other, IPv4Network) and network.subnet_of(other)
    return isinstance(other, IPv6Network) and network.subnet_of(other)


def _network(entry: str) -> Network | None:
    try:
        return ip_network(entry)
    except ValueError:
        return None


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _is_loopback(host: str) -> bool:
    return host == "localhost" or (_is_address(host) and _effective_address(ip_address(host)).is_loopback)
