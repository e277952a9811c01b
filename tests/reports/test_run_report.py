"""The HTML report: everything in it, nothing from outside, no markup from names or devices."""

from __future__ import annotations

from datetime import UTC, datetime
from html.parser import HTMLParser

import pytest

from qosforge.deltaq.difference import differences
from qosforge.deltaq.distribution import DeltaQ
from qosforge.deltaq.objective import Evidence, Objective, Quantity
from qosforge.deltaq.verdict import judge
from qosforge.findings import Finding, Severity
from qosforge.reports.figures import class_figures, figures_of
from qosforge.reports.model import ClassVerdict, DeviceReport, RunReport, StageReport
from qosforge.reports.run_metadata import run_metadata
from qosforge.reports.run_report import render_run_report
from qosforge.reports.table import format_bound
from qosforge.reports.verdict_rows import verdict_rows
from qosforge.tester.measurement.changes import ClassChange
from qosforge.tester.measurement.document import (
    FlowResult,
    Measurement,
    ScenarioResult,
    When,
    class_sample,
    quantiles_ps,
)

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
MS = 10**9
OBJECTIVE = Objective(delay={"p95": 0.04, "p99": 0.06}, loss=0.01, episode_packets=1)
NASTY = '<script>alert("1")</script>&<img src=x onerror=y>'
EVIDENCE: Evidence = "emulated"


