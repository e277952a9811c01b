"""The first page: what waits for the caller, how every network is, and what ran last."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
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
from qosforge.runs.record.readings import ReadingTimes, devices_not_saved, reading_times
from qosforge.runs.record.run import Run
from qosforge.runs.record.standing import standing_runs
from qosforge.runs.record.store import RunUnknown
from qosforge.runs.record.tables import IN_FORCE, RunStatus, Verdict
from qosforge.runs.requests.addresses import lacks_addresses
from qosforge.runs.requests.change_size import ChangeSize, change_size
from qosforge.runs.views.progress import progress
from qosforge.runs.views.report import last_findings
from qosforge.web.views.between import Unsettled, unsettled_devices
from qosforge.web.views.network_runs import NetworkPolicy, networks_in_force
from qosforge.web.views.objective_counts import ObjectiveCounts, objective_counts
from qosforge.web.views.predicted_change import PredictedChange, predicted_change
from qosforge.web.views.run_refusal import RunRefusal
from qosforge.web.views.run_steps import Step, steps_of
from qosforge.web.views.unread import UnreadCause, still_unread, unread_causes

LAST = 8
"""Ended runs that are listed."""
MOST_BARS = 20
"""Runs that the picture of a network's objectives has."""

_UNWELL = frozenset({RunStatus.FAILED, RunStatus.REJECTED, RunStatus.ROLLED_BACK})

_RUN_ID = re.compile(r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})")

Health = Literal["ok", "warn", "bad", "unknown"]
Bar = Literal["met", "broken", "inconclusive", "unmeasured"]


@dataclass(frozen=True)
class NetworkHealth:
    """A network at a glance: its newest runs (newest first), its drift, and when its devices were read.

    ``drift`` is by the last readings, ``watch`` what was found when drift was last looked for, ``policy`` what its
    runs left in force. Devices ``between`` two states have not drifted: a run of ours touched them. ``unread`` says
    of each device that the last look could not read why; one that was read since is not among them. ``unsaved`` are
    the devices that had lines that they had not saved when they were last read, and that no run is at.
    """

    name: str
    runs: tuple[RunOutline, ...]
    watch: DriftWatch
    readings: ReadingTimes | None
    drift: KnownDrift
    policy: NetworkPolicy
    between: Mapping[str, Unsettled] = field(default_factory=dict)
    unread: Mapping[str, str] = field(default_factory=dict)
    unsaved: tuple[str, ...] = ()

    @property
    def is_known(self) -> bool:
        """Whether anything is known of it: a reading, a run, or that it could not be read."""
        return bool(self.readings or self.runs or self.watch.minutes or self.unreached)

    @property
    def drifted(self) -> frozenset[str]:
        """Devices that are not as the last run left them; one that was read since is judged by that."""
        found = frozenset(self.drift.drifted) | (self.watch.drifted.keys() - frozenset(self.drift.settled))
        return found - self.between.keys()

    @property
    def uncompared(self) -> tuple[str, ...]:
        """Devices that the last look had nothing to compare with, and that no run has settled since."""
        compared = {*self.drift.settled, *self.drift.drifted, *self.drift.pending, *self.between}
        return tuple(device for device in self.watch.uncompared if device not in compared)

    @property
    def half_way(self) -> tuple[str, ...]:
        """Devices that a run left between two states."""
        return tuple(sorted(device for device, one in self.between.items() if one.state == "half_way"))

    @property
    def being_changed(self) -> bool:
        """Whether a run is at devices of it."""
        return any(one.state == "changing" for one in self.between.values())

    @property
    def comparing(self) -> bool:
        """Whether devices are being compared, and none is known to have drifted."""
        return bool(self.drift.pending) and not self.drifted

    @property
    def stays_in_step(self) -> bool:
        """Whether devices are being compared again that were all as the last run left them the time before."""
        return self.comparing and frozenset(self.drift.pending) <= frozenset(self.drift.settled_before)

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
        """How many devices could not be read when drift was last looked for, nor were since."""
        return len(self.unread)

    @property
    def causes(self) -> tuple[UnreadCause, ...]:
        """Why these could not be read."""
        return unread_causes(self.unread)

    @property
    def health(self) -> Health:
        """The network as a whole: the worst of what is known of it."""
        stuck = any(run.status is RunStatus.NEEDS_RECOVERY for run in self.runs)
        if stuck or self.unreached or (self.last and self.last.status is RunStatus.FAILED):
            return "bad"
        if self.drifted or self.unsaved or self.breaking or (self.last and self.last.status in _UNWELL):
            return "warn"
        return "ok" if self.in_step or self.stays_in_step else "unknown"

    @property
    def has_baseline(self) -> bool:
        """Whether a run left its devices as a policy asks, so that there is something to compare them with."""
        return any(run.status in IN_FORCE for run in self.runs)


