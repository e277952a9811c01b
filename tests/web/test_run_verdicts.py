"""The table of a run's objectives is put together in time that grows with its rows alone."""

from __future__ import annotations

import cProfile
import math
import pstats

from qosforge.deltaq.objective import BoundVerdict, Quantity
from qosforge.reports.verdict_rows import VerdictRow
from qosforge.web.views.run_verdicts import RunVerdicts


def row(path: int, outcome: str, delay: float = 0.05) -> VerdictRow:
    seen = Quantity.of(delay)
    bound = BoundVerdict.model_construct(label="delay p95", observed=seen, outcome=outcome, requested=0.03)
    return VerdictRow("one", "voice", f"a→{path}", {"after": bound}, {"after": "measured"}, "measured")


def shown(rows: tuple[VerdictRow, ...]) -> tuple[list[VerdictRow], list[VerdictRow]]:
    verdicts = RunVerdicts.__new__(RunVerdicts)
    verdicts.__dict__["rows"] = rows
    return verdicts.shown("voice")


def test_what_exceeds_its_bound_the_most_comes_first() -> None:
    late = [row(path, "broken", delay) for path, delay in enumerate((0.0306, 0.0389, math.inf, 0.0384))]
    met = [row(path, "met", 0.01) for path in (7, 8)]
    first, others = shown((*met, *late))
    assert [one.path for one in first] == ["a→2", "a→1", "a→3", "a→0"]
    assert others == met


def test_what_is_open_for_one_reason_stands_together_where_it_is_much() -> None:
    """Rows that are broken are never folded."""
    open_rows = [row(path, "inconclusive") for path in range(5)]
    for one in open_rows:
        one.bound.__dict__.update(low=Quantity.of(0.01), high=Quantity.of(0.02), requested=0.03, quantile=0.99)
        one.bound.__dict__.update(heavy_tail=False)
    broken = row(9, "broken")
    verdicts = RunVerdicts.__new__(RunVerdicts)
    verdicts.__dict__["rows"] = (*open_rows, broken)
    seen, [(reason, folded)] = verdicts.apart([*open_rows, broken])
    assert (seen, folded) == ([broken], open_rows)
    assert (reason.reason, reason.count, reason.quantiles) == ("few", 5, ("99 %",))
    assert verdicts.apart([*open_rows[:3], broken]) == ([*open_rows[:3], broken], [])


def calls(paths: int) -> int:
    """Python calls for so many paths, of which half are not met."""
    rows = tuple(row(path, ("met", "broken")[path % 2]) for path in range(paths))
    profile = cProfile.Profile()
    profile.enable()
    first, others = shown(rows)
    profile.disable()
    assert (len(first), len(others)) == (paths // 2 + 1, paths // 2 - 1)
    return int(pstats.Stats(profile).total_calls)  # type: ignore[attr-defined]


def test_twice_as_many_paths_cost_twice_as_much() -> None:
    assert calls(400) < 2.5 * calls(200)
