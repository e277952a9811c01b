"""Expected beside observed, and trade-offs: what others lost for a gain."""

from __future__ import annotations

import html
import math
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qosforge.api.run_models import report_document
from qosforge.cli.measurement_tables import print_accounts
from qosforge.cli.run_output import expected_json
from qosforge.cli.terminal import out
from qosforge.reports.model import RunReport
from qosforge.reports.run_report import render_run_report
from qosforge.reports.scenario_figures import scenario_figures
from qosforge.reports.trade_offs import TradeOff, accounts, side_texts, trade_off_text, trade_offs
from qosforge.tester.measurement.document import FlowResult, Measurement, ScenarioResult, When

MS = 10**9
Figures = tuple[int, int]
"""Throughput in b/s and mean delay in ms."""


def measured(
    when: When,
    classes: dict[str, Figures],
    *,
    expected: int | None = 100_000,
    most: int | None = None,
    bound_ms: int | None = 80,
) -> Measurement:
    flows = tuple(
        FlowResult(
            name=f"{name}-{number}",
            traffic_class=name,
            path="a→b",
            sent=100,
            delivered=100,
            lost=0,
            mean_delay_ps=delay * MS,
            max_delay_ps=2 * delay * MS,
            throughput_bps=rate // 2,
            offered_bps=150_000 if name != "tcp" else None,
            expected_bps=expected,
            expected_most_bps=most,
            delay_bound_ps=None if bound_ms is None else bound_ms * MS,
        )
        for name, (rate, delay) in classes.items()
        for number in range(2)
    )
    scenario = ScenarioResult(name="wan", title="Over the WAN", flows=flows)
    return Measurement(
        when=when, evidence="emulated", tester="twin", seed=1, delay_reference="first bit", scenarios=(scenario,)
    )


BEFORE = measured("before", {"voice": (200_000, 60), "tcp": (800_000, 60), "rest": (400_000, 60)})
AFTER = measured("after", {"voice": (400_000, 5), "tcp": (700_000, 80), "rest": (300_000, 90)})


def balance(what: str) -> TradeOff:
    return next(entry for entry in trade_offs(BEFORE, AFTER) if entry.what == what)


def test_accounts_pool_the_flows_of_a_class() -> None:
    voice = next(a for a in accounts(BEFORE, AFTER) if a.traffic_class == "voice")

    assert voice.before is not None
    assert voice.after is not None
    assert (voice.offered_bps, voice.before.expected_bps, voice.before.observed_bps) == (300_000, 200_000, 200_000)
    assert (voice.before.ratio.number(), voice.after.ratio.number()) == (1.0, 2.0)
    assert side_texts(voice.after) == ("200.0", "400.0", "2.00", "10.0", "80.0")


@pytest.mark.parametrize(
    ("observed", "ratio"), [(100_000, "0.50"), (200_000, "1.00"), (500_000, "1.00"), (1_400_000, "2.00")]
)
def test_an_expectation_from_least_to_most_is_shown_as_such(observed: int, ratio: str) -> None:
    """Two flows of 100 to 350 kb/s: what lies between is as expected."""
    seen = measured("before", {"voice": (observed, 1)}, most=350_000)

    (account,) = accounts(seen, None)

    assert account.before is not None
    assert (account.before.expected_bps, account.before.expected_most_bps) == (200_000, 700_000)
    assert side_texts(account.before)[0] == "200.0–700.0"
    assert side_texts(account.before)[2] == ratio


def test_a_class_of_flows_with_one_number_and_with_two_has_the_sums() -> None:
    one, two = (measured("before", {"voice": (1, 1)}, most=most) for most in (None, 350_000))
    flows = (one.scenarios[0].flows[0], two.scenarios[0].flows[1])
    scenario = one.scenarios[0].model_copy(update={"flows": flows})

    (account,) = accounts(one.model_copy(update={"scenarios": (scenario,)}), None)

    assert account.before is not None
    assert (account.before.expected_bps, account.before.expected_most_bps) == (200_000, 450_000)


def test_what_is_not_known_is_not_told() -> None:
    (account,) = accounts(measured("before", {"tcp": (1, 1)}, expected=None, bound_ms=None), None)

    assert account.before is not None
    assert account.after is None
    assert account.offered_text == "–"
    assert side_texts(account.before) == ("–", "0.0", "–", "2.0", "–")
    assert set(side_texts(account.after)) == {"–"}


def test_more_than_nothing_is_infinitely_much() -> None:
    (account,) = accounts(measured("before", {"tcp": (1000, 1)}, expected=0), None)

    assert account.before is not None
    assert math.isinf(account.before.ratio.number() or 0)


def test_the_classes_that_lost_throughput_paid_for_the_one_that_gained() -> None:
    found = balance("throughput")

    assert [(e.traffic_class, e.change, e.part) for e in found.gained] == [("voice", 200_000, 1.0)]
    assert [(e.traffic_class, e.change, e.part) for e in found.lost] == [
        ("tcp", -100_000, 0.5),
        ("rest", -100_000, 0.5),
    ]
    assert (
        trade_off_text(found)
        == "throughput: voice +200.0 kb/s; at the cost of tcp -100.0 kb/s (50%), rest -100.0 kb/s (50%)"
    )