@dataclass(frozen=True)
class Overview:
    """The first page. Runs are newest first; those ``waiting`` want an approval, those ``stuck`` stopped half-way.

    ``steps`` are what runs are at now, by their ids; ``has_readings`` says whether any device was ever read.
    """

    waiting: tuple[Run, ...]
    stuck: tuple[Run, ...]
    under_way: tuple[Run, ...]
    steps: Mapping[str, Step]
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
        stuck = _of(unfinished, RunStatus.NEEDS_RECOVERY)
        at_work = ((run.id, _step(backend, run)) for run in _of(unfinished, RunStatus.RUNNING))
        return cls(
            waiting=_of(unfinished, RunStatus.NEEDS_APPROVAL),
            stuck=stuck,
            under_way=tuple(run for run in unfinished if run.status not in apart),
            steps={run_id: step for run_id, step in at_work if step is not None},
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

    def predicted(self, run: Run) -> PredictedChange:
        """What is predicted of a run that waits, as far as that is known."""
        return predicted_change(self.backend, run)

    def objectives(self, run: RunOutline | None) -> ObjectiveCounts | None:
        """What a run measured last, in numbers; ``None`` where that is not known."""
        return objective_counts(self.backend, run.id) if run and run.verdict else None

    def refusal(self, run: RunOutline) -> RunRefusal | None:
        """The errors that a run was rejected for; ``None`` where it was not, or they are not there any more."""
        if run.status is not RunStatus.REJECTED:
            return None
        with suppress(ArtifactCorrupt, ArtifactMissing):
            return RunRefusal.of(last_findings(self.backend.run_requests.store, self.backend.artifacts, run.id))
        return None

    def inventory(self, name: str) -> Network | None:
        """What is known of a network before it is read, where that can be used."""
        return next(_usable(self.backend.networks, (name,)), None)

    def lacks_addresses(self, name: str) -> bool:
        """Whether nothing says where the devices of a network are reached."""
        network = self.inventory(name)
        return network is not None and lacks_addresses(self.backend.settings, network)

    @property
    def failed(self) -> tuple[RunOutline, ...]:
        """The last run of a network, where it ended without its change; one of a policy of which a newer run wants
        somebody is told by that.
        """
        newer = {(run.network, run.policy) for run in (*self.waiting, *self.stuck)}
        last = (one.last for one in self.networks if one.last and one.last.status in _UNWELL)
        return tuple(run for run in last if (run.network, run.policy) not in newer)

    @property
    def has_ended_well(self) -> bool:
        """Whether the last run of every network came to what it was for, as far as one ended."""
        return all(one.last is None or one.last.status in IN_FORCE for one in self.networks)

    @property
    def breaking(self) -> tuple[RunOutline, ...]:
        """Runs whose change stands although objectives are broken."""
        return tuple(one.breaking for one in self.networks if one.breaking)

    def stuck_on(self, network: str) -> Run | None:
        """The newest run that stands half-way on a network."""
        return next((run for run in self.stuck if run.network == network), None)

    def between(self, run: Run) -> tuple[str, ...]:
        """The devices that a run left between two states."""
        found = next((one.between for one in self.networks if one.name == run.network), {})
        return tuple(device for device, why in found.items() if why.run.id == run.id)

    @property
    def drifted(self) -> tuple[NetworkHealth, ...]:
        """Networks of which a device could not be read, has lines that are not saved, or drifted for no reason that
        is told already.
        """
        return tuple(one for one in self.networks if one.drifted or one.unread or one.unsaved)

    def words(self, run: RunOutline) -> list[tuple[str, Run | None]]:
        """Why a run ended, in pieces: text, and the runs that it names, as far as they are on the same network."""
        found: list[tuple[str, Run | None]] = []
        for piece in _RUN_ID.split(run.outcome.short if run.outcome else ""):
            named = self._run(piece, run.network) if _RUN_ID.fullmatch(piece) else None
            found.append((piece, named))
        return found

    def _run(self, run_id: str, network: str) -> Run | None:
        with suppress(RunUnknown):
            run = self.backend.run_requests.store.get_run(run_id)
            return run if run.network == network else None
        return None

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
        shown = repr((unfinished, self.steps, self.ended, self.networks))
        return hashlib.sha256(shown.encode()).hexdigest()[:16]


def network_health(backend: Backend, names: Sequence[str]) -> tuple[NetworkHealth, ...]:
    """How networks are, in this order."""
    database = backend.database
    runs = newest_runs(database, names, MOST_BARS + LAST)
    policies = networks_in_force(database, names, runs, MOST_BARS + LAST)
    watches = {watch.network: watch for watch in drift_watches(database)}
    readings = reading_times(database)
    unsettled = unsettled_devices(backend)
    read = list(_usable(backend.networks, (name for name in names if name in readings)))
    drift, unsaved = backend.summaries.drift(read), _not_saved(backend, read, unsettled)
    return tuple(
        NetworkHealth(
            name,
            runs[name],
            watches.get(name, DriftWatch(name)),
            readings.get(name),
            drift.get(name, KnownDrift()),
            policies[name],
            unsettled.get(name, {}),
            still_unread(database, watches[name]) if name in watches else {},
            unsaved.get(name, ()),
        )
        for name in names
    )


def _not_saved(
    backend: Backend, networks: Sequence[Network], unsettled: Mapping[str, Mapping[str, Unsettled]]
) -> dict[str, tuple[str, ...]]:
    """The devices of these networks with lines that are not saved, without those that a run is at."""
    found = devices_not_saved(backend.database)
    return {
        network.name: tuple(
            device.name
            for device in network.devices
            if device.name in found[network.name] and device.name not in unsettled.get(network.name, {})
        )
        for network in networks
        if network.name in found
    }


def _usable(networks: Networks, names: Iterable[str]) -> Iterator[Network]:
    """The networks that can be used; of another one no drift is known, and the list of networks says why."""
    for name in names:
        with suppress(QosforgeError):
            yield networks.network(name)


def _step(backend: Backend, run: Run) -> Step | None:
    """What a run is at; ``None`` between two steps."""
    found = steps_of(run, progress(backend.run_requests.store, run), (), {}, asks=False)
    return next((step for step in found if step.state == "now"), None)


def _of(runs: Sequence[Run], status: RunStatus) -> tuple[Run, ...]:
    return tuple(run for run in runs if run.status is status)
