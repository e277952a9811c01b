"""What holds a change up: who has approved which candidate, and when the network is open."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from qosforge.inventory.changes import Approval, ChangeRules, Freeze, Window
from qosforge.runs.record.decisions import Decision
from qosforge.runs.record.run import Run
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.tables import RunStatus
from qosforge.runs.workflow.gate import LOOK_AGAIN, Wait, waits
from qosforge.runs.workflow.rules import EffectiveRules

NOW = datetime(2026, 11, 25, 12, 0, tzinfo=UTC)  # a Wednesday
ASKED = "a" * 64
OTHER = "b" * 64


@pytest.fixture
def asked(store: RunStore) -> Run:
    return store.create_run("campus", "policy", "f" * 64, {})


def decision(by: str, approved: bool = True, candidate: str = ASKED) -> Decision:
    return Decision("run", candidate, approved, by, "", NOW)


def gate(
    run: Run, *decisions: Decision, approval: Approval = "none", rules: ChangeRules | None = None, **changed: Any
) -> Wait | None:
    fields = {**{name: getattr(run, name) for name in Run.__dataclass_fields__}, **changed}
    holding = EffectiveRules(approval, (rules or ChangeRules(), ChangeRules()))
    return waits(
        Run(**fields),
        ASKED,
        rules=holding,
        emulated=True,
        decisions=decisions,
        contributors=lambda: {"ada"},
        now=NOW,
    )


@pytest.mark.parametrize(
    ("approval", "decisions", "open_"),
    [
        ("none", [], True),
        ("any", [], False),
        ("any", [decision("ada")], True),
        ("four_eyes", [decision("ada")], False),
        ("four_eyes", [decision("grace")], True),
        ("any", [decision("grace", candidate=OTHER)], False),
        ("any", [decision("grace"), decision("alan", approved=False)], False),
        ("any", [decision("alan", approved=False), decision("grace")], True),
        # Who had a hand in it cannot speak for it, but against it.
        ("four_eyes", [decision("grace"), decision("ada", approved=False)], False),
        ("four_eyes", [decision("grace"), decision("ada")], True),
    ],
)
def test_an_approval_counts_for_its_candidate_and_the_last_word_holds(
    asked: Run, approval: Approval, decisions: list[Decision], open_: bool
) -> None:
    found = gate(asked, *decisions, approval=approval)
    assert (found is None) == open_
    assert found is None or (found.status, ASKED in found.waits_for) == (RunStatus.NEEDS_APPROVAL, True)


def test_who_approved_something_else_is_told_so(asked: Run) -> None:
    found = gate(asked, decision("grace", candidate=OTHER), approval="any")
    assert found is not None
    assert found.waits_for.startswith("the devices changed since it was approved")


NIGHT = ChangeRules(windows=(Window(from_="22:00", to="04:00"),))
FROZEN = ChangeRules(freezes=(Freeze(from_=NOW - timedelta(days=1), to=NOW + timedelta(days=1), reason="exams"),))


@pytest.mark.parametrize(
    ("rules", "changed", "due", "words"),
    [
        (None, {}, None, ""),
        (None, {"not_before": NOW - timedelta(1)}, None, ""),
        (None, {"not_before": NOW + timedelta(hours=1)}, NOW + timedelta(hours=1), "its time: until 2026-11-25 13"),
        (NIGHT, {}, NOW + timedelta(hours=10), "the change windows: until 2026-11-25 22"),
        (NIGHT, {"not_before": NOW + timedelta(hours=11)}, NOW + timedelta(hours=11), "2026-11-25 23"),
        (NIGHT, {"not_before": NOW + timedelta(hours=20)}, NOW + timedelta(hours=34), "2026-11-26 22"),
        (FROZEN, {}, NOW + timedelta(days=1), "a change freeze (exams): until 2026-11-26 12"),
        (FROZEN, {"deadline": NOW + timedelta(hours=1)}, NOW + timedelta(hours=1), "exams"),
    ],
)
def test_a_run_waits_for_its_time_the_windows_and_the_end_of_freezes(
    asked: Run, rules: ChangeRules | None, changed: dict[str, Any], due: datetime | None, words: str
) -> None:
    found = gate(asked, rules=rules, **changed)
    assert (found and found.due) == due
    assert found is None or (found.status is RunStatus.SCHEDULED and words in found.waits_for)


def test_an_approval_is_asked_for_before_the_time_comes(asked: Run) -> None:
    found = gate(asked, approval="any", rules=NIGHT)
    assert found is not None
    assert found.status is RunStatus.NEEDS_APPROVAL


def held_by(run: Run, *rules: ChangeRules, unreadable: str = "", emulated: bool = True, **changed: Any) -> Wait:
    fields = {**{name: getattr(run, name) for name in Run.__dataclass_fields__}, **changed}
    holding = EffectiveRules("none", rules, unreadable)
    found = waits(
        Run(**fields), ASKED, rules=holding, emulated=emulated, decisions=[], contributors=lambda: (), now=NOW
    )
    assert found is not None
    assert found.status is RunStatus.SCHEDULED
    return found


@pytest.mark.parametrize(
    ("rules", "emulated"),
    [
        ((ChangeRules(),), False),
        ((ChangeRules(writable=False),), True),
        ((ChangeRules(writable=True), ChangeRules()), False),
        ((ChangeRules(writable=True), ChangeRules(writable=False)), False),
    ],
)
def test_a_read_only_network_holds_a_run(asked: Run, *, rules: tuple[ChangeRules, ...], emulated: bool) -> None:
    assert "to be writable" in held_by(asked, *rules, emulated=emulated).waits_for


def test_a_read_only_network_is_told_with_the_file_that_says_so(asked: Run) -> None:
    rules = EffectiveRules(
        "none", (ChangeRules(writable=True), ChangeRules()), file="inventories/campus/changes.yaml"
    )
    found = waits(asked, ASKED, rules=rules, emulated=False, decisions=[], contributors=lambda: (), now=NOW)
    assert found is not None
    assert found.waits_for == "network campus to be writable by inventories/campus/changes.yaml"


def test_every_rule_has_to_leave_it_open(asked: Run) -> None:
    early = ChangeRules(windows=(Window(from_="02:00", to="13:00"),))
    held = held_by(asked, early, NIGHT)
    assert held.due == datetime(2026, 11, 26, 2, 0, tzinfo=UTC), "the first moment of both"
    assert "the change windows" in held.waits_for
    assert held_by(asked, ChangeRules(), FROZEN).due == NOW + timedelta(days=1)


def test_windows_that_never_meet_hold_it_and_say_so(asked: Run) -> None:
    day = ChangeRules(windows=(Window(from_="08:00", to="16:00"),))
    held = held_by(asked, day, NIGHT)
    assert (held.due, "never meet" in held.waits_for) == (NOW + LOOK_AGAIN, True)


def test_rules_that_are_not_known_hold_it_with_the_reason(asked: Run) -> None:
    held = held_by(asked, ChangeRules(), unreadable="the rules of campus cannot be read now")
    assert (held.waits_for, held.due) == ("the rules of campus cannot be read now", NOW + LOOK_AGAIN)
    soon = NOW + timedelta(minutes=1)
    assert held_by(asked, ChangeRules(), unreadable="lost", deadline=soon).due == soon
