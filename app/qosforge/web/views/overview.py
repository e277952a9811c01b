"""The first page: what waits for the caller, how every network is, and what ran last."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Literal, Self

from qosforge.access.roles import Principal
from qosforge.api.backend import Backend
from qosforge.api.run_pages import visible_networks
from qosforge.artifacts.store import ArtifactCorrupt, ArtifactMissing
from qosforge.device_state.drift_watch import DriftState, DriftWatch, drift_watches
from qosforge.device_state.summaries import KnownDrift
from qosforge.errors import QosforgeError
from qosforge.inventory.catalogue import Networks
from qosforge.inventory.models import Network
from qosforge.runs.record.outlines import RunOutline, newest_runs
from qosforge.runs.record.readings import ReadingTimes, reading_times
from qosforge.runs.record.run import Run
from qosforge.runs.record.standing import standing_runs
from qosforge.runs.record.tables import IN_FORCE, RunStatus, Verdict
from qosforge.runs.requests.change_size import ChangeSize, change_size

LAST = 8
"""Ended runs that are listed."""
MOST_BARS = 20
"""Runs that the picture of a network's objectives has."""

_UNWELL = frozenset({RunStatus.FAILED, RunStatus.REJECTED, RunStatus.ROLLED_BACK})

Health = Literal["ok", "warn", "bad", "unknown"]
Bar = Literal["met", "broken", "inconclusive", "unmeasured"]


@dataclass(frozen=True)
class NetworkHealth:
    """A network at a glance: its newest runs (newest first), its drift, and when its devices were read.

    ``drift`` is by the last readings, ``watch`` what was found when drift was last looked for.
    """

    name: str
    runs: tuple[RunOutline, ...]
    watch: DriftWatch
    readings: ReadingTimes | None
    drift: KnownDrift

    @property
    def is_known(self) -> bool:
        """Whether anything is known of it: a reading, a run, or that it could not be read."""
        return bool(self.readings or self.runs or self.watch.minutes or self.unreached)

    @property
    def drifted(self) -> frozenset[str]:
        """Devices that are not as the last run left them; one that was read since is judged by that."""
        return frozenset(self.drift.drifted) | (self.watch.drifted.keys() - frozenset(self.drift.settled))

    @property
    def comparing(self) -> bool:
        """Whether devices are being compared, and none is known to have drifted."""
        return bool(self.drift.pending) and not self.drifted

    @property
    def in_step(self) -> bool:
        """Whether devices were compared and none drifted."""
        return (
            not self.drifted
            and not self.comparing
            and bool(self.drift.settled or self.watch.state is DriftState.IN_STEP)
        )

    @property
    def looked(self) -> datetime | None:
        """When drift was last looked for, or a device read."""
        times = [self.watch.looked, self.readings.newest if self.readings else None]
        return max((at for at in times if at is not None), default=None)

    @property
    def last(self) -> RunOutline | None:
        """The newest run that is over."""
        return next((run for run in self.runs if run.status.final), None)

    @property
    def unfinished(self) -> RunOutline | None:
        """The newest run, where it is not over."""
        return self.runs[0] if self.runs and not self.runs[0].status.final else None

    @property
    def standing(self) -> RunOutline | None:
        """The run whose verdict is about what the devices hold now: the newest one that was kept, or that found
        them as its policy asks and measured that. What was rolled back judged what is gone, whoever rolled it back.
        """
        found = (run for run in standing_runs(self.runs) if not run.takes_away)
        return next((run for run in found if run.status is RunStatus.KEPT or run.verdict), None)

    @property
    def was_measured(self) -> bool:
        """Whether any of its runs was measured, whatever became of it."""
        return any(run.verdict for run in self.runs)

    @property
    def breaking(self) -> RunOutline | None:
        """The run whose change stands although objectives of its policy are broken."""
        return self.standing if self.standing and self.standing.verdict is Verdict.BROKEN else None

    @property
    def bars(self) -> tuple[tuple[RunOutline, Bar], ...]:
        """The last runs that are over, the oldest first, by what became of their objectives."""
        over = [run for run in self.runs if run.status.final][:MOST_BARS]
        return tuple((run, run.verdict.value if run.verdict else "unmeasured") for run in reversed(over))

    @property
    def counts(self) -> dict[Bar, int]:
        """How many of the bars there are of each kind."""
        kinds = [kind for _, kind in self.bars]
        return {kind: kinds.count(kind) for kind in ("met", "broken", "inconclusive", "unmeasured")}

    @property
    def unreached(self) -> int:
        """Devices that could not be read when drift was last looked for."""
        return len(self.watch.unread)

    @property
    def health(self) -> Health:
        """The network as a whole: the worst of what is known of it."""
        stuck = any(run.status is RunStatus.NEEDS_RECOVERY for run in self.runs)
        if stuck or self.unreached or (self.last and self.last.status is RunStatus.FAILED):
            return "bad"
        if self.drifted or self.breaking or (self.last and self.last.status in _UNWELL):
            return "warn"
        return "ok" if self.in_step else "unknown"

    @property
    def has_baseline(self) -> bool:
        """Whether a run left its devices as a policy asks, so that there is something to compare them with."""
        return any(run.status in IN_FORCE for run in self.runs)


