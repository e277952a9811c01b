"""What a run came to, as one typed value: pages, reports, webhooks, REST and the command line all say it."""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field


class OutcomeKind(StrEnum):
    """How a run ended, or stopped."""

    KEPT = "kept"
    """Its change stands on every device, and is saved."""
    KEPT_IN_PART = "kept_in_part"
    """The same, but devices were left out of it."""
    RESTORED = "restored"
    """It rolled another run back, and that is kept: the devices are back where they were before the other run."""
    ROLLED_BACK_BY_HAND = "rolled_back_by_hand"
    """Its change was kept, and is gone: a later run rolled it back."""
    ROLLED_BACK = "rolled_back"
    """It rolled its own change back."""
    RECOVERED = "recovered"
    """It stopped half-way, and its devices were put back later."""
    HALF_WAY = "half_way"
    """It stopped with a device between two states."""
    NO_CHANGES = "no_changes"
    REJECTED = "rejected"
    FAILED = "failed"
    CANCELLED = "cancelled"
    DECLINED = "declined"
    """An approver rejected what it would do: no device was touched."""


class AdviceKind(StrEnum):
    """What to do about a run that did not keep its change."""

    RETRY = "retry"
    """The same run may well succeed later."""
    RETRY_LEFT_OUT = "retry_left_out"
    """To try again changes the devices that were left out."""
    CHANGE_POLICY = "change_policy"
    """The policy or an objective has to change: measuring did not show what the policy asks for."""
    ANSWER_APPROVER = "answer_approver"
    """What an approver said against it has to change, or it is asked for again."""
    RECOVER = "recover"
    """A device stands between two states: it is put back first."""
    SETTLE_FIRST = "settle_first"
    """Another run left a device between two states: that one is settled first."""
    AS_TOLD = "as_told"
    """As the words of the reason say."""


class OutcomeReason(BaseModel):
    """One thing that happened. ``short`` says it in a line; ``device`` is empty where no single one is meant."""

    model_config = ConfigDict(frozen=True)

    message: str
    short: str
    step: str = Field(description="The step at which that was.")
    device: str


class RunOutcome(BaseModel):
    """What a run came to. ``reasons`` say why it ended without its change or stopped, the weightiest first."""

    model_config = ConfigDict(frozen=True)

    kind: OutcomeKind
    reasons: tuple[OutcomeReason, ...]
    advice: AdviceKind | None = Field(description="What to do; `reason_hint` has the words.")
    settle_first: str | None = Field(description="The run that has to be settled first.")
    rolled_back_by: str | None = Field(description="The run that rolled it back after it was kept.")

    @property
    def short(self) -> str:
        """Why, in a line; empty where there is nothing to say."""
        return self.reasons[0].short if self.reasons else ""


_KIND_WORDS: dict[str, str] = {
    OutcomeKind.RESTORED: "rolled back to before",
    OutcomeKind.ROLLED_BACK_BY_HAND: "rolled back later",
    OutcomeKind.HALF_WAY: "stopped half-way",
    OutcomeKind.DECLINED: "rejected by an approver",
}
"""What the command line and reports say where the status alone would mislead."""


def status_words(status: str, kind: str) -> str:
    """How a run stands, in words: by the kind of its outcome where it has one, else by its status."""
    return _KIND_WORDS.get(kind, status.replace("_", " "))
