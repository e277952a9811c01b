"""The numbers of classes in a tree, in hexadecimal digits as tc writes them.

Queue 0 is class ``1:10`` of HTB or HFSC, or the first band of ``ets`` and ``prio``, which count from ``3:1``.
Classes of ``drr`` are numbered as if they were bands, from ``4:1``.
"""

from __future__ import annotations

MAJOR = "1"
WHOLE = f"{MAJOR}:1"
"""The class of the whole interface, above those of the queues."""
ABOVE = "2"
"""The major number of what holds the interface's rate where that is another scheduler than what divides it."""
BANDS = "3"
"""The major number of bands that are served in their order."""
TURNS = "4"
"""The major number of classes of ``drr``."""
_FIRST = 0x10


def minor(queue: int) -> str:
    """The minor number of a queue's class."""
    return format(_FIRST + queue, "x")


def queue_of(class_id: str) -> int | None:
    """The queue of a class; None where it is none of ours."""
    major, _, number = class_id.partition(":")
    queue = int(number, 16) - _FIRST
    return queue if major == MAJOR and queue >= 0 else None


def band_of(class_id: str) -> int | None:
    """The queue of a band (tc-ets(8): "band number increased by one") or of a class of ``drr``; None of others."""
    major, _, number = class_id.partition(":")
    band = int(number, 16) - 1
    return band if major in {BANDS, TURNS} and band >= 0 else None
