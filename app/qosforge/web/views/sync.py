"""The source of a network's inventory and the difference to it, as pages show them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from qosforge.api.backend import Backend
from qosforge.api.jobs.sync import source_of
from qosforge.api.sync_models import InventorySource, SyncDifference
from qosforge.errors import InputError, QosforgeError
from qosforge.inventory.catalogue import NetworkUnknown
from qosforge.sources.description import SourceMissing
from qosforge.web.views.changes import DiffLine, diff_lines

MOST_CHANGES = 200
MOST_LINES = 1000
"""Changes, and lines of one file, that a page shows: what a browser lays out at once. The interface gives all."""


@dataclass(frozen=True)
class Origin:
    """Where an inventory comes from: a source, none (it is written by hand), or one that is described wrongly."""

    source: InventorySource | None = None
    problems: tuple[QosforgeError, ...] = ()


@dataclass(frozen=True)
class FileView:
    """A file that would be written: the first lines of its difference, and how many more there are."""

    name: str
    new: bool
    lines: tuple[DiffLine, ...]
    more: int


@dataclass(frozen=True)
class DifferenceView:
    """A difference as its page shows it; ``counts`` are changes by kind, ``more`` those that are not shown."""

    found: SyncDifference
    counts: Counter[str]
    more: int
    files: tuple[FileView, ...]

    @classmethod
    def of(cls, found: SyncDifference) -> DifferenceView:
        """Of a difference."""
        files = []
        for file in found.files:
            lines = tuple(diff_lines(file.diff))
            files.append(FileView(file.file, file.new, lines[:MOST_LINES], max(0, len(lines) - MOST_LINES)))
        counts = Counter[str](change.kind for change in found.changes)
        return cls(found, counts, max(0, len(found.changes) - MOST_CHANGES), tuple(files))


def origin(backend: Backend, network: str) -> Origin:
    """Where a network's inventory comes from; its source is not read.

    Raises:
        NetworkUnknown: there is no such network.
    """
    try:
        return Origin(InventorySource.of(source_of(backend, network)))
    except NetworkUnknown:
        raise
    except SourceMissing:
        return Origin()
    except InputError as error:
        return Origin(problems=tuple(error.problems()))
