"""How verdicts are printed: of one side or two, and what an open one would take."""

from __future__ import annotations

import pytest

from qosforge.cli.measurement_tables import print_verdicts, print_verdicts_of
from qosforge.cli.terminal import UNBOUNDED, out
from qosforge.deltaq.objective import Objective
from qosforge.deltaq.verdict import judge
from qosforge.tester.measurement.judging import ClassVerdict

MS = 10**9
OBJECTIVE = Objective(delay={"p99": 0.040}, episode_packets=1)


def judged(packets: int, delay_ms: int = 30) -> ClassVerdict:
    sent = [(number * 20 * MS, delay_ms * MS) for number in range(packets)]
    verdict = judge(OBJECTIVE, sent, evidence="measured")
    return ClassVerdict(scenario="wan", traffic_class="voice", path="a→b", objective=OBJECTIVE, verdict=verdict)


@pytest.fixture(autouse=True)
def _no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(out, "width", UNBOUNDED)


def test_what_holds_now_has_one_side(capsys: pytest.CaptureFixture[str]) -> None:
    print_verdicts_of([judged(400)], "now")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].strip() == "Verdicts (evidence: measured)"
    assert lines[1].split() == ["scenario", "class", "path", "bound", "requested", "now"]
    assert lines[2].split() == ["wan", "voice", "a→b", "delay", "p99", "40", "ms", "30", "ms", "met"]
    assert lines[3] == (
        "wan a→b: in one measurement, 99 % of voice packets took at most 30 ms; 400 packets, worth 400 "
        "independent ones; it is one realisation: its limits say nothing of what differs from one such time to "
        "another; none later than asked, which is taken to happen to up to 1 packet in one go (shown for up to "
        "1.3 packets)"
    )
    assert len(lines) == 4


def test_an_open_verdict_says_what_it_would_take(capsys: pytest.CaptureFixture[str]) -> None:
    print_verdicts_of([judged(200)], "now")
    printed = capsys.readouterr().out
    assert "inconclusive" in printed
    assert "wan voice a→b: about 99 more packets would decide" in printed


def test_only_the_last_side_is_asked_for_more(capsys: pytest.CaptureFixture[str]) -> None:
    print_verdicts({"before": [judged(200)], "after": [judged(400)]}, every_bound=True)
    printed = capsys.readouterr().out
    assert printed.splitlines()[1].split()[-2:] == ["before", "after"]
    assert "inconclusive" in printed
    assert "more packets" not in printed
    assert printed.count("in one measurement") == 1


@pytest.mark.parametrize("width", [40, 80, 124, UNBOUNDED])
def test_no_verdict_is_cut_whatever_the_width(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], width: int
) -> None:
    monkeypatch.setattr(out, "width", width)
    long = judged(400).model_copy(update={"path": "traffic-of-the-first-floor→server-of-the-second-floor"})
    open_ = judged(200).model_copy(update={"path": long.path})
    print_verdicts({"before": [long], "predicted": [open_], "after": [long]}, every_bound=True)
    printed = capsys.readouterr().out
    assert "…" not in printed
    table = printed[: printed.index("in one measurement")]
    assert [word for word in table.split() if word in ("met", "inconclusive")] == ["met", "inconclusive", "met"]
    assert max(map(len, table.splitlines()[:-1])) <= width


def test_a_narrow_terminal_has_the_cells_below_each_other(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(out, "width", 40)
    print_verdicts({"before": [judged(200)], "after": [judged(400)]}, every_bound=True)
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert lines[1:5] == ["wan · voice · a→b", "bound delay p99", "requested 40 ms", "before 30 ms inconclusive"]
    assert lines[5] == "after 30 ms met"


def test_no_figure_stands_beside_an_outcome_that_another_bound_made(capsys: pytest.CaptureFixture[str]) -> None:
    """Before, the median was broken and p99 was not; after, p99 is the nearest to its limit."""
    objective = Objective(delay={"p50": 0.020, "p99": 0.100}, episode_packets=1)

    def side(delays_ms: list[int]) -> ClassVerdict:
        sent = [(number * 20 * MS, delays_ms[number % len(delays_ms)] * MS) for number in range(1000)]
        verdict = judge(objective, sent, evidence="measured")
        return ClassVerdict(scenario="wan", traffic_class="voice", path="a→b", objective=objective, verdict=verdict)

    print_verdicts({"before": [side([60])], "after": [side([1] * 9 + [90])]}, every_bound=False)
    first, second = (" ".join(line.split()) for line in capsys.readouterr().out.splitlines()[2:4])
    assert first == "wan voice a→b delay p99 100 ms 60 ms 90 ms met"
    assert second == "delay p50 20 ms 60 ms broken 1 ms"


def test_nothing_judged_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    print_verdicts({"before": (), "after": ()}, every_bound=True)
    print_verdicts_of((), "now")
    assert not capsys.readouterr().out