class Page(HTMLParser):
    """Collects tags with their attributes, text, and whether every element was closed."""

    VOID = frozenset({"meta", "br", "img", "link", "input"})

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def measured(when: When, delay_ms: int, lost: int, name: str = "voice-video") -> Measurement:
    delays = [delay_ms * MS + number % 7 * MS // 10 for number in range(600)]
    for number in range(lost):
        delays[number * 10] = -1
    arrived = [delay for delay in delays if delay >= 0]
    flow = FlowResult(
        name="v",
        traffic_class=name,
        kind="voice",
        path="a→b",
        sent=len(delays),
        delivered=len(arrived),
        lost=lost,
        mean_delay_ps=sum(arrived) // len(arrived),
        sd_delay_ps=MS,
        min_delay_ps=min(arrived),
        max_delay_ps=max(arrived),
        interarrival_sd_ps=MS,
        quantiles_ps=quantiles_ps(DeltaQ.from_delays(delays)),
        samples=tuple((number * 20 * MS, delay) for number, delay in enumerate(delays)),
    )
    return Measurement(
        when=when,
        evidence=EVIDENCE,
        tester="twin",
        seed=7,
        delay_reference="arrival to end of transmission",
        scenarios=(ScenarioResult(name="wan", title=f"{name} over the WAN", flows=(flow,)),),
    )


def judged(measurement: Measurement, name: str = "voice-video") -> tuple[ClassVerdict, ...]:
    verdict = judge(OBJECTIVE, class_sample(measurement, "wan", {name}), evidence=EVIDENCE)
    return (ClassVerdict(scenario="wan", traffic_class=name, objective=OBJECTIVE, verdict=verdict),)


def report(name: str = "voice-video", text: str = "campus") -> RunReport:
    before, after = measured("before", 50, 60, name), measured("after", 12, 0, name)
    finding = Finding(
        code="Q201",
        severity=Severity.WARNING,
        message=f"not capped {text}",
        device=text,
        requested="50 %",
        applied=text,
        hint="police it",
    )
    return RunReport(
        id="0193",
        network=text,
        intent=text,
        status="kept",
        started=NOW,
        finished=NOW,
        stages=(StageReport(name="compile", started=NOW, seconds=1.25, outcome="ok", summary=text),),
        devices=(
            DeviceReport(
                name=text,
                platform="cisco_ios",
                outcome="changed",
                candidate=f"policy-map {text}",
                inverse=f"no policy-map {text}",
                diff=f"--- old\n+++ new\n+policy-map {text}\n-fair-queue\n same",
                configuration=f"hostname {text}",
                findings=(finding,),
            ),
            DeviceReport(name="idle", platform="force10_e300", outcome="unchanged"),
        ),
        findings=(finding, finding.model_copy(update={"code": "Q900", "severity": Severity.ERROR})),
        before=before,
        after=after,
        verdicts_before=judged(before, name),
        verdicts_after=judged(after, name),
    )


def test_paths_that_rest_on_different_evidence_say_so_and_the_weakest_is_that_of_the_whole() -> None:
    whole = report()
    (first,) = whole.verdicts_after
    packets = first.model_copy(
        update={"path": "a→b", "verdict": first.verdict.model_copy(update={"evidence": "measured"})}
    )
    both = whole.model_copy(update={"verdicts_after": (packets, first.model_copy(update={"path": "c→d"}))})
    assert (both.evidence("before"), both.evidence("after")) == ("emulated", "emulated")
    text = Page(render_run_report(both)).text
    assert "evidence: emulated, the weakest of its paths: a→b measured; c→d emulated" in text
    assert "a→b, measured" in text
    assert "c→d, emulated" in text
    assert "weakest" not in Page(render_run_report(whole)).text


def test_everything_is_in_it() -> None:
    page = Page(render_run_report(report()))
    assert page.open == []
    for text in (
        "campus on campus",
        "✘ broken",
        "✔ met",
        "at 95 % confidence, evidence: emulated",
        "variation" if OBJECTIVE.variation else "delay p99",
        "≤ 60 ms",
        "benefit (%)",
        "jitter (inter-arrival sd) (ms)",
        "Q900",
        "police it",
        "no policy-map campus",
        "Nothing to change.",
        "1.25",
        "2026-01-02 03:04:05 UTC",
        "voice-video over the WAN",
    ):
        assert text in page.text
    assert page.text.index("Q900") < page.text.index("Q201")


def test_what_a_change_did_stands_beside_its_verdict() -> None:
    whole = report()
    assert whole.before is not None
    assert whole.after is not None
    sides = [class_sample(side, "wan", {"voice-video"}) for side in (whole.before, whole.after)]
    bounds = differences(OBJECTIVE, sides[0], sides[1], confidence=0.95, paired=False)
    change = ClassChange(scenario="wan", traffic_class="voice-video", confidence=0.95, bounds=bounds)
    page = Page(render_run_report(whole.model_copy(update={"changes": (change,)})))
    assert page.open == []
    assert "better: " in page.text
    assert "better: " not in Page(render_run_report(whole)).text


def test_it_stands_alone() -> None:
    rendered = render_run_report(report())
    page = Page(rendered)
    assert rendered.startswith("<!DOCTYPE html>")
    assert not {tag for tag, _ in page.tags} & {"script", "link", "img", "iframe", "object"}
    targets = [
        value or "" for _, attrs in page.tags for key, value in attrs.items() if key.endswith(("href", "src"))
    ]
    assert targets
    assert all(target.startswith("#") for target in targets)
    ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    assert {target[1:] for target in targets} <= set(ids)


def test_names_and_configurations_are_never_markup() -> None:
    page = Page(render_run_report(report(name=NASTY, text=NASTY)))
    assert page.open == []
    assert not {tag for tag, _ in page.tags} & {"script", "img"}
    assert NASTY in page.text


def test_diff_lines_are_reported_apart() -> None:
    page = Page(render_run_report(report()))
    classes = [attrs.get("class") for tag, attrs in page.tags if tag == "span"]
    assert [classes.count(kind) for kind in ("add", "del", "note")] == [1, 1, 2]


def test_the_same_run_gives_the_same_bytes() -> None:
    assert render_run_report(report()) == render_run_report(report())


def test_a_run_that_was_rejected_has_a_report() -> None:
    rejected = RunReport(id="1", network="n", intent="i", status="rejected", started=NOW)
    page = Page(render_run_report(rejected))
    for text in ("nothing was judged", "No traffic was measured", "No device was touched", "rejected", "None."):
        assert text in page.text
    assert rejected.outcome_after() is None
    assert RunReport.model_validate_json(rejected.model_dump_json()) == rejected


def test_a_run_with_one_side_only_has_a_report() -> None:
    page = Page(render_run_report(report().model_copy(update={"after": None, "verdicts_after": ()})))
    assert "not judged" in page.text
    assert "benefit" not in page.text[page.text.index("Traffic before") :].replace("The benefit is", "")


def test_a_plot_says_what_changed() -> None:
    _, figure = class_figures(report())
    # 50 to 50.6 ms and a tenth lost, then 12 to 12.6 ms and nothing lost.
    assert figure.change == (
        "After the push, more packets arrive by deadlines between 12 ms and 50.6 ms (95 % confidence)."
    )
    assert figure.change in Page(render_run_report(report())).text


def test_a_plot_says_what_was_gained_and_what_was_lost() -> None:
    both = {"before": measured("before", 50, 0), "after": measured("after", 12, 60)}
    assert class_figures(report().model_copy(update=both))[1].change == (
        "After the push, more packets arrive by deadlines between 12 ms and 50.4 ms and fewer packets arrive by "
        "a deadline of 50.6 ms (95 % confidence)."
    )


def test_a_plot_says_when_nothing_tells_before_and_after_apart() -> None:
    same = report().model_copy(update={"after": measured("after", 50, 60)})
    assert "do not tell before and after apart" in class_figures(same)[1].change
    one_side = report().model_copy(update={"after": None, "verdicts_after": ()})
    assert class_figures(one_side)[1].change == ""


def test_verdicts_are_paired_by_bound() -> None:
    rows = verdict_rows(report())
    assert [row.bound.label for row in rows] == ["delay p95", "delay p99", "loss"]
    assert [(row.sides["before"].outcome, row.sides["after"].outcome) for row in rows] == [
        ("broken", "met"),
        ("broken", "met"),
        ("broken", "met"),
    ]


@pytest.mark.parametrize(
    ("number", "kind", "text"),
    [
        (0.04, "delay", "40 ms"),
        (0.0123456, "variation", "12.35 ms"),
        (9.4, "delay", "9400 ms"),
        (9.99951, "delay", "10 s"),
        (26.684, "mean", "26.68 s"),
        (0.001, "loss", "0.1 %"),
        (Quantity(infinite=True), "delay", "∞"),
        (Quantity(), "loss", "–"),
        (Quantity(value=0.5), "loss", "50 %"),
    ],
)
def test_amounts(number: Quantity | float, kind: str, text: str) -> None:
    assert format_bound(number, kind) == text


def test_the_first_figure_of_a_scenario_shows_what_its_classes_got() -> None:
    traffic, delta_q = class_figures(report())
    assert (traffic.kind, delta_q.kind) == ("traffic", "deltaq")
    assert [row.name for row in traffic.table.rows] == ["voice-video, before", "voice-video, after"]
    assert [row.cells[3].text for row in traffic.table.rows] == ["10", "0"]
    assert [row.cells[3].above for row in traffic.table.rows] == [True, False]
    assert delta_q.judged
    assert [row.name for row in delta_q.table.rows] == ["before", "after", "requested"]
    assert traffic.key != delta_q.key


def test_a_prediction_stands_between_before_and_after() -> None:
    predicted = measured("predicted", 15, 0)
    figures = class_figures(report().model_copy(update={"predicted": predicted}))
    assert [row.name for row in figures[1].table.rows] == ["before", "predicted", "after", "requested"]
    assert figures[1].change.startswith("After the push, more packets")


def test_what_was_only_predicted_has_figures_too() -> None:
    predicted = measured("predicted", 15, 0)
    traffic, delta_q = figures_of([predicted], judged(predicted))
    assert [row.name for row in traffic.table.rows] == ["voice-video, predicted"]
    assert [row.name for row in delta_q.table.rows] == ["predicted", "requested"]
    assert delta_q.change == ""


def test_the_facts_tell_why_a_run_ended_where_and_the_way_on() -> None:
    told = {
        "reason": "r1 is held by run 7",
        "reason_step": "lock",
        "reason_device": "r1",
        "reason_hint": "qosforge recover",
    }
    facts = dict(run_metadata(report().model_copy(update=told)))
    assert [facts[name] for name in ("because", "at step", "on device", "way on")] == list(told.values())
