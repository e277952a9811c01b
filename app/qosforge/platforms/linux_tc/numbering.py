"""The numbers of classes in a tree: queue 0 is class ``1:10``, in hexadecimal digits as tc writes them."""

from __future__ import annotations

MAJOR = "1"
WHOLE = f"{MAJOR}:1"
"""The class of the whole interface, above those of the queues."""
_FIRST = 0x10


def minor(queue: int) -> str:
    """The minor number of a queue's class."""
    return format(_FIRST + queue, "x")


def queue_of(class_id: str) -> int | None:
    """The queue of a class; None where it is none of ours."""
    major, _, number = class_id.partition(":")
    queue = int(number, 16) - _FIRST
    return queue if major == MAJOR and queue >= 0 else None
