"""Random early detection with a profile for each mark: the words of a ``gred`` queue, and what ``tc`` shows of it.

A queue of ``gred`` has up to 16 virtual queues, each with thresholds of its own, and the four low bits of a
packet's ``tc_index`` say which is the packet's (``tc_index_to_dp`` in net/sched/sch_gred.c). Where virtual queues
have the same ``prio`` (``grio``), all of them look at one average of the whole queue: that is WRED
(``gred_wred_mode_check``). The kernel keeps that average in the fixed point of the weight, and lets it fall by the
table of the virtual queue whose packet ends the idle time: so all have one weight here, and one ``avpkt``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from napalm_linux_tc.answers import whole
from napalm_linux_tc.red import (
    MOST_WEIGHT,
    burst_for,
    cell,
    chance_words,
    denominator_of,
    held_bandwidth,
    packets_tried,
)

MOST_QUEUES = 15
"""Virtual queues that are used: number 0 is what packets have that nothing chose one for (``MAX_DPs`` is 16)."""
_PRIO = 1
_FLAGS = ("harddrop", "adaptive", "nodrop")
_OPTIONS = {"dp_cnt", "dp_default", "grio", "limit", "ecn", *_FLAGS, "vqs"}
_QUEUE = {"vq", "prio", "limit", "min", "max", "ecn", *_FLAGS, "ewma", "probability", "Scell_log"}

Virtual = tuple[int, int, int, int]
"""A virtual queue: its number, thresholds (bytes), and the packets of which one is dropped at the upper one."""


@cache
def average_words(thresholds: tuple[int, ...], weight: int) -> tuple[int, tuple[int, ...]] | None:
    """``avpkt``, and the ``burst`` of each lower threshold (bytes), that give this weight's exponent."""
    for packet in packets_tried(min(thresholds)):
        bursts = tuple(burst_for(minimum, packet, weight) for minimum in thresholds)
        if None not in bursts:
            return packet, tuple(burst for burst in bursts if burst is not None)
    return None


def gred_words(*, limit: int, queues: Sequence[Virtual], weight: int, ecn: bool, rate: int) -> tuple[str, ...]:
    """The words of a queue of ``limit`` bytes and those of its virtual queues; ``rate`` in bits per second.

    Packets that nothing chose a virtual queue for are in the first one.

    Raises:
        ValueError: no words give the average this weight.
    """
    average = average_words(tuple(minimum for _, minimum, _, _ in queues), weight)
    if average is None:
        raise ValueError(f"no averages of weight 2^-{weight} begin at so many bytes")
    packet, bursts = average
    numbers = [number for number, *_ in queues]
    words = [f"gred setup DPs {max(numbers) + 1} default {numbers[0]} grio limit {limit}b"]
    for (number, minimum, maximum, denominator), burst in zip(queues, bursts, strict=True):
        words.append(
            f"gred limit {limit}b min {minimum}b max {maximum}b avpkt {packet}b burst {burst} "
            f"probability {chance_words(denominator)} bandwidth {held_bandwidth(rate)}bit "
            f"DP {number} prio {_PRIO}{' ecn' if ecn else ''}"
        )
    return tuple(words)


def shown_words(options: Mapping[str, Any], rate: int) -> tuple[str, ...]:
    """The words of a queue by what ``tc -j`` shows of it; none where it was entered with others."""
    if set(options) != _OPTIONS or options["grio"] is not True or any(options[f] for f in ("ecn", *_FLAGS)):
        return ()
    limit, held = whole(options["limit"]), options["vqs"]
    if not held or any(not set(each) >= _QUEUE or any(each[f] for f in _FLAGS) for each in held):
        return ()
    alike = {(each["prio"], each["limit"], each["ewma"], each["ecn"]) for each in held}
    weight, ecn = whole(held[0]["ewma"]), held[0]["ecn"] is True
    if alike != {(_PRIO, limit, weight, ecn)} or not 0 < weight <= MOST_WEIGHT:
        return ()
    queues: list[Virtual] = []
    for each in held:
        number, minimum, maximum = (whole(each[name]) for name in ("vq", "min", "max"))
        denominator = denominator_of(float(each["probability"]))
        if denominator is None or not 0 < minimum < maximum or not 0 < number <= MOST_QUEUES:
            return ()
        queues.append((number, minimum, maximum, denominator))
    average = average_words(tuple(minimum for _, minimum, _, _ in queues), weight)
    if average is None or {cell(weight, average[0], rate)} != {each["Scell_log"] for each in held}:
        return ()
    numbers = [number for number, *_ in queues]
    if (options["dp_cnt"], options["dp_default"]) != (max(numbers) + 1, numbers[0]):
        return ()
    return gred_words(limit=limit, queues=queues, weight=weight, ecn=ecn, rate=rate)
