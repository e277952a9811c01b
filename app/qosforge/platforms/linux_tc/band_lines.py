"""Read the bands of ``ets`` and ``prio`` into queues."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from qosforge.commands.reading import ReadLine
from qosforge.plan.model import Queue, Share, ShareUnit
from qosforge.platforms.linux_tc.bands import TURN_BYTES
from qosforge.platforms.linux_tc.numbering import BANDS, band_of


def band_count(bands: ReadLine) -> int:
    """How many bands a line makes."""
    count: int = bands["bands"] if bands.id == "prio" else bands["strict"] + len(bands.get("quanta", ()))
    return count


def band_numbers(bands: ReadLine, inner: ReadLine | None) -> tuple[str, ...]:
    """The classes of the bands that are queues: all of them, but for the last where it holds a tree."""
    return tuple(f"{BANDS}:{band + 1:x}" for band in range(band_count(bands) - (inner is not None)))


def is_ours(bands: ReadLine, *, inner: bool) -> bool:
    """Whether a plan has words for a line of bands; ``inner`` says whether the last one holds a tree.

    Bands of others may be in another order, or send packets of no class elsewhere than to the last one.
    """
    return set(bands["priomap"]) == {band_count(bands) - 1} and not (inner and bands.get("quanta"))


def banded_queues(
    bands: ReadLine, limits: Mapping[str, dict[str, Any]], *, inner: ReadLine | None
) -> Iterator[Queue]:
    """The queues in bands, by their classes; ``limits`` are what bounds each, ``inner`` a tree in the last band."""
    quanta = bands.get("quanta", ())
    # What prio serves last is alone there, as the one class that is served in turn.
    strict = bands["strict"] if bands.id == "ets" else bands["bands"] - 1
    for number, held in limits.items():
        band = band_of(number) or 0
        first = band < strict
        turn = quanta[band - strict] if not first and quanta else TURN_BYTES
        yield Queue(
            number=band,
            priority=first,
            share=None if first else Share(unit=ShareUnit.WEIGHT, value=turn),
            level=band + 1 if inner is not None and inner.id == "inner" else None,
            **held,
        )
