"""What a rollback does with the lines of the run that it rolls back."""

from __future__ import annotations

from qosforge.reports.gathered_changes import GatheredChange
from qosforge.web.views.device_changes import count_lines, lines_back, lines_left


def test_a_rollback_takes_what_came_and_brings_back_what_went() -> None:
    change = GatheredChange(("a", "b"), (" interface 1", "+ out", "+ in", "- before"))
    assert count_lines([change]) == (4, 2)
    assert lines_back([change], "a") == (1, 2)
    assert lines_back([change], "other") == (0, 0)


def test_lines_that_a_rollback_does_not_take_away_are_named() -> None:
    entered = [GatheredChange(("a", "b"), ("+map 34 5", "+map 8 0", "+map 8 0")), GatheredChange(("c",), ("+x",))]
    taken = [GatheredChange(("a",), ("-map 8 0",)), GatheredChange(("b",), ("-map 34 5", "-map 8 0", "-map 8 0"))]
    left = lines_left(entered, taken)
    assert left == {"a": ("map 34 5", "map 8 0")}, "c is no device of the rollback"
