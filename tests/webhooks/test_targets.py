"""Where webhooks may go."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from qosforge.errors import InputError
from qosforge.webhooks.targets import AllowList, TargetRefused, parse_url
from tests.counted import tried

pytestmark = pytest.mark.hostile


def resolving(*addresses: str) -> Any:
    """A resolver that knows one answer."""

    def resolve(_host: str, port: int, **_: object) -> list[tuple[Any, ...]]:
        return [
            (socket.AF_INET6 if ":" in each else socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, port))
            for each in addresses
        ]

    return resolve


@pytest.mark.parametrize(
    "url",
    [
        "",
        "chat.example.net/hook",
        "ftp://chat.example.net/",
        "file:///etc/passwd",
        "https://",
        "https:///path",
        "https://user:word@chat.example.net/",
        "https://chat.example.net@10.0.0.1/",
        "https://chat.example.net\\@10.0.0.1/",
        "https://chat.example.net/#part",
        "https://chat.example.net:0/",
        "https://chat.example.net:99999/",
        "https://chat.example.net/a b",
        "https://chat.example.net/\r\nHost: other",
        "https://chät.example.net/",
        "https://[fe80::1%25eth0]/",
        "https://chat.example.net/" + "a" * 2048,
        "http://chat.example.net/",
        "http://127.0.0.1.example.net/",
        "http://127.1/",
        "http://10.0.0.1/",
    ],
)
def test_what_is_no_url_of_a_webhook_is_refused(url: str) -> None:
    with pytest.raises(InputError) as told:
        parse_url(url)
    assert told.value.hint
    tried("addresses of webhooks that lead inside, or are none")


def test_a_url_is_read_into_its_parts_and_shown_without_its_path() -> None:
    target = parse_url("https://Chat.Example.NET:8443/services/T0/secret?x=1")
    assert (target.scheme, target.host, target.port, target.path) == (
        "https",
        "chat.example.net",
        8443,
        "/services/T0/secret?x=1",
    )
    assert target.authority == "chat.example.net:8443"
    assert "secret" not in repr(target)
    assert parse_url("http://[::1]/").authority == "[::1]"
    assert parse_url("https://chat.example.net").path == "/"


def test_an_empty_list_allows_nothing() -> None:
    for url in ("https://chat.example.net/", "http://127.0.0.1/", "https://192.0.2.1/"):
        with pytest.raises(InputError, match="not allowed here"):
            AllowList(()).require_possible(parse_url(url))
        with pytest.raises(TargetRefused):
            AllowList(()).addresses(parse_url(url), resolving("93.184.216.34"))


def test_a_named_host_is_reached_at_public_addresses_alone() -> None:
    allowed = AllowList(["chat.example.net"])
    target = parse_url("https://chat.example.net/")
    allowed.require_possible(target)
    assert allowed.addresses(target, resolving("93.184.216.34", "10.0.0.1")) == [
        (socket.AF_INET, ("93.184.216.34", 443))
    ]


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "198.18.0.1"),
        *("0.0.0.0", "224.0.0.1", "255.255.255.255", "240.0.0.1", "192.0.0.1"),
        *("::1", "::", "fe80::1", "fc00::1", "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::7f00:1"),
        *("64:ff9b::7f00:1", "2002:7f00:1::", "2002:a00:1::1"),
    ],
)
@pytest.mark.parametrize("entries", [["chat.example.net"], ["chat.example.net", "0.0.0.0/0", "::/0"]])
def test_a_name_leads_to_nothing_inside(address: str, entries: list[str]) -> None:
    target = parse_url("https://chat.example.net/")
    with pytest.raises(TargetRefused, match="not allowed"):
        AllowList(entries).addresses(target, resolving(address))
    tried("addresses of webhooks that lead inside, or are none")


def test_a_private_network_is_reached_where_it_is_named() -> None:
    allowed = AllowList(["10.2.0.0/24", "127.0.0.0/8", "fd00:1::/64"])
    inside = parse_url("https://tickets.example.net/")
    allowed.require_possible(inside)
    assert allowed.addresses(inside, resolving("10.2.0.9", "10.3.0.9")) == [(socket.AF_INET, ("10.2.0.9", 443))]
    assert allowed.addresses(inside, resolving("fd00:1::5"))
    assert allowed.addresses(inside, resolving("::ffff:10.2.0.9"))
    with pytest.raises(TargetRefused):
        allowed.addresses(inside, resolving("93.184.216.34"))
    with pytest.raises(InputError):
        allowed.require_possible(parse_url("https://10.3.0.1/"))


def test_http_goes_to_the_loopback_alone() -> None:
    allowed = AllowList(["localhost", "127.0.0.0/8", "10.0.0.0/8"])
    local = parse_url("http://localhost:8065/hooks/a")
    assert allowed.addresses(local, resolving("127.0.0.1"))
    with pytest.raises(TargetRefused):
        allowed.addresses(local, resolving("10.0.0.1"))


def test_a_name_that_is_not_known_is_reported_so() -> None:
    def unknown(*_: object, **__: object) -> list[tuple[Any, ...]]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    with pytest.raises(TargetRefused, match=r"chat.example.net is not resolved: Name or service not known"):
        AllowList(["chat.example.net"]).addresses(parse_url("https://chat.example.net/"), unknown)