@dataclass(frozen=True)
class Overview:
    """The first page. Runs are newest first; those ``waiting`` want an approval, those ``stuck`` stopped half-way.

    ``has_readings`` says whether any device was ever read.
    """

    waiting: tuple[Run, ...]
    stuck: tuple[Run, ...]
    under_way: tuple[Run, ...]
    ended: tuple[RunOutline, ...]
    networks: tuple[NetworkHealth, ...]
    has_readings: bool
    backend: Backend

    @classmethod
    def of(cls, backend: Backend, caller: Principal) -> Self:
        """What a caller sees."""
        seen, names = visible_networks(caller), caller.networks(backend.networks.names())
        store = backend.run_requests.store
        unfinished = [run for run in store.unfinished_runs() if seen is None or run.network in seen][::-1]
        health = network_health(backend, names)
        ended = sorted(
            (run for one in health for run in one.runs if run.status.final), key=attrgetter("id"), reverse=True
        )
        apart = (RunStatus.NEEDS_APPROVAL, RunStatus.NEEDS_RECOVERY)
        return cls(
            waiting=_of(unfinished, RunStatus.NEEDS_APPROVAL),
            stuck=_of(unfinished, RunStatus.NEEDS_RECOVERY),
            under_way=tuple(run for run in unfinished if run.status not in apart),
            ended=tuple(ended[:LAST]),
            networks=health,
            has_readings=any(one.readings for one in health),
            backend=backend,
        )

    def size(self, run: Run) -> ChangeSize | None:
        """How much a run that waits would change, as far as it prepared that and its files are whole."""
        try:
            return change_size(self.backend.run_requests.store, self.backend.artifacts, run)
        except (ArtifactCorrupt, ArtifactMissing):
            return None

    def inventory(self, name: str) -> Network | None:
        """What is known of a network before it is read, where that can be used."""
        return next(_usable(self.backend.networks, (name,)), None)

    @property
    def failed(self) -> tuple[RunOutline, ...]:
        """The last run of a network, where it ended without its change; one of a policy of which a newer run wants
        somebody is told by that.
        """
        newer = {(run.network, run.policy) for run in (*self.waiting, *self.stuck)}
        last = (one.last for one in self.networks if one.last and one.last.status in _UNWELL)
        return tuple(run for run in last if (run.network, run.policy) not in newer)

    @property
    def breaking(self) -> tuple[RunOutline, ...]:
        """Runs whose change stands although objectives are broken; a later run that ended badly is told instead."""
        told = {run.network for run in self.failed}
        return tuple(one.breaking for one in self.networks if one.breaking and one.name not in told)

    @property
    def drifted(self) -> tuple[NetworkHealth, ...]:
        """Networks of which a device is not as the last run left it, or could not be read."""
        return tuple(one for one in self.networks if one.drifted or one.watch.unread)

    @property
    def known(self) -> tuple[NetworkHealth, ...]:
        """Networks of which something is known."""
        return tuple(one for one in self.networks if one.is_known)

    @property
    def unknown(self) -> tuple[NetworkHealth, ...]:
        """Networks of which nothing is known yet."""
        return tuple(one for one in self.networks if not one.is_known)

    @property
    def is_new(self) -> bool:
        """Whether nobody ever began a run: the first steps are shown."""
        return not any(one.runs for one in self.networks)

    @property
    def mark(self) -> str:
        """Changes with what is shown."""
        unfinished = [(run.id, run.updated) for run in (*self.waiting, *self.stuck, *self.under_way)]
        shown = repr((unfinished, self.ended, self.networks))
        return hashlib.sha256(shown.encode()).hexdigest()[:16]


def network_health(backend: Backend, names: Sequence[str]) -> tuple[NetworkHealth, ...]:
    """How networks are, in this order."""
    database = backend.database
    runs = newest_runs(database, names, MOST_BARS + LAST)
    watches = {watch.network: watch for watch in drift_watches(database)}
    readings = reading_times(database)
    drift = backend.summaries.drift(list(_usable(backend.networks, (name for name in names if name in readings))))
    return tuple(
        NetworkHealth(
            name,
            runs[name],
            watches.get(name, DriftWatch(name)),
            readings.get(name),
            drift.get(name, KnownDrift()),
        )
        for name in names
    )


def _usable(networks: Networks, names: Iterable[str]) -> Iterator[Network]:
    """The networks that can be used; of another one no drift is known, and the list of networks says why."""
    for name in names:
        with suppress(QosforgeError):
            yield networks.network(name)


def _of(runs: Sequence[Run], status: RunStatus) -> tuple[Run, ...]:
    return tuple(run for run in runs if run.status is status)
