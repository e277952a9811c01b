"""From where somebody is logged in: the browser and its system by their names, and the address."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

_BROWSERS = (
    ("edg/", "Edge"),
    ("edga/", "Edge"),
    ("edgios/", "Edge"),
    ("opr/", "Opera"),
    ("vivaldi/", "Vivaldi"),
    ("samsungbrowser/", "Samsung Internet"),
    ("firefox/", "Firefox"),
    ("fxios/", "Firefox"),
    ("crios/", "Chrome"),
    ("headlesschrome/", "Chrome"),
    ("chromium/", "Chromium"),
    ("chrome/", "Chrome"),
    ("version/", "Safari"),  # of Apple's own browser; Chrome and Firefox on iOS were told above
)
_SYSTEMS = (
    ("windows", "Windows"),
    ("iphone", "iPhone"),
    ("ipad", "iPad"),
    ("android", "Android"),
    ("cros ", "ChromeOS"),
    ("mac os x", "macOS"),
    ("freebsd", "FreeBSD"),
    ("openbsd", "OpenBSD"),
    ("linux", "Linux"),
)
"""Parts of a User-Agent and what they tell of, the more telling first: Edge calls itself Chrome and Safari, and
Android calls itself Linux (RFC 9110, 10.1.5, and what each maker documents).
"""


@dataclass(frozen=True)
class Client:
    """What a session is opened from: IP address, browser and operating system, each ``None`` where not known."""

    address: str | None = None
    browser: str | None = None
    system: str | None = None


def address_of(host: str | None) -> str | None:
    """An IP address as it is written shortest; ``None`` for whatever else a proxy may call its caller."""
    try:
        return str(ipaddress.ip_address(host or ""))
    except ValueError:
        return None


def client_of(address: str | None, user_agent: str | None) -> Client:
    """The client at ``address`` whose ``User-Agent`` header is ``user_agent``.

    Only known names are told, never a part of the header: it may say anything, and more than is needed.
    """
    sent = (user_agent or "").lower()
    return Client(address_of(address), _first(_BROWSERS, sent), _first(_SYSTEMS, sent))


def _first(names: tuple[tuple[str, str], ...], sent: str) -> str | None:
    return next((name for part, name in names if part in sent), None)
