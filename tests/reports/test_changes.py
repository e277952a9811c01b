"""The effect of a change on a class, in words."""

from __future__ import annotations

from qosforge.deltaq.difference import BoundDifference
from qosforge.deltaq.objective import Quantity
from qosforge.reports.changes import difference


def changed(kind: str, low: float, high: float, *, share: bool = False) -> str:
    seen = Quantity.of(0.1)
    return difference(
        BoundDifference.model_validate(
            {
                "kind": kind,
                "label": kind,
                "requested": 0.05,
                "before": seen,
                "after": seen,
                "low": low,
                "high": high,
                "share": share,
                "change": "better",
            }
        )
    )


def test_a_difference_of_percentages_is_in_points() -> None:
    assert changed("loss", -0.721, -0.714) == "better: −72.1 to −71.4 points"
    assert changed("delay", -1.0, -0.994, share=True) == "better: packets too late or lost −100 to −99.4 points"


def test_a_unit_that_both_limits_have_is_said_once() -> None:
    assert changed("delay", -0.0471, -0.0462) == "better: −47.1 to −46.2 ms"
    assert changed("delay", -12.5, -0.5) == "better: −12.5 s to −500 ms"
