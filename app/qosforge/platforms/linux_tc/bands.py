"""Bands of ``ets`` and ``prio``: priority without a cap, and what is divided below it.

What holds the interface's rate has the bands inside. Those of priority are strict: each is served until it is empty
before the next one is looked at. Behind them
``ets`` serves the other classes in turn, by quanta of bytes
(tc-ets(8), deficit round robin); ``prio`` has one band for all others (tc-prio(8)), which is the queue of the one
class that is left, or holds a tree of HTB, or of `qosforge.platforms.linux_tc.turns`. In ``ets`` nothing that holds
packets back may stand in a band that has a quantum (tc-ets(8), "ALGORITHM"): classes with a limit are those of HTB,
too.

Packets that nothing of ours has told, as those of ARP, go to the last band by the ``priomap``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from qosforge.plan.model import Discipline, Queue, Scheduler, Share, ShareUnit
from qosforge.platforms.linux_tc.capabilities import CAPABILITIES
from qosforge.platforms.linux_tc.numbering import BANDS, MAJOR, minor
from qosforge.platforms.linux_tc.turns import has_turns, turn_id

HTB, TBF, ETS, PRIO = "htb", "tbf", "ets", "prio"
"""Schedulers, as ``tc`` and the ``features`` of an inventory name them."""
MOST_BANDS = 16
"""``TCQ_ETS_MAX_BANDS`` and ``TCQ_PRIO_BANDS`` (include/uapi/linux/pkt_sched.h)."""
TURN_BYTES = 1600
"""What the class of the greatest share sends in a turn at least: a whole packet. More makes turns longer."""
_LEAST_SHARE = 1e-4
_PRIORITIES = 16
"""Entries of a ``priomap``: TC_PRIO_MAX + 1."""


@dataclass(frozen=True)
class Band:
    """A band as tc takes it: its class, the handle and the words of the queue in it, one command each."""

    number: str
    handle: str
    queue: tuple[str, ...]


def has_bands(scheduler: Scheduler) -> bool:
    """Whether every class has a band of its own."""
    return scheduler.discipline is Discipline.WFQ


def has_inner_tree(scheduler: Scheduler) -> bool:
    """Whether the last band holds a tree of HTB, or classes of ``drr``."""
    return not has_bands(scheduler) and any(map(is_strict, scheduler.queues))


def is_strict(queue: Queue) -> bool:
    """Whether a queue is served first without a cap."""
    return queue.priority and not queue.capped


def class_id(scheduler: Scheduler | None, number: int) -> str:
    """The class of a queue's packets, as rules choose it."""
    if scheduler is not None:
        queue = next((each for each in scheduler.queues if each.number == number), None)
        banded = has_bands(scheduler) or (has_inner_tree(scheduler) and queue is not None and is_strict(queue))
        if banded:
            return f"{BANDS}:{number + 1:x}"
        if has_turns(scheduler):
            return turn_id(number)
    return f"{MAJOR}:{minor(number)}"


def band_words(scheduler: Scheduler, schedulers: Collection[str]) -> str:
    """What serves the bands of a tree, of the schedulers that the kernel has."""
    strict = sum(map(is_strict, scheduler.queues))
    quanta = [_quantum(queue) for queue in scheduler.queues if not is_strict(queue)]
    if has_inner_tree(scheduler):
        kind, bands, quanta = (PRIO if PRIO in schedulers else ETS), strict + 1, []
    else:
        kind = ETS if ETS in schedulers or len(quanta) > 1 else PRIO
        bands = len(scheduler.queues)
    last = " ".join([str(bands - 1)] * _PRIORITIES)
    if kind == PRIO:
        return f"prio bands {bands} priomap {last}"
    in_turn = f" quanta {' '.join(map(str, quanta))}" if quanta else ""
    return f"ets strict {strict if quanta else bands}{in_turn} priomap {last}"


def _quantum(queue: Queue) -> int:
    return queue.share.value if queue.share is not None else TURN_BYTES


def with_quanta(queues: Sequence[Queue], shares: Mapping[str, float]) -> tuple[Queue, ...]:
    """Queues with bands of their own: their shares as bytes of a turn; ``shares`` are parts of the link."""
    parts = {q.number: max(shares[q.name or ""], _LEAST_SHARE) for q in queues if not q.priority}
    least, most = CAPABILITIES.turn.minimum, CAPABILITIES.turn.maximum
    scale = max(TURN_BYTES / max(parts.values(), default=1.0), least / min(parts.values(), default=1.0))
    turns = {
        number: Share(unit=ShareUnit.WEIGHT, value=min(max(round(scale * part), least), most))
        for number, part in parts.items()
    }
    return tuple(queue.model_copy(update={"share": turns.get(queue.number)}) for queue in queues)
