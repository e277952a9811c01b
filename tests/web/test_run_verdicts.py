"""The table of a run's objectives is put together in time that grows with its rows alone."""

from __future__ import annotations

import cProfile
import pstats

from qosforge.deltaq.objective import BoundVerdict, Quantity
from qosforge.reports.verdict_rows import VerdictRow
from qosforge.web.views.run_verdicts import RunVerdicts


def row(path: int, outcome: str) -> VerdictRow:
    seen = Quantity.of(0.05)
    bound = BoundVerdict.model_construct(label="delay p95", observed=seen, outcome=outcome)
    return VerdictRow("one", "voice", f"a→{path}", {"after": bound}, {"after": "measured"}, "measured")


def shown(rows: tuple[VerdictRow, ...]) -> tuple[list[VerdictRow], list[VerdictRow]]:
    verdicts = RunVerdicts.__new__(RunVerdicts)
    verdicts.__dict__["rows"] = rows
    return verdicts.shown("voice")


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
