"""Where the delay arises, as reports show it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from qosforge.deltaq.objective import Objective
from qosforge.deltaq.verdict import judge
from qosforge.reports.delay_origin import delay_origins, not_recorded, run_origins
from qosforge.reports.markdown import run_markdown
from qosforge.reports.model import RunReport
from qosforge.reports.run_report import render_run_report
from qosforge.tester.measurement.document import Measurement
from qosforge.tester.measurement.judging import ClassVerdict
from tests.reports.origins import measured, path_delay
from tests.reports.test_run_report import NASTY, Page


def report(before: Measurement | None, after: Measurement | None, requested: str = "p99") -> RunReport:
    objective = Objective(delay={"p50": 0.01, requested: 0.04})
    verdict = judge(objective, [(n, 10**9) for n in range(500)], evidence="emulated")
    judged = ClassVerdict(scenario="calls", traffic_class="voice", path="a→b", objective=objective, verdict=verdict)
    return RunReport(
        id="r",
        network="campus",
        intent="i",
        status="kept",
        started=datetime(2026, 1, 2, tzinfo=UTC),
        before=before,
        after=after,
        verdicts_after=(judged,),
    )


def test_every_hop_has_its_parts_and_the_whole_path_their_sum() -> None:
    (one,) = run_origins(report(None, measured("after", path_delay())))
    assert (one.heading, one.quantile) == ("voice, a→b, after", "p99")
    quick, slow, whole = one.hops
    assert (quick.place, quick.cells) == ("a nic → r1", ("1.000", "1.000", "0.000", "0.000", "0 %"))
    assert (slow.place, slow.cells) == ("r1 Serial0 → b", ("1.000", "1.000", "7.000", "8.000", "1 %"))
    assert whole.cells == ("2.000", "2.000", "7.000", "–", "1 %")
    composed, seen = one.checks
    assert composed.cells == ("10.000", "15.000", "15.000", "1 %")
    assert seen.cells == ("10.000", "12.000", "12.000", "1 %")
    assert one.summary == (
        "82 % of the mean delay of 11 ms arises at r1 Serial0 → b, most of that is waiting; "
        "100 % of the loss at r1 Serial0 → b"
    )
    assert "distance about 4.900 ms, no more than 5.000 ms" in one.ends
    assert "The model has a distance of 2.000 ms" in one.ends


def test_the_quantile_is_that_of_the_objective() -> None:
    after = measured("after", path_delay())
    assert run_origins(report(None, after, "p99.9"))[0].quantile == "p99.9"
    assert delay_origins([after], ())[0].quantile == "p95"


@pytest.mark.parametrize(
    ("composed", "says"),
    [
        (15.0, "25 % longer than measured: packets that waited long at one hop waited less"),
        (9.0, "25 % less than measured: packets that waited long at one hop did so at others too"),
        (12.12, "agree to 1.0 %: the hops act as if independent"),
        (None, "At p50 composed and measured agree to 0.0 %"),
    ],
)
def test_a_difference_is_said_in_words(composed: float | None, says: str) -> None:
    (one,) = run_origins(report(None, measured("after", path_delay(composed_ms=composed))))
    assert says in one.agreement


def test_of_a_class_of_which_nothing_arrived_the_loss_is_reported() -> None:
    (one,) = run_origins(report(None, measured("after", path_delay(lost=1000))))
    assert one.summary == "nothing arrived; most was lost at r1 Serial0 → b"
    assert one.hops[1].cells == ("–", "–", "–", "–", "100 %")
    assert one.checks[0].cells == ("∞", "∞", "∞", "100 %")
    assert "cannot be compared" in one.agreement
    assert "none arrived" in one.ends


def test_reports_show_it_on_both_sides() -> None:
    run = report(measured("before", path_delay(20)), measured("after", path_delay(node=NASTY)))
    shown = render_run_report(run)
    page = Page(shown)
    assert page.open == []
    assert NASTY not in shown
    assert NASTY in page.text
    assert page.text.count("composed of the hops") == 2
    assert [attributes for tag, attributes in page.tags if tag == "details" and "open" in attributes] != []
    text = run_markdown(run)
    assert text.count("Where the delay arises") == 1
    assert "| whole path | 2.000 | 2.000 | 7.000 | – | 1 % |" in text
    assert "<script" not in text


def test_what_an_older_measurement_did_not_record_is_said() -> None:
    old = measured("before", recorded=False)
    run = report(old, measured("after", path_delay()))
    assert not_recorded((old, run.after, None)) == ("before",)
    assert "before: not recorded by this measurement" in render_run_report(run)
    assert "not recorded before the push" in run_markdown(run)
    assert "No judged class was measured" in render_run_report(report(None, None))
