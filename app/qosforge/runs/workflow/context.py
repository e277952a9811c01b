"""The context of a run attempt: the stores, the run's parameters, its devices, and who observes it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import ParamSpec, TypeVar

from qosforge.artifacts.store import Artifacts
from qosforge.batfish.check import BatfishCheck
from qosforge.batfish.http_exchange import Address
from qosforge.compiler.compile import Compilation
from qosforge.deploy.device_driver import DeviceDriver
from qosforge.deploy.fleet import Fleet, Outcome
from qosforge.deploy.route import Route, lab_route
from qosforge.deploy.sessions import ProcessEnding, Sessions
from qosforge.errors import QosforgeError
from qosforge.findings import Finding
from qosforge.intent.loader import LoadedIntent, parse_intent
from qosforge.inventory.models import Network
from qosforge.platforms.device_text import DeviceText
from qosforge.runs.engine.computing import Computing
from qosforge.runs.record.readings import last_text
from qosforge.runs.record.resolved_run import ResolvedRun
from qosforge.runs.record.stop_signal import StopSignal
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.tables import JournalAction, RunStatus
from qosforge.runs.workflow.rules import NetworkRules

P = ParamSpec("P")
T = TypeVar("T")

Observer = Callable[[str, str], None]
"""Told the name of a stage and a line on what it is doing."""


@dataclass
class Context:
    """One attempt at a run in this process."""

    run_id: str
    resolved: ResolvedRun
    store: RunStore
    artifacts: Artifacts
    watch: Observer
    rules: NetworkRules
    computing: Computing
    attempt: int = 1
    sessions: Sessions = field(default_factory=Sessions)
    route: Callable[[Path | None], Route] = lab_route
    """The way to the devices by the lab's state folder, ``None``: outside labs."""
    compiled: tuple[Mapping[str, str], Compilation] | None = field(default=None, repr=False)
    """What `recompile` gave last, behind the configurations that it was for."""

    def stop(self) -> StopSignal | None:
        """Whether the run has to stop: somebody cancelled it, or its time is over."""
        run = self.store.get_run(self.run_id)
        if run.cancelled_by is not None:
            return StopSignal(status=RunStatus.CANCELLED, reason=f"cancelled by {run.cancelled_by}")
        if run.deadline is not None and self.store.now() >= run.deadline:
            return StopSignal(status=RunStatus.FAILED, reason="timed out")
        return None

    def on_devices(
        self,
        devices: Iterable[str],
        task: Callable[[str, DeviceDriver], T],
        *,
        stoppable: bool = True,
        steps: Sequence[Sequence[str]] = (),
        paced: bool = False,
    ) -> Mapping[str, Outcome[T]]:
        """Run a task on devices; see `Fleet.run`. Unless it is not ``stoppable``, they are left when the run has to
        stop.

        Raises:
            ProcessEnding: devices were left because the process ends.
        """
        outcomes = self.fleet.run(devices, task, stoppable=stoppable, steps=steps, paced=paced)
        if self.sessions.closed is not None and any(outcome.error for outcome in outcomes.values()):
            raise ProcessEnding(self.sessions.closed)
        return outcomes

    def compute(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """``function(*args, **kwargs)`` in a process beside, until the run has to stop.

        Raises:
            RunStopped: it has to.
            TooBusy, TookTooLong, TookTooMuch, ComputeDied: as `Compute.call`.
        """
        with self._shown():
            return self.computing.run(self.run_id, self.stop, function, *args, **kwargs)

    def compute_to_end(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """As `compute`, for what must come to its end: devices are touched, or about to be rolled back."""
        with self._shown():
            return self.computing.run_to_end(self.run_id, function, *args, **kwargs)

    def check_with_batfish(self, check: BatfishCheck) -> tuple[Finding, ...]:
        """What the Batfish of the run finds, or that it did not check; no computing process waits for it.

        Raises:
            RunStopped: the run has to stop.
            ProcessEnding: the process ends.
        """
        resolved = self.resolved
        host = resolved.batfish_host
        address = None if host is None else Address(host, resolved.batfish_port)
        return self.computing.check_with_batfish(self.stop, check, address, require=resolved.require_batfish)

    @contextmanager
    def _shown(self) -> Iterator[None]:
        """What fails over a device's configuration may say what stands there: it goes through the device's door."""
        try:
            yield
        except QosforgeError as error:
            device = error.where.device
            if device is not None and any(device == known.name for known in self.network.devices):
                self.fleet.words(device).shown_in(error)
            raise

    def observe(self, stage: str, text: str) -> None:
        """Say what a stage is doing: to who watches this process, and to who reads the run's events."""
        self.watch(stage, text)
        self.store.events.progress(self.run_id, stage, text)

    def report_device(self, device: str, action: str) -> None:
        """Say that one device of many was looked at."""
        self.store.events.device(self.run_id, device, action)

    @cached_property
    def intent(self) -> LoadedIntent:
        """The intent as it was when the run was made."""
        resolved = self.resolved
        return parse_intent(
            self.artifacts.get_text(resolved.intent_artifact),
            resolved.intent_file,
            resolved.intent_parameters,
            {name: self.artifacts.get_text(kept) for name, kept in resolved.intent_included.items()},
        )

    @cached_property
    def network(self) -> Network:
        """The network as it was when the run was made."""
        return Network.model_validate_json(self.artifacts.get_text(self.resolved.network_artifact))

    @property
    def lab(self) -> Path | None:
        """State folder of the lab, where the devices are emulated."""
        return Path(self.resolved.lab) if self.resolved.lab else None

    @cached_property
    def fleet(self) -> Fleet:
        """Connections of this process; a resumed run opens its own."""
        known = partial(last_text, self.store.database, self.artifacts, self.network.name)
        return Fleet(self.network, self.route(self.lab), self.sessions, until=self._stop_reason, earlier=known)

    def _stop_reason(self) -> str | None:
        stop = self.stop()
        return stop.reason if stop else None

    def close(self) -> None:
        """Close what was opened."""
        if "fleet" in self.__dict__:
            self.fleet.close()

    def configuration(self, device: str, artifact: str) -> DeviceText:
        """What a device said that it holds, by the artifact of it."""
        return self.artifacts.get_configuration(artifact, self.fleet.words(device))

    def record(
        self, device: str, action: str, *, before: DeviceText | None = None, delta: str = "", note: str = ""
    ) -> None:
        """Journal port of the transaction: texts become artifacts, and a note is what may be shown of it."""
        self.store.journal.append(
            self.run_id,
            device,
            JournalAction(action),
            before=self.artifacts.put_configuration(before) if before is not None else None,
            delta=self.artifacts.put_text(delta) if delta else None,
            note=self.fleet.words(device).in_message(note),
        )
