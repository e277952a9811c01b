"""The input of run reports: a run as plain data."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, ConfigDict

from qosforge.deltaq.objective import Evidence, Outcome, combine, weakest
from qosforge.findings import Finding
from qosforge.keep_rule import KeepRule
from qosforge.prediction.record import SimulatedTime, Today, left_to_run
from qosforge.reports.unjudged_trade_offs import UnjudgedTradeOff
from qosforge.run_outcome import RunOutcome, status_words
from qosforge.tester.measurement.changes import ClassChange
from qosforge.tester.measurement.document import Measurement, Side, When
from qosforge.tester.measurement.judging import ClassVerdict

_DOCUMENT = ConfigDict(frozen=True, extra="forbid")


class StageReport(BaseModel):
    """One stage of the loop: when it began, how long it took, how it ended, and a line on what it did."""

    model_config = _DOCUMENT

    name: str
    started: datetime
    seconds: float
    outcome: str
    summary: str = ""


class DeviceReport(BaseModel):
    """One device of a run: candidate, outcome, and the difference of its configuration.

    ``difference`` is what the candidate takes from the configuration (``-``) and puts into it (``+``), below the
    headings where that stands; ``diff`` is what had changed when it was read back. Its texts have no secrets; whole
    configurations stand in the run's artifacts alone.
    """

    model_config = _DOCUMENT

    name: str
    platform: str
    outcome: str
    candidate: str = ""
    inverse: str = ""
    difference: str = ""
    diff: str = ""
    configuration: str = ""
    findings: tuple[Finding, ...] = ()


class WaveReport(BaseModel):
    """One wave of a rollout. Devices of one of ``steps`` change at the same moment; where they have a timer they go
    back by themselves ``revert_minutes`` after their first line unless confirmed.

    ``state``: ``to come``, ``now``, ``done`` (pushed and read back), ``failed``, ``rolled back``.
    """

    model_config = _DOCUMENT

    name: str
    steps: tuple[tuple[str, ...], ...]
    revert_minutes: int
    state: str

    @property
    def text(self) -> str:
        """Its devices, those of one step joined."""
        return ", ".join(" + ".join(step) for step in self.steps)


class DecisionReport(BaseModel):
    """An approval or rejection of what the run would have done then: ``candidate`` lists it.

    With ``keeping`` it was about keeping what was measured and not shown to be met.
    """

    model_config = _DOCUMENT

    candidate: str
    approved: bool
    by: str
    comment: str
    at: datetime
    keeping: bool = False


class PredictionReport(BaseModel):
    """What a run's prediction says beside its measurement and verdicts: the seconds that were simulated, which
    bounds the longest measurement would not decide either, and what classes without an objective get ``today``;
    ``null`` in runs of earlier releases.

    ``needed_seconds`` is what the policy's ``seconds`` would have to be to decide those bounds of the ``findings``
    that any time decides; ``null`` without such.
    """

    model_config = _DOCUMENT

    simulated: tuple[SimulatedTime, ...] = ()
    findings: tuple[Finding, ...] = ()
    needed_seconds: int | None = None
    today: Today | None = None

    @property
    def left_to_run(self) -> SimulatedTime | None:
        """The scenario of which the least was simulated, where the run decides the bounds that are open."""
        return left_to_run(self.simulated, self.findings)


class RunReport(BaseModel):
    """A run as its report shows it. Parts that the run did not reach are empty.

    ``candidate`` names what an approval is about; ``waits_for`` and what stands of its
    ``reason`` are words for people. ``predicted`` is what was expected of the change before it was made (and
    ``prediction`` what else was said then), ``changes`` what it did: after against before, and
    ``unjudged_trade_offs`` what it costs classes without an objective. ``keep`` is the rule by which it is kept,
    and ``question`` names what an approver is asked to keep now. ``rollout`` are its waves, and ``left_out`` the
    devices that failed without stopping it: its verdict is one of a network without the change on these.
    """

    model_config = _DOCUMENT

    id: str
    network: str
    intent: str
    status: str
    started: datetime
    finished: datetime | None = None
    created_by: str = ""
    ticket: str = ""
    accept_unconfirmed: bool = False
    """Whether lines might be entered that no published source confirms."""
    set_aside: str = ""
    """Which finding of Batfish a person set aside for the run, by whom and why."""
    source: dict[str, str] | None = None
    rollback_of: str | None = None
    rollback_reason: str = ""
    """Why a person rolls that run back."""
    rolled_back_by: str | None = None
    """The run that rolled its change back after it was kept."""
    waits_for: str = ""
    reason: str = ""
    reason_step: str = ""
    reason_device: str = ""
    reason_hint: str = ""
    outcome: RunOutcome | None = None
    candidate: str | None = None
    decisions: tuple[DecisionReport, ...] = ()
    stages: tuple[StageReport, ...] = ()
    devices: tuple[DeviceReport, ...] = ()
    findings: tuple[Finding, ...] = ()
    before: Measurement | None = None
    predicted: Measurement | None = None
    after: Measurement | None = None
    verdicts_before: tuple[ClassVerdict, ...] = ()
    verdicts_predicted: tuple[ClassVerdict, ...] = ()
    verdicts_after: tuple[ClassVerdict, ...] = ()
    keep: KeepRule = "met"
    question: str | None = None
    changes: tuple[ClassChange, ...] = ()
    prediction: PredictionReport | None = None
    unjudged_trade_offs: tuple[UnjudgedTradeOff, ...] = ()
    rollout: tuple[WaveReport, ...] = ()
    left_out: tuple[str, ...] = ()

    def evidence(self, side: Side) -> Evidence | None:
        """What the verdicts of a side rest on together, the weakest of their paths; ``None`` without any."""
        verdicts = self.verdicts_before if side == "before" else self.verdicts_after
        return weakest(each.verdict.evidence for each in verdicts)

    @property
    def judged_last(self) -> When:
        """The side that was judged last."""
        return "after" if self.verdicts_after else "predicted" if self.verdicts_predicted else "before"

    @property
    def stands(self) -> str:
        """How it ended or stands, in words: by what it came to, where it came to something."""
        return status_words(self.status, self.outcome.kind if self.outcome else "")

    def outcome_before(self) -> Outcome | None:
        """Return what all verdicts before the push come to; ``None`` when nothing was judged."""
        return _overall(self.verdicts_before)

    def outcome_now(self) -> Outcome | None:
        """Return what all verdicts on the devices as the run left them come to: after the push, or before it where
        nothing had to be pushed; ``None`` when nothing was judged.
        """
        return self.outcome_after() or (self.outcome_before() if self.status == "no_changes" else None)

    def outcome_predicted(self) -> Outcome | None:
        """Return what all predicted verdicts come to; ``None`` when nothing was predicted."""
        return _overall(self.verdicts_predicted)

    @property
    def is_left_to_run(self) -> bool:
        """Whether the bounds that the prediction leaves open are, because the run measures longer."""
        return self.prediction is not None and self.prediction.left_to_run is not None

    def outcome_after(self) -> Outcome | None:
        """Return what all verdicts after the push come to; ``None`` when nothing was judged."""
        return _overall(self.verdicts_after)


def _overall(verdicts: tuple[ClassVerdict, ...]) -> Outcome | None:
    return combine([each.verdict.outcome for each in verdicts]) if verdicts else None
