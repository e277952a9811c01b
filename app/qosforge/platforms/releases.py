"""Releases of software whose numbers alone order them. Those of routers come in trains (`cisco_ios.trains`)."""

from __future__ import annotations

import re

_RELEASE = re.compile(r"(?<![0-9.])([0-9]{1,4})\.([0-9]{1,4})(?:[.(]([0-9]{1,4}))?")


def stated_release(image: str) -> tuple[int, ...]:
    """The two or three first numbers of the release in an image's name; none where it states none."""
    found = _RELEASE.search(image)
    return tuple(int(number) for number in found.groups() if number) if found else ()


def is_before(image: str, onset: str) -> bool:
    """Whether an image is of an earlier release than ``onset``; one that states none is not."""
    own = stated_release(image)
    return own != () and _whole(own) < _whole(stated_release(onset))


def _whole(numbers: tuple[int, ...]) -> tuple[int, ...]:
    return (*numbers, 0, 0, 0)[:3]
