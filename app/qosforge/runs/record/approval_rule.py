"""The approval rule: who has to approve a change, and whose word on it counts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from qosforge.access.roles import NotAllowed
from qosforge.inventory.changes import Approval, ChangeRules
from qosforge.runs.record.decisions import Decision

_STRICTNESS: tuple[Approval, ...] = ("none", "any", "four_eyes")
_APPROVER: Mapping[Approval, str] = {"any": "an approver", "four_eyes": "somebody who had no hand in it"}


def approval_rule(changes: ChangeRules, *, four_eyes: bool) -> Approval:
    """The rule of a network; where its change rules say nothing, the installation's: ``four_eyes``, or none."""
    return changes.approval or ("four_eyes" if four_eyes else "none")


def stricter(one: Approval, other: Approval) -> Approval:
    """The one of two rules that asks for more."""
    return max(one, other, key=_STRICTNESS.index)


def awaited_approval(
    rule: Approval,
    candidate: str,
    decisions: Sequence[Decision],
    contributors: Callable[[], Collection[str]],
) -> str | None:
    """The approval of a candidate that is missing, in words; ``None`` where the rule asks for none, or it is there.

    ``contributors`` gives those who had a hand in the change: with four eyes their approval counts for nothing.
    """
    if rule == "none":
        return None
    if _is_approved(candidate, decisions, contributors() if rule == "four_eyes" else ()):
        return None
    again = "the devices changed since it was approved: " if any(d.approved for d in decisions) else ""
    return f"{again}approval of candidate {candidate} by {_APPROVER[rule]}"


def _is_approved(candidate: str, decisions: Sequence[Decision], contributors: Collection[str]) -> bool:
    """Whether the last word on exactly this candidate is an approval; contributors can only reject it."""
    words = [
        decision.approved
        for decision in decisions
        if decision.candidate == candidate and not (decision.approved and decision.by in contributors)
    ]
    return bool(words) and words[-1]


def require_another(rule: Approval, who: str, contributors: Callable[[], Mapping[str, str]]) -> None:
    """Make sure that ``who`` may approve a change under a rule.

    ``contributors`` gives what those who had a hand in it did, by name: see `lineage.contributors`.

    Raises:
        NotAllowed: four eyes are asked for, and ``who`` wrote, created, cancelled or retried the change.
    """
    if rule == "four_eyes" and (done := contributors().get(who)) is not None:
        raise NotAllowed(f"{who} {done} and may not approve it", hint="ask another approver")
