"""Browsers are told by their names alone; what a header says beside them is not taken over."""

from __future__ import annotations

import pytest

from qosforge.access.clients import Client, client_of

MOZILLA, WEBKIT = "Mozilla/5.0", "AppleWebKit/537.36 (KHTML, like Gecko)"
APPLE = "AppleWebKit/605.1.15 (KHTML, like Gecko)"


@pytest.mark.parametrize(
    ("sent", "browser", "system"),
    [
        (f"{MOZILLA} (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0", "Firefox", "Linux"),
        (f"{MOZILLA} (Macintosh; Intel Mac OS X 10.15; rv:128.0) Gecko/20100101 Firefox/128.0", "Firefox", "macOS"),
        (f"{MOZILLA} (Windows NT 10.0; Win64; x64) {WEBKIT} Chrome/126.0.0.0 Safari/537.36", "Chrome", "Windows"),
        (
            f"{MOZILLA} (Windows NT 10.0; Win64; x64) {WEBKIT} Chrome/126.0.0.0 Safari/537.36 Edg/126.0.0.0",
            "Edge",
            "Windows",
        ),
        (f"{MOZILLA} (Linux; Android 10; K) {WEBKIT} Chrome/126.0.0.0 Mobile Safari/537.36", "Chrome", "Android"),
        (
            f"{MOZILLA} (iPhone; CPU iPhone OS 17_5 like Mac) {APPLE} Version/17.5 Mobile/15E148",
            "Safari",
            "iPhone",
        ),
        (
            f"{MOZILLA} (iPad; CPU OS 17_5 like Mac) {APPLE} CriOS/126.0.6478.54 Mobile/15E148",
            "Chrome",
            "iPad",
        ),
        (f"{MOZILLA} (X11; CrOS x86_64 14541.0.0) {WEBKIT} Chrome/126.0.0.0 Safari/537.36", "Chrome", "ChromeOS"),
        ("curl/8.8.0", None, None),
        ("<b>Firefox/1</b> somebody@example.net", "Firefox", None),
        ("", None, None),
        (None, None, None),
    ],
)
def test_browser_and_system_of_a_header(sent: str | None, browser: str | None, system: str | None) -> None:
    assert client_of("192.0.2.7", sent) == Client("192.0.2.7", browser, system)


@pytest.mark.parametrize(
    ("host", "address"),
    [("2001:DB8::0:1", "2001:db8::1"), ("", None), (None, None), ("<script>", None), ("9" * 500, None)],
)
def test_an_address_is_one_or_nothing(host: str | None, address: str | None) -> None:
    assert client_of(host, None).address == address
