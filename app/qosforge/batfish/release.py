"""Whether a Batfish service is of the release that our client is made for.

A published image and the client of the same day have the same number, YYYY.MM.DD.N: its publisher gives them
one number, and tests each release against those of the last 90 days. A service built from source says its line of
development, as 0.36.0, instead.
"""

from __future__ import annotations

import json
from datetime import date
from enum import Enum
from http.client import HTTPException
from importlib.metadata import version

from qosforge.batfish.http_exchange import Address, exchange

SOURCE_LINE = (0, 36)
"""The line of development whose answers this release was tried with."""
_TESTED_DAYS = 90


class Match(Enum):
    """How near the release of a service is to that of the client."""

    SAME = "same"
    NEAR = "near"
    OTHER = "other"


class NoRelease(Exception):
    """What answers does not say which Batfish it is; the message says what it does."""


def client_release() -> str:
    """The release of the client that is installed, as images are tagged."""
    year, month, day, number = (int(part) for part in version("pybatfish").split("."))
    return f"{year}.{month:02}.{day:02}.{number}"


def service_release(address: Address, seconds: float) -> str:
    """What a service says that it is.

    Raises:
        OSError: it does not answer, or not within ``seconds``.
        NoRelease: it answers something else.
    """
    try:
        status, body = exchange(address, "GET", "/v2/version", seconds)
    except HTTPException as error:
        raise NoRelease(f"broke its answer off ({type(error).__name__})") from error
    if status >= 400:
        raise NoRelease(f"answered {status}")
    try:
        return str(json.loads(body)["Batfish"])
    except (ValueError, KeyError, TypeError) as error:
        raise NoRelease("answers, and is no Batfish") from error


def match(service: str, client: str) -> Match:
    """How near two releases are; one that is not understood is another one."""
    theirs, ours = _numbers(service), _numbers(client)
    if theirs[:1] == (0,):
        return Match.SAME if theirs[:2] == SOURCE_LINE else Match.OTHER
    if theirs == ours and theirs:
        return Match.SAME
    days = [_day(numbers) for numbers in (theirs, ours)]
    if None in days:
        return Match.OTHER
    apart = abs((days[0] or date.min) - (days[1] or date.min)).days
    return Match.NEAR if apart <= _TESTED_DAYS else Match.OTHER


def _numbers(release: str) -> tuple[int, ...]:
    parts = release.strip().split(".")
    return tuple(int(part) for part in parts) if all(p.isascii() and p.isdigit() for p in parts) else ()


def _day(numbers: tuple[int, ...]) -> date | None:
    try:
        return date(*numbers[:3])
    except (TypeError, ValueError, OverflowError):
        return None
