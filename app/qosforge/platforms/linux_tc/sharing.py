"""Trees of ``hfsc``: each class with its share as a link-sharing curve, and priority as a real-time curve.

HTB holds the whole at the port's rate; ``hfsc`` below it divides that. A class of priority is served at the whole
rate for as long as its burst takes, and at its own from then on (``rt``). What others leave is divided by share,
whatever the priority (``ls``), so that a class that is served in time takes no more of the link for it. The two are
apart in HFSC (Stoica, Zhang, Ng 1997), as in D-CBQ (Risso 2001), and one in HTB.
"""

from __future__ import annotations

from dataclasses import dataclass

from napalm_linux_tc.curves import LONGEST_US, readable_us

from qosforge.plan.model import Queue
from qosforge.platforms.linux_tc.capabilities import CAPABILITIES

HFSC = "hfsc"
"""The scheduler, as ``tc`` and the ``features`` of an inventory name it."""
_US = 1_000_000


@dataclass(frozen=True)
class SharedClass:
    """A class of a tree as tc takes it, and the words of the queue below it and of its virtual queues.

    ``above`` is the number of the class that it is in, "" where that is the tree itself.
    """

    number: str
    above: str
    curves: str
    queue: tuple[str, ...]


def held_priority_burst(size: float, rate: int, link: int) -> int:
    """The burst (bytes above its share) of a priority class that can be read back, near ``size``; rates in b/s.

    It holds a packet at least, as a bucket of HTB does. Whole bytes of less would not always tell the time again.
    """
    return burst_of(_time_us(max(size, CAPABILITIES.burst.minimum), rate, link), rate, link)


def burst_of(time_us: int, rate: int, link: int) -> int:
    """Bytes above its share that a class sends which is served at the link's rate for a time."""
    return max(round(max(link - rate, 0) * time_us / 8 / _US), 1)


def curves(queue: Queue, link: int) -> str:
    """The service curves of a class of a port of ``link`` b/s."""
    assert queue.share is not None
    words = []
    if queue.priority:
        time_us = _time_us(queue.burst or 1, queue.share.value * 1000, link)
        words.append(f"rt m1 {link // 1000}kbit d {time_us}us m2 {queue.share.value}kbit")
    words.append(f"ls m2 {queue.share.value}kbit")
    if queue.shape_rate is not None:
        words.append(f"ul m2 {queue.shape_rate // 1000}kbit")
    return " ".join(words)


def rate_of(queue: Queue) -> int:
    """What a class has for sure (b/s)."""
    assert queue.share is not None
    return queue.share.value * 1000


def _time_us(size: float, rate: int, link: int) -> int:
    """How long the link sends a burst beside the class's share."""
    found: int = readable_us(min(8 * _US * size / max(link - rate, 1), LONGEST_US))
    return found
