"""Classes of ``drr``, served in turn where the kernel has no ``ets``: inside the port's rate, or in the last band.

Each sends its quantum of bytes in a turn (tc-drr(8)), which are in the ratio of the shares. The priority that rules
write chooses a class, as in other trees; packets that none of ours has told, as those of ARP, get one by a filter.
Nothing below may hold packets back, which would stop the turns.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from napalm_linux_tc.turns import KIND, readable

from qosforge.commands.reading import ReadConfiguration, ReadLine
from qosforge.plan.model import Discipline, Queue, Scheduler, Share, ShareUnit
from qosforge.plan.request import ClassRequest
from qosforge.platforms.linux_tc.numbering import TURNS, band_of

DRR = KIND
"""As the ``features`` of an inventory name it."""


@dataclass(frozen=True)
class Turn:
    """A class as tc takes it: its bytes in a turn, the handle and the words of its queue, one command each."""

    number: str
    quantum: int
    handle: str
    queue: tuple[str, ...]


def has_turns(scheduler: Scheduler) -> bool:
    """Whether classes of ``drr`` serve the queues without priority."""
    return scheduler.discipline is Discipline.DRR


def serves(classes: Sequence[ClassRequest], schedulers: Collection[str], bands: Collection[str]) -> bool:
    """Whether ``drr`` serves classes in turn below a rate; those of priority need one of ``bands`` before it."""
    first = any(c.treatment.priority is not None for c in classes)
    return DRR in schedulers and (not first or bool({*bands} & {*schedulers}))


def turn_id(number: int) -> str:
    """The class of a queue."""
    return f"{TURNS}:{number + 1:x}"


def with_readable_quanta(queues: Sequence[Queue]) -> tuple[Queue, ...]:
    """Queues whose bytes of a turn are known again when the kernel's are shown."""
    return tuple(queue.model_copy(update={"share": queue.share and _readable(queue.share)}) for queue in queues)


def _readable(share: Share) -> Share:
    return share.model_copy(update={"value": readable(share.value)})


def turn_queues(reading: ReadConfiguration, dev: str, limits: Callable[[str], dict[str, Any]]) -> Iterator[Queue]:
    """The queues of an interface's classes of ``drr``; ``limits`` tells what bounds the queue of a class."""
    for entry in reading.all("turn"):
        number = band_of(entry["id"])
        if entry["dev"] == dev and number is not None:
            share = Share(unit=ShareUnit.WEIGHT, value=entry["quantum"])
            yield Queue(number=number, share=share, **limits(entry["id"]))


def default_turn(reading: ReadConfiguration, turns: ReadLine) -> int | None:
    """The queue of what nothing tells. Without one the kernel drops that: the line is kept as not understood."""
    found = next((e for e in reading.all("untold") if e["dev"] == turns["dev"]), None)
    if found is None:
        reading.miss(turns)
    return None if found is None else band_of(found["id"])
