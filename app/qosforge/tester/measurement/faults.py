"""Faults of a measurement document: the place, the message and the hint."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

MOST_TOLD = 10
"""Faults of one document that are told one by one."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault: the ``path`` of the entry in what is refused (``flows.3.samples.17``), what is wrong, the hint."""

    path: str
    message: str
    hint: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message} ({self.hint})"


class FaultyMeasurement(ValueError):
    """A measurement, or a flow of one, that contradicts itself or the protocol; its first ``faults``, in order."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(islice(faults, MOST_TOLD))
        super().__init__("; ".join(map(str, self.faults)))