def test_delay_is_paid_by_the_traffic_that_has_it() -> None:
    """20 ms more for 750 kb/s on average, 30 ms more for 350 kb/s."""
    found = balance("delay")

    assert [(e.traffic_class, e.change) for e in found.gained] == [("voice", -55)]
    assert [(e.traffic_class, e.change) for e in found.lost] == [("tcp", 20), ("rest", 30)]
    assert [e.part for e in found.lost] == pytest.approx([15_000 / 25_500, 10_500 / 25_500])
    assert trade_off_text(found) == "delay: voice -55.0 ms; at the cost of tcp +20.0 ms (59%), rest +30.0 ms (41%)"


def test_gains_that_cost_nobody_are_reported_so() -> None:
    (found,) = trade_offs(measured("before", {"a": (100, 9)}), measured("after", {"a": (100, 3)}))
    (back,) = trade_offs(measured("before", {"a": (100, 3)}), measured("after", {"a": (100, 9)}))

    assert trade_off_text(found) == "delay: a -6.0 ms, at nobody's cost"
    assert trade_off_text(back) == "delay: a +6.0 ms (100%), and nobody gained"


def test_chance_is_no_payment() -> None:
    near = measured("after", {"voice": (203_000, 60), "tcp": (795_000, 60), "rest": (402_000, 60)})

    assert trade_offs(BEFORE, near) == ()


def test_one_side_alone_has_no_ledger() -> None:
    assert trade_offs(BEFORE, None) == ()
    assert trade_offs(None, AFTER) == ()


FIGURES = st.dictionaries(
    st.sampled_from("abcd"), st.tuples(st.integers(0, 10**6), st.integers(0, 500)), min_size=1
)


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(FIGURES, FIGURES)
def test_going_back_changes_the_sides(one: dict[str, Figures], other: dict[str, Figures]) -> None:
    there = trade_offs(measured("before", one), measured("after", other))
    back = trade_offs(measured("before", other), measured("after", one))

    assert {(entry.what, len(entry.gained), len(entry.lost)) for entry in there} == {
        (entry.what, len(entry.lost), len(entry.gained)) for entry in back
    }
    for entry in there:
        for side in (entry.gained, entry.lost):
            assert not side or sum(part.part for part in side) == pytest.approx(1)
        sign = 1 if entry.what == "throughput" else -1
        assert all(part.change * sign > 0 for part in entry.gained)
        assert all(part.change * sign < 0 for part in entry.lost)


def test_the_page_and_the_terminal_tell_it() -> None:
    report = RunReport(
        id="1", network="n", intent="i", status="kept", started=datetime(2026, 1, 2, tzinfo=UTC),
        before=BEFORE, after=AFTER,
    )  # fmt: skip
    with out.capture() as captured:
        print_accounts(BEFORE, AFTER)
    for text in (render_run_report(report), captured.get()):
        assert "Expected and observed" in text
        assert "voice +200.0 kb/s; at the cost of tcp -100.0 kb/s (50%), rest -100.0 kb/s (50%)" in text
        assert "2.00" in text
        assert "80.0" in text


def _mixed(when: When, real: Figures, simulated: Figures) -> Measurement:
    """A scenario with packets on one path, and a simulation of another one."""
    whole = measured(when, {"voice": simulated, "tcp": (800_000, 60)})
    (one,), (other,) = measured(when, {"voice": real}).scenarios, whole.scenarios
    elsewhere = tuple(flow.model_copy(update={"path": "c→d"}) for flow in other.flows)
    parts = one.model_copy(update={"evidence": "measured"}), other.model_copy(update={"flows": elsewhere})
    return whole.model_copy(update={"scenarios": parts})


def test_measured_packets_are_nowhere_pooled_with_simulated_ones() -> None:
    before, after = _mixed("before", (200_000, 60), (200_000, 60)), _mixed("after", (400_000, 5), (100_000, 90))
    found = {(one.evidence, one.what): trade_off_text(one) for one in trade_offs(before, after)}
    assert found == {
        ("measured", "throughput"): "throughput, measured: voice +200.0 kb/s, at nobody's cost",
        ("measured", "delay"): "delay, measured: voice -55.0 ms, at nobody's cost",
        ("emulated", "throughput"): "throughput, emulated: voice -100.0 kb/s (100%), and nobody gained",
        ("emulated", "delay"): "delay, emulated: voice +30.0 ms (100%), and nobody gained",
    }
    voice = [one for one in accounts(before, after, by_path=False) if one.traffic_class == "voice"]
    assert [(one.evidence, one.after.observed_bps) for one in voice if one.after] == [
        ("measured", 400_000),
        ("emulated", 100_000),
    ]
    report = RunReport(
        id="1", network="n", intent="i", status="kept", started=datetime(2026, 1, 2, tzinfo=UTC),
        before=before, after=after,
    )  # fmt: skip
    with out.capture() as captured:
        print_accounts(before, after)
    drawn = scenario_figures(report)
    assert drawn is not None
    documents = [
        [one.model_dump(mode="json") for one in told]
        for told in (trade_offs(before, after), drawn.trade_offs, report_document(report).trade_offs)
    ]
    assert documents[0] == documents[1] == documents[2] == expected_json(before, after)["trade_offs"]
    page, terminal = html.unescape(render_run_report(report)), " ".join(captured.get().split())
    assert [text for text in found.values() if text not in page or text not in terminal] == []


def test_a_side_of_one_evidence_is_held_against_its_like() -> None:
    before, after = _mixed("before", (200_000, 60), (200_000, 60)), measured("after", {"voice": (100_000, 90)})
    assert {one.evidence for one in trade_offs(before, after)} == {"emulated"}
