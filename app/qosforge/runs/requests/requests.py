"""The desk: what people and pipelines ask of runs. Everything asked is a row; executors act on the rows."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

import sqlalchemy as sa

from qosforge.access.roles import NotAllowed
from qosforge.artifacts.store import Artifacts, canonical_json
from qosforge.compiler.waves import require_canary
from qosforge.deploy.route import lab_of
from qosforge.errors import InputError, Place
from qosforge.intent.loader import LoadedIntent
from qosforge.inventory.changes import Approval, ChangeRules
from qosforge.inventory.models import Network
from qosforge.inventory.writable import read_only
from qosforge.keep_rule import KeepRule, strictest
from qosforge.policy_library.trust import distrust, require_runnable
from qosforge.policy_library.versions import PolicyVersion
from qosforge.reports.model import RunReport
from qosforge.runs.record.decisions import Decision
from qosforge.runs.record.events import Event, EventKind
from qosforge.runs.record.idempotency import Key
from qosforge.runs.record.invalid_state import InvalidState, require_status, require_stoppable
from qosforge.runs.record.lineage import Deed, contributors
from qosforge.runs.record.reason import Reason, retry
from qosforge.runs.record.rollout_record import LEAVES_OUT, left_out
from qosforge.runs.record.status_events import next_attempt_columns
from qosforge.runs.record.store import Change, NewRun, Run, RunStore
from qosforge.runs.record.tables import RunStatus
from qosforge.runs.requests.retry import STARTS, last_summary, require_reached, require_retriable
from qosforge.runs.views.report import run_report
from qosforge.runs.workflow.context import Documents
from qosforge.runs.workflow.external_tester import receive
from qosforge.runs.workflow.live import require_checks, require_traffic
from qosforge.runs.workflow.pause import require_pausable, require_paused
from qosforge.runs.workflow.rollback import require_rollback_possible
from qosforge.runs.workflow.rules import NetworkRules, Rules
from qosforge.runs.workflow.steps.compare import question
from qosforge.settings import Settings
from qosforge.telemetry.traces import current_traceparent
from qosforge.tester.measurement.document import Measurement, Side

MOST_EVENTS = 500
LONGEST_KEY = 255
LONGEST_TICKET = 64
LONGEST_COMMENT = 2000


@dataclass(frozen=True)
class Order:
    """What a run is to do.

    ``tester`` is who judges: the ``twin``, or an ``external`` tester that gives a measurement after the push (and
    before it, if ``before``). ``not_before`` is the earliest moment of the push; ``timeout`` counts from there.
    ``source`` is where the policy comes from: ``repository``, ``commit``, ``path``; ``stored`` the version of a
    stored policy that ``intent`` is, where it is one.
    """

    network: Network
    intent: LoadedIntent
    measure: bool = True
    strict: bool = False
    require_batfish: bool = False
    seed: int = 1
    tester: Literal["twin", "external"] = "twin"
    before: bool = False
    ticket: str = ""
    not_before: datetime | None = None
    timeout: timedelta | None = None
    source: dict[str, str] | None = None
    stored: PolicyVersion | None = None


@dataclass(frozen=True)
class CandidateList:
    """What a run would enter, by device; empty where a device holds its plan. ``id`` names exactly this list."""

    id: str
    devices: Mapping[str, str]


class Desk:
    """Starts runs and decides on them. Needs no engine, and may be used from any thread and process."""

    def __init__(self, settings: Settings, store: RunStore, artifacts: Artifacts) -> None:
        self.settings = settings
        self.store = store
        self.artifacts = artifacts
        self._rules = NetworkRules(settings)

    def place(self, order: Order, who: str, key: str | None = None) -> tuple[Run, bool]:
        """Record a run; the same ``key`` of the same person gives the same run.

        Returns:
            The run, and whether it was newly made.

        Raises:
            InputError: the network is read-only; it should measure, and the intent says nothing to judge; or the
                order is wrong.
            NotAllowed: nobody who is operator of the network stands for the stored policy.
            KeyReused: the key stands for another order.
        """
        self._require_writable(order.network)
        require_canary(order.network)
        if order.stored is not None:
            require_runnable(order.stored, order.network.name)
        if order.measure:
            require_checks(order.intent)
            if order.tester != "external":  # it has traffic of its own
                require_traffic(order.network)
        elif order.tester == "external":
            raise InputError("an external tester measures, and this run should not", hint="ask for one of the two")
        problem = order.network.changes.ticket_problem(order.ticket)
        if problem is not None:
            raise InputError(problem, Place(path="ticket"), f"give the ticket that {order.network.name} asks for")
        if len(order.ticket) > LONGEST_TICKET or not (order.ticket.isprintable()):
            raise InputError("this is no ticket", Place(path="ticket"), f"at most {LONGEST_TICKET} characters")
        if order.timeout is not None and order.timeout <= timedelta(0):
            raise InputError("a timeout is longer than nothing", Place(path="timeout"), "give seconds above 0")
        identity = hashlib.sha256(canonical_json(_identity(order)).encode()).hexdigest()
        begins = max(self.store.now(), order.not_before or self.store.now())
        new = NewRun(
            network=order.network.name,
            policy=order.intent.intent.intent,
            policy_version=order.intent.version,
            params=self._documents(order).as_json(),
            requested_by=who,
            ticket=order.ticket,
            source=order.source,
            not_before=order.not_before,
            deadline=begins + order.timeout if order.timeout else None,
        )
        return self.store.add_run(new, None if key is None else _key(who, key, identity))

    def _require_writable(self, network: Network) -> None:
        if network.changes.read_only(emulated=lab_of(self.settings, network) is not None):
            raise read_only(network.name)

    def _documents(self, order: Order) -> Documents:
        loaded, put = order.intent, self.artifacts.put_text
        return Documents(
            intent_file=loaded.document.file,
            intent_text=put(loaded.document.text),
            network=put(order.network.model_dump_json(by_alias=True)),
            lab=str(lab) if (lab := lab_of(self.settings, order.network)) else None,
            seed=order.seed,
            measure=order.measure,
            strict=order.strict,
            require_batfish=order.require_batfish,
            batfish_host=self.settings.batfish_host,
            batfish_port=self.settings.batfish_port,
            intent_included={name: put(text) for name, text in loaded.included.items()},
            intent_parameters=loaded.settings,
            tester=order.tester,
            before=order.before,
            timeout_seconds=order.timeout.total_seconds() if order.timeout else None,
            approval=self._rules.approval(order.network.changes),
            keep=self.keep_rule(order.network, order.intent.intent.keep),
            policy_name=order.stored.name if order.stored else "",
            policy_number=order.stored.number if order.stored else None,
            traceparent=current_traceparent(),
        )

    def run(self, run_id: str) -> Run:
        """The run with this id, or with the only id that begins so.

        Raises:
            RunUnknown: no run, or several, have it.
        """
        return self.store.get_run(run_id)

    def detail(self, run_id: str, *, measurements: bool = True) -> RunReport:
        """The report of a run, as far as it came, or its verdicts without the measurements; errors as `run`."""
        return run_report(self.store, self.artifacts, run_id, measurements=measurements)

    def candidate(self, run_id: str) -> CandidateList | None:
        """What a run would enter into the devices; ``None`` before its last attempt has worked it out."""
        run = self.run(run_id)
        prepared = last_summary(self.store, run, "prepare")
        if prepared is None or "candidate" not in prepared:
            return None
        artifact: str = prepared["candidate"]
        return CandidateList(artifact, self.artifacts.get_json(artifact)["devices"])

    def events(self, run_id: str, after: int = 0, limit: int = MOST_EVENTS) -> list[Event]:
        """Events of a run after the number ``after``, oldest first."""
        return self.store.events.after(self.run(run_id).id, after, limit)

    def decisions(self, run_id: str) -> list[Decision]:
        """Who approved or rejected what the run would do, oldest first."""
        return self.store.decisions.on(self.run(run_id).id)

    def approve(self, run_id: str, who: str, candidate: str, comment: str = "") -> Run:
        """Approve the candidate that was looked at; the run goes on by itself.

        Of a run that asks whether to keep what is not shown to be met, ``candidate`` is its `question`.

        Raises:
            NotAllowed: whoever had a hand in the change may not approve it: see `lineage`.
            InvalidState: the run does not wait for an approval, or it would do something else by now.
        """
        run = self.run(run_id)
        asked = question(self.store, run)
        if asked is not None:
            self.require_another(run, who)
            if asked != candidate:
                raise InvalidState(
                    "this is not what the run asks now", Place(path="candidate"), f"look at what it asks: {asked}"
                )
            return self._said(run, Decision(run.id, asked, True, who, _bounded(comment), self.store.now()))
        self._require_waiting(run)
        self.require_another(run, who)
        listed = self.candidate(run.id)
        if listed is None or listed.id != candidate:
            now = listed.id if listed else "none"
            raise InvalidState(
                "this is not what the run would do now",
                Place(path="candidate"),
                f"look at its candidate again: {now}",
            )
        return self._decided(run, Decision(run.id, candidate, True, who, _bounded(comment), self.store.now()))

    def reject(self, run_id: str, who: str, comment: str = "") -> Run:
        """Reject what the run would do; it ends cancelled, untouched. One that asks whether to keep is rolled back.

        Raises:
            InvalidState: the run does not wait for an approval.
        """
        run = self.run(run_id)
        asked = question(self.store, run)
        if asked is not None:
            return self._said(run, Decision(run.id, asked, False, who, _bounded(comment), self.store.now()))
        self._require_waiting(run)
        listed = self.candidate(run.id)
        candidate = listed.id if listed else ""
        return self._decided(run, Decision(run.id, candidate, False, who, _bounded(comment), self.store.now()))

    def question(self, run_id: str) -> str | None:
        """What a run asks an approver about keeping its change; ``None`` where it asks nothing now."""
        return question(self.store, self.run(run_id))

    def keep_rule(self, network: Network, intent: KeepRule | None) -> KeepRule:
        """When a change of a network is kept, by an intent's rule and the network's."""
        return strictest([intent, network.changes.keep])

    def approval(self, network: Network) -> Approval:
        """Who has to approve a change of a network, by its rules and the installation's."""
        return self._rules.approval(network.changes)

    def rules(self, run: Run) -> Rules:
        """What holds a run now: the rules it was created under, and those its network has by now."""
        return self._rules.holding(run.network, run.params.get("approval", "none"), ChangeRules())

    def require_another(self, run: Run, who: str) -> None:
        """Make sure that ``who`` had no hand in what a run would do, where four eyes are asked for.

        Raises:
            NotAllowed: whoever wrote, created, cancelled or retried the change may not approve it.
        """
        if self.rules(run).approval != "four_eyes":
            return
        listed = self.candidate(run.id)
        done = contributors(self.store.database, run.id, listed.id if listed else "").get(who)
        if done is not None:
            raise NotAllowed(f"{who} {done} and may not approve it", hint="ask another approver")

    def _require_waiting(self, run: Run) -> None:
        require_status(run, frozenset({RunStatus.NEEDS_APPROVAL}), "waits for no approval")

    def _decided(self, run: Run, decision: Decision) -> Run:
        def decide(now: Run, connection: sa.Connection) -> Mapping[str, Any]:
            require_status(now, frozenset({RunStatus.NEEDS_APPROVAL}), "waits for no approval")
            if now.attempt != run.attempt:
                raise InvalidState("the run moved on meanwhile", hint="look at its candidate again")
            self.store.decide(connection, decision)
            if decision.approved:
                return next_attempt_columns("read", now)
            why = f"rejected by {decision.by}" + (f": {decision.comment}" if decision.comment else "")
            hint = f"change what stands against it; else {retry(now.id)}"
            return _cancelled(decision.by, Reason(why, "gate", hint))

        return self.store.change(run.id, decide, decision.by)

    def _said(self, run: Run, decision: Decision) -> Run:
        """Write a word on what a run asks, which then waits no more: it looks for the word by itself."""

        def say(now: Run, connection: sa.Connection) -> Mapping[str, Any]:
            if now.status is not RunStatus.RUNNING or now.attempt != run.attempt or now.waits_for != run.waits_for:
                raise InvalidState("the run moved on meanwhile", hint="look at it again")
            self.store.decide(connection, decision)
            return {"waits_for": "", "due": None}

        return self.store.change(run.id, say, decision.by)

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
            return _cancelled(who, Reason(f"cancelled by {who}", step, retry(now.id)))

        return self.store.change(self.run(run_id).id, stop, (who, Deed.CANCELLED))

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
        return self.store.change(run.id, self._tells(who, paused=True), (who, Deed.PAUSED))

    def resume(self, run_id: str, who: str) -> Run:
        """Let a paused rollout go on.

        Raises:
            InvalidState: it is not paused, or over.
        """
        run = self.run(run_id)
        require_paused(self.store, run)
        return self.store.change(run.id, self._tells(who, paused=False), (who, Deed.RESUMED))

    def _tells(self, who: str, *, paused: bool) -> Change:
        def tell(now: Run, connection: sa.Connection) -> Mapping[str, Any]:
            if now.status.final:
                raise InvalidState(f"run {now.id} is over: {now.status.value.replace('_', ' ')}", hint="look at it")
            self.store.events.write(connection, now.id, EventKind.PAUSE, {"by": who, "paused": paused})
            return {}

        return tell

    def roll_back(self, run_id: str, who: str, key: str | None = None) -> Run:
        """Start a new run that brings the devices of a kept one back to what they held before it.

        Raises:
            InvalidState: it was not kept, or a later run's change stands on its devices.
            NotAllowed: it would bring a policy again for which nobody who is operator of the network stands.
            KeyReused: the key stands for another order.
        """
        run = self.run(run_id)
        self.require_roll_back(run)
        undoing = {
            "undo_of": run.id,
            "redoes": _goes_back(run),
            "measure": False,
            "timeout_seconds": None,
            "traceparent": current_traceparent(),
        }
        new = NewRun(
            network=run.network,
            policy=run.policy,
            policy_version=run.policy_version,
            params={**run.params, **undoing},
            requested_by=who,
            ticket=run.ticket,
            source=run.source,
        )
        identity = hashlib.sha256(canonical_json({"undo_of": run.id}).encode()).hexdigest()
        return self.store.add_run(new, None if key is None else _key(who, key, identity))[0]

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
            return self._for_those_left(run, sorted(left), who)
        self.require_retry(run)
        if start != "read":
            require_reached(self.store, run, start)

        def again(now: Run, _connection: sa.Connection) -> Mapping[str, Any]:
            require_retriable(self.store, now)
            seconds = now.params.get("timeout_seconds")
            begins = max(self.store.now(), now.not_before or self.store.now())
            deadline = begins + timedelta(seconds=seconds) if seconds else None
            return {**next_attempt_columns(start, now), "deadline": deadline, "cancelled_by": None}

        return self.store.change(run.id, again, (who, Deed.RETRIED))

    def _for_those_left(self, run: Run, devices: list[str], who: str) -> Run:
        """A new run of the same change, for devices that an earlier one left out."""
        self._require_trusted(run)
        new = NewRun(
            network=run.network,
            policy=run.policy,
            policy_version=run.policy_version,
            params={**run.params, "only": devices, "traceparent": current_traceparent()},
            requested_by=who,
            ticket=run.ticket,
            source=run.source,
        )
        return self.store.add_run(new)[0]

    def require_retry(self, run: Run) -> None:
        """Make sure that a run can be tried again, whoever asks for it.

        Raises:
            InvalidState, NotAllowed: as `retry`.
        """
        if run.status in LEAVES_OUT and left_out(self.store.stages(run.id), run.attempt):
            self._require_trusted(run)
            return
        require_retriable(self.store, run)
        if not _goes_back(run):
            self._require_trusted(run)

    def require_roll_back(self, run: Run) -> None:
        """Make sure that a run can be rolled back, whoever asks for it.

        Raises:
            InvalidState, NotAllowed: as `roll_back`.
        """
        require_rollback_possible(self.store, run)
        if _goes_back(run):
            self._require_trusted(run)

    def _require_trusted(self, run: Run) -> None:
        found = distrust(
            self.store.database, run.params.get("policy_name", ""), run.params.get("policy_number"), run.network
        )
        if found is not None:
            raise found


