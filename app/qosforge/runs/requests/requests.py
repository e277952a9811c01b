"""Requests of people and pipelines to runs. Each is recorded as a row; executors act on the rows."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import sqlalchemy as sa

from qosforge.artifacts.store import canonical_json
from qosforge.compiler.waves import require_canary
from qosforge.deploy.driver_and_platform import require_installed
from qosforge.deploy.route import lab_of
from qosforge.errors import InputError, Place
from qosforge.inventory.models import Network
from qosforge.inventory.writable import read_only
from qosforge.policy_library.trust import find_distrust, require_runnable
from qosforge.reports.model import RunReport
from qosforge.runs.record.decisions import Decision
from qosforge.runs.record.events import Event, EventKind
from qosforge.runs.record.idempotency import IdempotencyKey
from qosforge.runs.record.invalid_state import InvalidState, require_status, require_stoppable
from qosforge.runs.record.lineage import RunAction
from qosforge.runs.record.next_try import bring_forward
from qosforge.runs.record.reason import Reason, retry
from qosforge.runs.record.rollbacks import require_rollback_possible
from qosforge.runs.record.rollout_record import LEAVES_OUT, left_out
from qosforge.runs.record.run import Run
from qosforge.runs.record.status_events import next_attempt_columns
from qosforge.runs.record.store import RunChange
from qosforge.runs.record.tables import RunStatus
from qosforge.runs.requests.decisions import RunDecisions, bounded, cancelled_columns
from qosforge.runs.requests.resolve import RunDocuments, digest, require_valid, resolve_run
from qosforge.runs.requests.retry_conditions import STARTS, require_reached, require_retriable
from qosforge.runs.requests.run_request import RunRequest
from qosforge.runs.views.report import run_report
from qosforge.runs.workflow.external_tester import receive
from qosforge.runs.workflow.pause import require_pausable, require_paused
from qosforge.telemetry.traces import current_traceparent
from qosforge.tester.measurement.document import Measurement, Side

MOST_EVENTS = 500
LONGEST_KEY = 255


class RunRequests(RunDecisions):
    """Starts runs, and stops, pauses, retries and rolls them back; decides on them, too.

    Needs no engine, and may be used from any thread and process.
    """

    def submit(
        self, request: RunRequest, documents: RunDocuments, who: str, key: str | None = None
    ) -> tuple[Run, bool]:
        """Record a run, with the documents that its request names; the same ``key`` of the same person gives the
        same run.

        Returns:
            The run, and whether it was newly made.

        Raises:
            InputError: the network is read-only, or a driver is none of its device's platform; the run should
                measure, and the intent says nothing to judge; or the request is wrong.
            NotAllowed: nobody who is operator of the network stands for the stored policy.
            KeyReused: the key stands for another request.
        """
        network = documents.network
        self._require_writable(network)
        require_installed(network)
        require_canary(network)
        if documents.stored is not None:
            require_runnable(documents.stored, network.name)
        require_valid(request, documents)
        resolved = resolve_run(
            request,
            documents,
            settings=self.settings,
            artifacts=self.artifacts,
            approval=self.approval(network),
            who=who,
            now=self.store.now(),
        )
        return self.store.add_run(
            resolved, who, None if key is None else _key(who, key, digest(request, documents))
        )

    def _require_writable(self, network: Network) -> None:
        if network.changes.read_only(emulated=lab_of(self.settings, network) is not None):
            raise read_only(network.name)

    def detail(self, run_id: str, *, measurements: bool = True, attempt: int | None = None) -> RunReport:
        """The report of a run, as far as it came, or its verdicts without the measurements; errors as `run`.

        It is of an ``attempt``, the last one unless another is given.
        """
        return run_report(self.store, self.artifacts, run_id, measurements=measurements, attempt=attempt)

    def events(self, run_id: str, after: int = 0, limit: int = MOST_EVENTS) -> list[Event]:
        """Events of a run after the number ``after``, oldest first."""
        return self.store.events.after(self.run(run_id).id, after, limit)

    def cancel(self, run_id: str, who: str) -> Run:
        """Stop a run: one that no process is at ends at once, another at its next check point, undone.

        It is a word against what was approved, too: a retry needs another approval.

        Raises:
            InvalidState: it is over, or stopped between two states.
        """

        def stop(now: Run, connection: sa.Connection) -> Mapping[str, Any] | None:
            settling = now.status is RunStatus.PENDING and self.store.journal.open_touches(now.id)
            if now.status is RunStatus.RUNNING or settling:
                if now.cancelled_by is not None:
                    return None
                self._withdraw(connection, now.id, who)
                self.store.events.write(connection, now.id, EventKind.CANCEL, {"by": who})
                return {"cancelled_by": who}
            require_stoppable(now)
            self._withdraw(connection, now.id, who)
            step = "gate" if now.status.waiting else "begin"
            return cancelled_columns(who, Reason(f"cancelled by {who}", step, retry(now.id)))

        return self.store.change(self.run(run_id).id, stop, (who, RunAction.CANCELLED))

    def try_now(self, run_id: str, who: str) -> Run:
        """Bring forward the next try at putting back the devices of a run that stands half-way.

        Raises:
            InvalidState: it does not.
        """
        run = self.run(run_id)
        if not bring_forward(self.store.database, self.store.events, run.id, self.store.now(), who):
            require_status(run, frozenset({RunStatus.NEEDS_RECOVERY}), "has no device to put back")
        return self.run(run_id)

    def _withdraw(self, connection: sa.Connection, run_id: str, who: str) -> None:
        last = {decision.candidate: decision.approved for decision in self.store.decisions.on(run_id)}
        for candidate in (candidate for candidate, approved in last.items() if approved):
            self.store.decide(
                connection, Decision(run_id, candidate, False, who, "the run was cancelled", self.store.now())
            )

    def receive(self, run_id: str, side: Side, tester: str, document: Measurement) -> None:
        """Take in what an external tester measured on one side of the push; the same again changes nothing.

        Raises:
            InputError: it cannot be judged, is of the other side, or of something that nobody measured.
            InvalidState: the run does not wait for it, or another one came first.
        """
        run = self.run(run_id)
        receive(self.store, self.artifacts, run, side, tester=tester, document=document)

    def pause(self, run_id: str, who: str) -> Run:
        """Hold a rollout before its next wave, for as long as its network's rules allow.

        Raises:
            InvalidState: it is over, has no wave left to wait for, or is paused already.
        """
        run = self.run(run_id)
        require_pausable(self.store, run)
        return self.store.change(run.id, self._pause_event(who, paused=True), (who, RunAction.PAUSED))

    def resume(self, run_id: str, who: str) -> Run:
        """Let a paused rollout go on.

        Raises:
            InvalidState: it is not paused, or over.
        """
        run = self.run(run_id)
        require_paused(self.store, run)
        return self.store.change(run.id, self._pause_event(who, paused=False), (who, RunAction.RESUMED))

    def _pause_event(self, who: str, *, paused: bool) -> RunChange:
        def tell(now: Run, connection: sa.Connection) -> Mapping[str, Any]:
            if now.status.final:
                raise InvalidState(f"run {now.id} is over: {now.status.value.replace('_', ' ')}", hint="look at it")
            self.store.events.write(connection, now.id, EventKind.PAUSE, {"by": who, "paused": paused})
            return {}

        return tell

    def roll_back(self, run_id: str, who: str, key: str | None = None, reason: str = "") -> Run:
        """Start a new run that brings the devices of a kept one back to what they held before it.

        ``reason`` says why; it is kept with the new run.

        Raises:
            InputError: the reason is too long.
            InvalidState: it was not kept, or a later run's change stands on its devices.
            NotAllowed: it would bring a policy again for which nobody who is operator of the network stands.
            KeyReused: the key stands for another request.
        """
        run = self.run(run_id)
        self.require_roll_back(run)
        changed = {
            "rollback_of": run.id,
            "rollback_reason": bounded(reason),
            "reapplies": not run.resolved.brings_policy,
            "measure": False,
            "timeout_seconds": None,
        }
        # Keys that an earlier release recorded stand for the same request.
        asked = {"undo_of": run.id, **({"reason": reason} if reason else {})}
        identity = hashlib.sha256(canonical_json(asked).encode()).hexdigest()
        return self._add_from(run, changed, who, None if key is None else _key(who, key, identity))

    def _add_from(self, run: Run, changed: Mapping[str, Any], who: str, key: IdempotencyKey | None = None) -> Run:
        """Record a new run as another one was, but for what is ``changed``; it may begin now."""
        # A finding is set aside for one run alone.
        now = {"not_before": None, "deadline": None, "set_aside": None, "traceparent": current_traceparent()}
        return self.store.add_run(run.resolved.model_copy(update={**now, **changed}), who, key)[0]

    def retry(self, run_id: str, who: str, start: str = "read") -> Run:
        """Let an ended run that left nothing behind begin another attempt, at the stage ``start``.

        From a later stage than ``read``, what its last attempt had read and prepared is used again. A device that
        changed since is refused when it is touched. Of a run that was kept but left devices out, a new run is made,
        which changes just these.

        Raises:
            InputError: a retry cannot begin at this stage.
            InvalidState: the run did not end, was kept, or did not come as far as this stage.
            NotAllowed: nobody who is operator of the network stands for its policy by now.
        """
        if start not in STARTS:
            raise InputError(
                f"a retry cannot begin at {start[:64]!r}",
                Place(path="start"),
                f"begin at one of {', '.join(STARTS)}: what comes later belongs to the push before it",
            )
        run = self.run(run_id)
        left = left_out(self.store.stages(run.id), run.attempt) if run.status in LEAVES_OUT else {}
        if left:
            return self._start_for_left_out(run, sorted(left), who)
        self.require_retry(run)
        if start != "read":
            require_reached(self.store, run, start)

        def again(now: Run, _connection: sa.Connection) -> Mapping[str, Any]:
            require_retriable(self.store, now)
            seconds = now.resolved.timeout_seconds
            begins = max(self.store.now(), now.not_before or self.store.now())
            deadline = begins + timedelta(seconds=seconds) if seconds else None
            return {**next_attempt_columns(start, now), "deadline": deadline, "cancelled_by": None}

        return self.store.change(run.id, again, (who, RunAction.RETRIED))

    def _start_for_left_out(self, run: Run, devices: list[str], who: str) -> Run:
        """A new run of the same change, for devices that an earlier one left out."""
        self._require_trusted(run)
        return self._add_from(run, {"only": tuple(devices)}, who)

    def require_retry(self, run: Run) -> None:
        """Make sure that a run can be tried again, whoever asks for it.

        Raises:
            InvalidState, NotAllowed: as `retry`.
        """
        if run.status in LEAVES_OUT and left_out(self.store.stages(run.id), run.attempt):
            self._require_trusted(run)
            return
        require_retriable(self.store, run)
        if run.resolved.brings_policy:
            self._require_trusted(run)

    def require_roll_back(self, run: Run) -> None:
        """Make sure that a run can be rolled back, whoever asks for it.

        Raises:
            InvalidState, NotAllowed: as `roll_back`.
        """
        require_rollback_possible(self.store, run)
        if not run.resolved.brings_policy:  # what it would bring again is its policy
            self._require_trusted(run)

    def _require_trusted(self, run: Run) -> None:
        resolved = run.resolved
        found = find_distrust(
            self.store.database, resolved.policy_name, resolved.policy_number, resolved.network_name
        )
        if found is not None:
            raise found


def _key(who: str, key: str, identity: str) -> IdempotencyKey:
    if not (0 < len(key) <= LONGEST_KEY and key.isprintable()):
        raise InputError(f"an idempotency key has 1 to {LONGEST_KEY} printable characters", hint="draw a UUID")
    return IdempotencyKey(who, key, identity)
