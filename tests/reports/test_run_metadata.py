"""The head of a report: who asked for what, what the run waits for, and who decided."""

from __future__ import annotations

from datetime import UTC, datetime

from qosforge.reports.markdown import run_markdown
from qosforge.reports.model import DecisionReport, RunReport
from qosforge.reports.run_metadata import run_metadata
from qosforge.reports.run_report import render_run_report

AT = datetime(2026, 11, 20, 19, 45, tzinfo=UTC)


def decision(candidate: str, *, approved: bool = True, comment: str = "") -> DecisionReport:
    return DecisionReport(candidate=candidate, approved=approved, by="bob", comment=comment, at=AT)


WAITS = RunReport(
    id="1",
    network="campus",
    intent="gold",
    status="needs_approval",
    started=AT,
    created_by="ann",
    ticket="CHG000123",
    source={"repository": "campus/qos", "commit": "3f78", "path": "policies/gold.yaml", "dirty": "yes"},
    waits_for="approval by somebody else",
    candidate="new",
    decisions=(decision("old"), decision("new", approved=False, comment="not <b>now</b>")),
)


def test_an_approver_sees_who_asks_for_what_and_what_others_said() -> None:
    assert run_metadata(WAITS) == (
        ("created by", "ann"),
        ("ticket", "CHG000123"),
        ("policy from", "campus/qos 3f78 policies/gold.yaml, changed since"),
        ("waits for", "approval by somebody else"),
        ("candidate", "new"),
        ("approved by", "bob, 2026-11-20 19:45 UTC, what it would have done before"),
        ("rejected by", "bob, 2026-11-20 19:45 UTC: not <b>now</b>"),
    )


def test_the_page_and_the_comment_have_them_and_take_no_markup_from_them() -> None:
    page, comment = render_run_report(WAITS), run_markdown(WAITS)
    for text in (page, comment):
        assert "CHG000123" in text
        assert "<b>now" not in text
        assert "&lt;b" in text


def test_what_is_not_known_is_left_out() -> None:
    undo = RunReport(id="2", network="n", intent="i", status="kept", started=AT, created_by="ann", rollback_of="1")
    assert run_metadata(undo) == (("created by", "ann"), ("rolls back run", "1"))
