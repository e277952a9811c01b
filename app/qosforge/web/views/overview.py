"""The runs of the first page."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Self

from qosforge.runs.record.run import Run
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.tables import RunStatus
from qosforge.web.views.runs import fingerprint

LAST = 8
"""Ended runs that are shown."""


@dataclass(frozen=True)
class Overview:
    """Runs that wait for an approval, that are not over otherwise, and those that ended last; newest first."""

    waiting: tuple[Run, ...]
    under_way: tuple[Run, ...]
    ended: tuple[Run, ...]

    @classmethod
    def of(cls, store: RunStore, networks: Collection[str] | None) -> Self:
        """Of these networks; ``None``: of all."""
        unfinished = [run for run in store.unfinished_runs() if networks is None or run.network in networks][::-1]
        # Enough of the newest that the last ended ones are among them, however many are under way.
        newest = store.list_runs(LAST + len(unfinished), networks=networks)
        return cls(
            waiting=tuple(run for run in unfinished if run.status is RunStatus.NEEDS_APPROVAL),
            under_way=tuple(run for run in unfinished if run.status is not RunStatus.NEEDS_APPROVAL),
            ended=tuple(run for run in newest if run.status.final)[:LAST],
        )

    @property
    def mark(self) -> str:
        """Changes with what is shown."""
        return fingerprint((*self.waiting, *self.under_way, *self.ended))