def _goes_back(run: Run) -> bool:
    """Whether a run rolls a change back, and so brings nothing of its policy into a device."""
    return bool(run.params.get("undo_of")) and not run.params.get("redoes")


def _cancelled(who: str, why: Reason) -> dict[str, Any]:
    over = {"status": RunStatus.CANCELLED.value, "cancelled_by": who, **why.columns()}
    return {**over, "due": None, "waits_for": ""}


def _key(who: str, key: str, identity: str) -> Key:
    if not (0 < len(key) <= LONGEST_KEY and key.isprintable()):
        raise InputError(f"an idempotency key has 1 to {LONGEST_KEY} printable characters", hint="draw a UUID")
    return Key(who, key, identity)


def _bounded(comment: str) -> str:
    if len(comment) > LONGEST_COMMENT:
        raise InputError("the comment is too long", Place(path="comment"), f"at most {LONGEST_COMMENT} characters")
    return comment


def _identity(order: Order) -> dict[str, Any]:
    """What makes two orders the same. A network counts by its name: a repeated order may meet a newer inventory."""
    return {
        "network": order.network.name,
        "intent": order.intent.version,
        "measure": order.measure,
        "strict": order.strict,
        "require_batfish": order.require_batfish,
        "seed": order.seed,
        "tester": order.tester,
        "before": order.before,
        "ticket": order.ticket,
        "not_before": order.not_before.isoformat() if order.not_before else None,
        "timeout": order.timeout.total_seconds() if order.timeout else None,
        "source": order.source,
    }
