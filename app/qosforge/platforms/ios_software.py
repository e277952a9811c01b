"""Recognise the platform of an IOS device by the name of its image."""

from __future__ import annotations

import re

_PLATFORMS = (
    (r"C295[05]\b", "catalyst_2950"),
    (r"C(2970|3560|3750)\b", "catalyst_2970"),
    (r"CAT9K", "catalyst_9000"),
    (r"C(8\d\d|1[678]\d\d|19\d\d|2[568]\d\d|2951|36\d\d|37[024]\d|38\d\d|39\d\d|7[25]00)[A-Z]*\b", "cisco_ios"),
)
"""By the names of images; the 2600 stands for IOS routers in general. First match wins."""


def platform_of(software: str) -> str | None:
    """The platform whose images have names like ``C2950-I6K2L2Q4-M``; ``None``: none of ours."""
    return next((name for pattern, name in _PLATFORMS if re.match(pattern, software)), None)


def image_of(platform: str, release: str, version: str) -> str:
    """The image as an inventory writes it, by its release and the whole answer to ``show version``.

    A Catalyst 2950 names the kind of its image in a line of its own ("Running Enhanced Image" in published boot
    logs).
    """
    if platform != "catalyst_2950":
        return release
    return f"{release}-{'EI' if 'Running Enhanced Image' in version else 'SI'}"
