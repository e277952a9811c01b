"""The table of metrics, and how a metric is read over several loads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from qosforge.experiments.rows import ResultRow

Known = TypeVar("Known")

Siblings = Mapping[str, ResultRow]
"""All rows of a case by subject."""
OfRow = Callable[[ResultRow, Siblings], float]
OfSweep = Callable[[Sequence[ResultRow]], float]
"""Of several rows of one subject: its loads, or its trials."""
OfChange = Callable[[float, float], float]
OfRowAbove = Callable[[ResultRow, float], float]


class NotMeasured(Exception):
    """The rows do not have what the metric needs; the text says what."""


class LoadAggregate(StrEnum):
    """What the metric of several loads is."""

    MEAN = "mean"
    LARGEST = "largest"


@dataclass(frozen=True)
class Metric:
    """One metric, read in one of five ways.

    ``of_row``: from a row and those of its case, then ``over`` the loads; ``by_trial``: from each trial's rows,
    then their mean: for extremes, which grow with the sample, and for what one sample of all trials would hide.
    ``of_trials``: from a subject's rows in all trials at one load, then the largest over the loads. ``of_sweep``:
    from a subject's rows by rising load. ``of_change``: from the value of ``base`` (the operand's, unless it names
    one) and the same of what the claim counts from. ``of_row_above``: from a row and the value of ``base`` of what
    the claim counts from.
    """

    name: str
    of_row: OfRow | None = None
    over: LoadAggregate = LoadAggregate.MEAN
    by_trial: bool = False
    of_trials: OfSweep | None = None
    of_sweep: OfSweep | None = None
    of_change: OfChange | None = None
    base: str | None = None
    of_row_above: OfRowAbove | None = None


METRICS: dict[str, Metric] = {}


def metric(
    name: str, over: LoadAggregate = LoadAggregate.MEAN, *, by_trial: bool = False
) -> Callable[[OfRow], OfRow]:
    """Enter a function of a row under ``name``."""

    def enter(function: OfRow) -> OfRow:
        METRICS[name] = Metric(name, of_row=function, over=over, by_trial=by_trial)
        return function

    return enter


def sweep(name: str) -> Callable[[OfSweep], OfSweep]:
    """Enter a function of a subject's rows over the load under ``name``."""

    def enter(function: OfSweep) -> OfSweep:
        METRICS[name] = Metric(name, of_sweep=function)
        return function

    return enter


def trials(name: str) -> Callable[[OfSweep], OfSweep]:
    """Enter a function of a subject's rows in the trials at one load under ``name``."""

    def enter(function: OfSweep) -> OfSweep:
        METRICS[name] = Metric(name, of_trials=function)
        return function

    return enter


def change(name: str, base: str | None) -> Callable[[OfChange], OfChange]:
    """Enter a function of a value and the one it is counted from under ``name``."""

    def enter(function: OfChange) -> OfChange:
        METRICS[name] = Metric(name, of_change=function, base=base)
        return function

    return enter


def above(name: str, base: str) -> Callable[[OfRowAbove], OfRowAbove]:
    """Enter a function of a row and a limit, which is ``base`` of another operand, under ``name``."""

    def enter(function: OfRowAbove) -> OfRowAbove:
        METRICS[name] = Metric(name, of_row_above=function, base=base)
        return function

    return enter


def require(value: Known | None, what: str, row: ResultRow) -> Known:
    """``value``, which must have been measured.

    Raises:
        NotMeasured: it was not.
    """
    if value is None:
        raise NotMeasured(f"{row.subject} has no {what}")
    return value


def fact(row: ResultRow, name: str) -> float:
    """A figure of the set-up.

    Raises:
        NotMeasured: the testbed gives none of this name.
    """
    return require(row.selection.facts.get(name), name, row)
