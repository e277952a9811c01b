"""Shorten names of an intent to what a device accepts."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable

_DIGEST = 4

IDLE_QUEUES = ("QOSFORGE-IDLE", "QOSFORGE-IDL2")
"""What a device that has all of its queues always calls those that no class uses, by the two shares of them."""

CONTROL_QUEUES = ("QOSFORGE-CTRL", "QOSFORGE-CTR2")
"""What a device calls the queue and the rules of network control, where no class of the policy takes it."""

ONE_MATCH_EACH = re.compile(r"(.+)-([A-Z][0-9]{0,2})")
"""How devices whose class-maps have one kind of match each call those of one class."""

ONE_MARK_EACH = re.compile(rf"(.+?)-+(?:[0-9a-f]{{{_DIGEST}}}|[0-9]{{1,2}})")
"""How devices whose rules have one mark each call those of a class that keeps its own: by the DSCP or a digest."""


def shorten(name: str, limit: int) -> str:
    """The name itself where it fits, else its beginning with a digest of the whole; at most ``limit`` characters.

    The same name always gives the same result, and different names differ but for the digest's chance.
    """
    return name if len(name) <= limit else _digested(name, name, limit)


def short_names(names: Iterable[str], limit: int, in_use: Collection[str] = ()) -> dict[str, str]:
    """A name of at most ``limit`` characters for each name, all different and none of ``in_use``."""
    result: dict[str, str] = {}
    for name in dict.fromkeys(names):
        result[name] = short_name(name, limit, {*result.values(), *in_use})
    return result


def short_name(name: str, limit: int, in_use: Collection[str]) -> str:
    """A name of at most ``limit`` characters that is none of ``in_use``."""
    short, attempt = shorten(name, limit), 0
    while short in in_use:
        attempt += 1
        short = _digested(name, f"{name} {attempt}", limit)
    return short


def like_keywords(names: Iterable[str], keywords: Collection[str]) -> set[str]:
    """Those names that a command line could take for a keyword, or for the beginning of one."""
    return {name for name in names if any(word.startswith(name.lower()) for word in keywords)}


def _digested(name: str, whole: str, limit: int) -> str:
    digest = hashlib.sha256(whole.encode()).hexdigest()[:_DIGEST]
    return f"{name[: limit - _DIGEST - 1]}-{digest}"
