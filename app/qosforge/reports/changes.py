"""The effect of a change on a class, in words."""

from __future__ import annotations

from qosforge.deltaq.difference import BoundDifference
from qosforge.reports.table import format_bound
from qosforge.tester.measurement.changes import ClassChange


def change_sentence(of: ClassChange, bound: BoundDifference) -> str:
    """One bound before and after, and the difference with its limits."""
    sides = " → ".join(_side(bound, quantity.number()) for quantity in (bound.before, bound.after))
    where = f" {of.path}" if of.path else ""
    return f"{of.traffic_class}{where} {bound.label} {sides} ({difference(bound)})"


def difference(bound: BoundDifference) -> str:
    """The difference in words, with its confidence limits."""
    word = {"open": "not told apart"}.get(bound.change, bound.change)
    limits = limits_of(bound)
    return f"{word}: {limits}" if limits else word


def limits_of(bound: BoundDifference) -> str:
    """The limits of after − before with a unit; empty where there is none."""
    if bound.low is None and bound.high is None:
        return ""
    low, high = ("…" if limit is None else _format_signed(bound, limit) for limit in (bound.low, bound.high))
    unit = high.partition(" ")[2]
    both = low if low == high else f"{low.removesuffix(f' {unit}') if unit else low} to {high}"
    return f"packets too late or lost {both}" if bound.share else both


def got_better(of: ClassChange) -> str:
    """The first bound that a change shows to be better, in words; empty where none is."""
    return next((change_sentence(of, bound) for bound in of.bounds if bound.change == "better"), "")


def _side(bound: BoundDifference, value: float | None) -> str:
    return "–" if value is None else format_bound(value, bound.kind)


def _format_signed(bound: BoundDifference, value: float) -> str:
    sign = "−" if value < 0 else "+" if value > 0 else ""
    if bound.share or bound.kind == "loss":  # a difference of percentages is in points
        return f"{sign}{format_bound(abs(value), 'loss').removesuffix(' %')} points"
    return f"{sign}{format_bound(abs(value), bound.kind)}"
