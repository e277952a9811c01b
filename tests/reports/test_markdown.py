"""Markdown for comments, as a CommonMark reader with tables renders it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from qosforge.cli.run_output import print_whole, run_json
from qosforge.findings import Finding, Severity
from qosforge.reports.checks import CheckReport
from qosforge.reports.junit import run_junit
from qosforge.reports.markdown import LONGEST, check_markdown, prose, run_markdown
from qosforge.reports.preview import CandidateDocument, DevicePreview, FidelityDocument, GapDocument
from qosforge.reports.run_report import render_run_report
from qosforge.reports.unjudged_trade_offs import TradeOffFigure, UnjudgedTradeOff

from .test_run_report import NASTY, Page, report

READER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def render(text: str) -> Page:
    return Page(READER.render(text))


def device(name: str, text: str, configuration: str) -> DevicePreview:
    fidelity = [(text, "approximate", 50.0, 33.3), ("web", "exact", None, None)]
    return DevicePreview(
        name=name,
        platform="cisco_ios",
        plan={},
        complete=True,
        configuration=configuration,
        blocks=(),
        classes={},
        fidelity=tuple(
            FidelityDocument(
                traffic_class=c, interface="Serial0", fidelity=f, requested_percent=a, applied_percent=w
            )
            for c, f, a, w in fidelity
        ),
        candidate=CandidateDocument(
            device=name,
            delta=(configuration, "end"),
            inverse=("no it",),
            gaps=(GapDocument(place=text, first=1, lines=2),),
        ),
    )


def check(text: str = "voice", configuration: str = "policy-map P", boxes: int = 1) -> CheckReport:
    finding = Finding(
        code="scope-empty",
        severity=Severity.ERROR,
        message=text,
        device=text,
        traffic_class=text,
        requested=text,
        hint=text,
    )
    devices = tuple(
        device(text if number == 0 else f"device{number}", text, configuration) for number in range(boxes)
    )
    return CheckReport(text, "p.yaml", text, "ab12" * 16, (finding,), devices)


def test_a_preview_shows_findings_fidelity_configuration_and_what_would_be_entered() -> None:
    page = render(check_markdown(check()))
    tags = [tag for tag, _ in page.tags]
    assert page.open == []
    assert (tags.count("table"), tags.count("details"), tags.count("pre")) == (2, 2, 4)
    for text in (
        "scope-empty",
        "1 error, no warnings, no notes",
        "policy-map P",
        "Rollback lines",
        "no it",
        "33.3 %",
    ):
        assert text in page.text
    assert "1 of 2 treatments are exact" in page.text


def test_the_changes_come_first_and_alike_ones_once() -> None:
    lines = (" policy-map P", "  class voice", "-  priority percent 50", "+  priority percent 40", "  class web")
    boxes = [device(name, "voice", "policy-map P") for name in ("r1", "r2", "r3")]
    changed = [
        box.model_copy(update={"candidate": box.candidate.model_copy(update={"difference": difference})})
        for box, difference in zip(boxes, (lines, ("+router",), lines), strict=True)
        if box.candidate
    ]
    shown = check_markdown(CheckReport("voice", "p.yaml", findings=check().findings, devices=tuple(changed)))
    first = shown.index("<summary>r1, r3: 2 lines change (+1 −1)</summary>")
    assert (
        shown.index("3 devices change: +3 −2 lines.") < first < shown.index("<summary>r2: 1 line changes (+1 −0)")
    )
    assert first < shown.index("scope-empty")
    assert "```diff\n policy-map P\n  class voice\n-  priority percent 50\n+  priority percent 40\n```" in shown
    assert shown.count("priority percent 40") == 1


def test_a_run_that_waits_links_to_where_it_is_approved() -> None:
    waiting = report().model_copy(update={"status": "needs_approval"})
    shown = run_markdown(waiting, "https://qos.example.org/runs/1")
    assert "[Look at it, then approve or reject it](https://qos.example.org/runs/1)" in shown
    assert "approve" not in run_markdown(report(), "https://qos.example.org/runs/1").partition("<details>")[0]
    assert "https://qos.example.org/runs/1" in run_junit(waiting, "https://qos.example.org/runs/1")


def test_a_run_without_changes_says_what_came_of_its_objectives() -> None:
    update = {"status": "no_changes", "verdicts_after": (), "after": None}
    assert "**no changes**, objective ❌ broken." in run_markdown(report().model_copy(update=update))
    cancelled = report().model_copy(update={**update, "status": "cancelled"})  # what was before says nothing of it
    assert "**cancelled**. " in run_markdown(cancelled)


def test_a_device_that_holds_it_already_says_so() -> None:
    held = CandidateDocument(device="r1", delta=(), inverse=(), gaps=())
    box = device("r1", "voice", "").model_copy(update={"candidate": held})
    made = CheckReport("voice", "p.yaml", devices=(box,))
    assert "nothing would be entered" in render(check_markdown(made)).text


@pytest.mark.parametrize(
    "nasty",
    [
        NASTY,
        "a | b",
        "`code` ``more`` *bold* _it_ ~~gone~~ [link](http://evil.example) ![x](http://evil.example/p.png)",
        "</details></summary><h1>gone",
        "line\nbreak\n\n# heading\n- item",
        "```\nout of the fence\n```` \n~~~",
        "https://evil.example www.evil.example",
    ],
)
def test_no_text_changes_how_the_rest_looks(nasty: str) -> None:
    plain, page = render(check_markdown(check())), render(check_markdown(check(nasty, nasty)))

    assert [tag for tag, _ in page.tags] == [tag for tag, _ in plain.tags]
    assert page.open == []
    assert " ".join(nasty.split()) in page.text
    assert nasty in page.text  # in the configuration, as it is


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Z"]), min_size=1, max_size=40))
def test_prose_reads_as_it_was_written(text: str) -> None:
    page = render(f"before {prose(text)} after")
    assert page.text == f"before {text} after\n"
    assert {tag for tag, _ in page.tags} == {"p"}


def test_nobody_is_mentioned_and_no_issue_is_referred_to() -> None:
    shown = check_markdown(check("@everyone fixes #12 and !7"))
    assert not re.search(r"[@!]\w|#\d", shown.replace("`", " ").partition("<details>")[0])
    assert "@everyone fixes #12 and !7" in render(shown).text


def test_a_comment_is_bounded_and_says_what_is_left_out() -> None:
    shown = check_markdown(check(configuration="line of a configuration\n" * 400, boxes=12))
    assert len(shown) <= LONGEST
    assert render(shown).open == []
    assert re.search(r"\d+ devices left out", shown)


def test_many_findings_are_counted() -> None:
    made = check("x" * 5000)
    many = CheckReport("voice", "p.yaml", findings=made.findings * 300)
    shown = check_markdown(many)
    assert len(shown) <= LONGEST
    assert "300 errors" in shown
    assert render(shown).open == []


def test_a_run_shows_its_verdicts_and_devices() -> None:
    page = render(run_markdown(report()))
    assert page.open == []
    for text in ("kept", "✅ met", "❌ broken", "≤ 60 ms", "campus: changed", "no policy-map campus"):
        assert text in page.text
    assert "fair-queue" not in page.text  # the device's own line
    assert "What the verdicts rest on" in page.text
    assert "independent ones" in page.text


@pytest.mark.parametrize(
    ("verdicts", "told"),
    [
        ({}, "is worse off: loss 26.9 % simulated → 81.7 % on a→b, the worst of 2 paths"),
        (
            {"verdicts_before": (), "verdicts_after": ()},
            "would be worse off: loss 26.9 % today → 81.7 % predicted on a→b, the worst of 2 paths",
        ),
    ],
)
def test_who_pays_for_a_change_is_told_in_every_report(
    verdicts: dict[str, Any], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    figure = TradeOffFigure(label="loss", before=0.269, after=0.817, scenario="one", path="a→b")
    paid = UnjudgedTradeOff(name="default", number=3, figures=(figure,), paths=2, known="simulated")
    made = report()
    shown = made.model_copy(
        update={"unjudged_trade_offs": (paid,), "verdicts_predicted": made.verdicts_before, **verdicts}
    )
    print_whole(shown)
    for page in (
        render(run_markdown(shown)).text,
        Page(render_run_report(shown)).text,
        capsys.readouterr().out,
    ):
        assert f"default has no objective and {told}" in " ".join(page.split())
    assert run_json(shown, (), None)["unjudged_trade_offs"][0]["figures"][0]["before"] == 0.269


def test_a_run_with_markup_in_its_names_looks_the_same() -> None:
    plain, page = (render(run_markdown(report(name, name))) for name in ("plain", NASTY))
    assert [tag for tag, _ in page.tags] == [tag for tag, _ in plain.tags]


def test_what_is_only_worth_knowing_is_folded_away() -> None:
    note = Finding(code="class-replaced", severity=Severity.INFO, message="takes a place", device="r1")
    shown = check_markdown(CheckReport("voice", "p.yaml", findings=(note, *check().findings)))
    visible, folded = shown.split("<details>")
    assert "1 note</summary>" in folded
    assert "takes a place" not in visible
    assert "takes a place" in folded
    assert render(shown).open == []
