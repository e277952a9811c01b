"""What a run's last measurement came to in a line: how many objectives are met, and the one that is missed most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from qosforge.api.backend import Backend
from qosforge.artifacts.store import ArtifactCorrupt, ArtifactMissing
from qosforge.deltaq.objective import BoundVerdict
from qosforge.reports.evidence import excess, observed
from qosforge.reports.table import format_bound
from qosforge.runs.views.report import last_verdicts
from qosforge.tester.measurement.judging import ClassVerdict


@dataclass(frozen=True)
class ObjectiveCounts:
    """Bounds that were judged: ``met`` and ``broken`` of ``judged``.

    ``worst`` is the broken one that is farthest from what is requested; ``None`` where none is broken.
    """

    met: int
    broken: int
    judged: int
    worst: BoundVerdict | None

    @classmethod
    def of(cls, verdicts: Sequence[ClassVerdict]) -> Self:
        """The counts of verdicts."""
        bounds = [bound for each in verdicts for bound in each.verdict.bounds]
        broken = [bound for bound in bounds if bound.outcome == "broken"]
        met = sum(bound.outcome == "met" for bound in bounds)
        return cls(met, len(broken), len(bounds), max(broken, key=excess, default=None))

    @property
    def worst_label(self) -> str:
        """What the worst bound is about, ``delay p95``; empty without one."""
        return self.worst.label if self.worst else ""

    @property
    def worst_seen(self) -> str:
        """What the worst bound came to, with its unit."""
        return observed(self.worst) if self.worst else ""

    @property
    def worst_requested(self) -> str:
        """What the worst bound requests at most, with its unit."""
        return format_bound(self.worst.requested, self.worst.kind) if self.worst else ""


def objective_counts(backend: Backend, run_id: str) -> ObjectiveCounts | None:
    """The counts of what a run measured last; ``None`` where nothing was, or where it is not there any more.

    Raises:
        StoreError: the store is away.
    """
    try:
        found = last_verdicts(backend.run_requests.store, backend.artifacts, run_id)
    except (ArtifactCorrupt, ArtifactMissing):
        return None
    return ObjectiveCounts.of(found) if found else None
