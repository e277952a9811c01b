"""Decisions on runs: approving and rejecting, and who may."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from qosforge.artifacts.store import Artifacts
from qosforge.errors import InputError, Place
from qosforge.inventory.changes import Approval, ChangeRules
from qosforge.inventory.models import Network
from qosforge.runs.record.approval_rule import require_another
from qosforge.runs.record.decisions import Decision
from qosforge.runs.record.invalid_state import InvalidState, require_status
from qosforge.runs.record.keep_question import question
from qosforge.runs.record.lineage import contributors
from qosforge.runs.record.reason import Reason, answer_approver
from qosforge.runs.record.run import Run
from qosforge.runs.record.status_events import next_attempt_columns
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.summaries import PrepareSummary
from qosforge.runs.record.tables import RunStatus
from qosforge.runs.requests.predicted_broken import require_reason
from qosforge.runs.requests.retry_conditions import last_summary
from qosforge.runs.workflow.rules import EffectiveRules, NetworkRules
from qosforge.settings import Settings

LONGEST_COMMENT = 2000


@dataclass(frozen=True)
class CandidateList:
    """What a run would enter, by device; empty where a device holds its plan. ``id`` names exactly this list."""

    id: str
    devices: Mapping[str, str]


class RunDecisions:
    """Records decisions on runs. Needs no engine, and may be used from any thread and process."""

    def __init__(self, settings: Settings, store: RunStore, artifacts: Artifacts) -> None:
        self.settings = settings
        self.store = store
        self.artifacts = artifacts
        self._rules = NetworkRules(settings)

    def run(self, run_id: str) -> Run:
        """The run with this id, or with the only id that begins so.

        Raises:
            RunUnknown: no run, or several, have it.
        """
        return self.store.get_run(run_id)

    def candidate(self, run_id: str) -> CandidateList | None:
        """What a run would enter into the devices; ``None`` before its last attempt has worked it out."""
        run = self.run(run_id)
        prepared = last_summary(self.store, run, "prepare")
        if not isinstance(prepared, PrepareSummary) or not prepared.candidate:
            return None
        return CandidateList(prepared.candidate, self.artifacts.get_json(prepared.candidate)["devices"])

    def decisions(self, run_id: str) -> list[Decision]:
        """Who approved or rejected what the run would do, oldest first."""
        return self.store.decisions.on(self.run(run_id).id)

    def approve(self, run_id: str, who: str, candidate: str, comment: str = "") -> Run:
        """Approve the candidate that was looked at; the run goes on by itself.

        Of a run that asks whether to keep what is not shown to be met, ``candidate`` is its `question`.

        Raises:
            InputError: it is predicted to break objectives, and the comment does not say why it is approved.
            NotAllowed: whoever had a hand in the change may not approve it: see `lineage`.
            InvalidState: the run does not wait for an approval, or it would do something else by now.
        """
        run = self.run(run_id)
        asking = question(self.store, run)
        if asking is not None:
            self.require_another(run, who)
            if asking != candidate:
                raise InvalidState(
                    "this is not what the run asks now", Place(path="candidate"), f"look at what it asks: {asking}"
                )
            return self._answer_question(run, self._approval(run, asking, who, comment))
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
        require_reason(self.store, run, comment)
        return self._record_decision(run, self._approval(run, candidate, who, comment))

    def reject(self, run_id: str, who: str, comment: str = "") -> Run:
        """Reject what the run would do; it ends cancelled, untouched. One that asks whether to keep is rolled back.

        Raises:
            InputError: the comment does not say what stands against what it would do.
            InvalidState: the run does not wait for an approval.
        """
        run = self.run(run_id)
        asking = question(self.store, run)
        if asking is not None:
            return self._answer_question(run, self._rejection(run, asking, who, comment))
        self._require_waiting(run)
        if not comment.strip():
            raise InputError(
                "a rejection says why", Place(path="comment"), "give a comment: whoever made the change reads it"
            )
        listed = self.candidate(run.id)
        candidate = listed.id if listed else ""
        return self._record_decision(run, self._rejection(run, candidate, who, comment))

    def question(self, run_id: str) -> str | None:
        """What a run asks an approver about keeping its change; ``None`` where it asks nothing now."""
        return question(self.store, self.run(run_id))

    def approval(self, network: Network) -> Approval:
        """Who has to approve a change of a network, by its rules and the installation's."""
        return self._rules.approval(network.changes)

    def rules(self, run: Run) -> EffectiveRules:
        """What holds a run now: the rules it was created under, and those its network has by now."""
        return self._rules.effective(run.network, run.resolved.approval, ChangeRules())

    def require_another(self, run: Run, who: str) -> None:
        """Make sure that ``who`` had no hand in what a run would do, where four eyes are asked for.

        Raises:
            NotAllowed: whoever wrote, created, cancelled or retried the change may not approve it.
        """
        require_another(self.rules(run).approval, who, lambda: self._contributors(run))

    def _contributors(self, run: Run) -> Mapping[str, str]:
        listed = self.candidate(run.id)
        return contributors(self.store.database, run.id, listed.id if listed else "")

    def _approval(self, run: Run, candidate: str, who: str, comment: str) -> Decision:
        return Decision(run.id, candidate, True, who, bounded(comment), self.store.now())

    def _rejection(self, run: Run, candidate: str, who: str, comment: str) -> Decision:
        return Decision(run.id, candidate, False, who, bounded(comment), self.store.now())

    def _require_waiting(self, run: Run) -> None:
        require_status(run, frozenset({RunStatus.NEEDS_APPROVAL}), "waits for no approval")

    def _record_decision(self, run: Run, decision: Decision) -> Run:
        def decide(now: Run, connection: sa.Connection) -> Mapping[str, Any]:
            require_status(now, frozenset({RunStatus.NEEDS_APPROVAL}), "waits for no approval")
            if now.attempt != run.attempt:
                raise InvalidState("the run moved on meanwhile", hint="look at its candidate again")
            self.store.decide(connection, decision)
            if decision.approved:
                return next_attempt_columns("read", now)
            why = f"rejected by {decision.by}: {decision.comment}"
            return cancelled_columns(decision.by, Reason(why, "gate", answer_approver(now.id)))

        return self.store.change(run.id, decide, decision.by)

    def _answer_question(self, run: Run, decision: Decision) -> Run:
        """Record an answer to what a run asks about keeping its change; the run finds it and goes on by itself."""

        def say(now: Run, connection: sa.Connection) -> Mapping[str, Any]:
            if now.status is not RunStatus.RUNNING or now.attempt != run.attempt or now.waits_for != run.waits_for:
                raise InvalidState("the run moved on meanwhile", hint="look at it again")
            self.store.decide(connection, decision)
            return {"waits_for": "", "due": None}

        return self.store.change(run.id, say, decision.by)


def cancelled_columns(who: str, why: Reason) -> dict[str, Any]:
    """The columns of a run that somebody cancelled, and that no process is at."""
    over = {"status": RunStatus.CANCELLED.value, "cancelled_by": who, **why.columns()}
    return {**over, "due": None, "waits_for": ""}


def bounded(comment: str) -> str:
    """A comment as it may be stored.

    Raises:
        InputError: it is too long.
    """
    if len(comment) > LONGEST_COMMENT:
        raise InputError("the comment is too long", Place(path="comment"), f"at most {LONGEST_COMMENT} characters")
    return comment
