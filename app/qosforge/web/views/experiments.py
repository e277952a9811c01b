"""The page of an experiment: claims, results, and whether they agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from qosforge.api.backend import Backend
from qosforge.api.jobs.experiment import plot_experiment
from qosforge.api.jobs.queue import JobProgress
from qosforge.experiments.model import Ascending, Claim, Experiment, Operand, OperandRatio, Relation

SEED = 1
"""The seed of the runs of the pages: everybody sees the same figures."""

MOST_ROWS = 300
"""Rows that a page shows; the document has all of them."""

_UNITS = {"mbps": "Mb/s", "kbps": "kb/s", "us": "µs", "ms": "ms", "percent": "%"}
_TOGETHER = {"all": "all queues"}
_LIMITS = {
    Relation.BELOW: "below",
    Relation.ABOVE: "above",
    Relation.AT_LEAST: "at least",
    Relation.AT_MOST: "at most",
    Relation.APPROX: "about",
    Relation.EQUAL: "",
    Relation.ORDER: "",
    Relation.RATIO: "",
}


@dataclass(frozen=True)
class ClaimView:
    """A published claim beside our result; ``agrees`` is ``None`` before the experiment was run."""

    claim: Claim
    about: str
    published: str
    ours: str
    agrees: bool | None
    reason: str

    @property
    def mark(self) -> str:
        """The agreement: ``yes``, ``explained`` (no, with a reason), ``no``, or empty before it was run."""
        if self.agrees is None:
            return ""
        return "yes" if self.agrees else "explained" if self.reason else "no"


def outcome_key(name: str) -> str:
    """The job key of an experiment."""
    return f"experiment {name} {SEED}"


def submit_experiment(backend: Backend, name: str, *, person: str) -> JobProgress:
    """Submit the job of an experiment, unless it is under way or done.

    Raises:
        TooBusy: too many experiments of this person wait.
    """
    return backend.jobs.submit(outcome_key(name), plot_experiment, name, SEED, person=person, queue="long")


def experiment_progress(backend: Backend, name: str) -> JobProgress | None:
    """The progress of an experiment's job; ``None`` where it was not submitted since the service started."""
    return backend.jobs.progress(outcome_key(name))


def claim_views(experiment: Experiment, document: Mapping[str, Any] | None) -> tuple[ClaimView, ...]:
    """All claims in the paper's order, with our results where it was run."""
    found = {one["id"]: one for one in document["comparisons"]} if document else {}
    return tuple(_claim(claim, found.get(claim.id)) for claim in experiment.claims)


@dataclass(frozen=True)
class RowView:
    """One measured row with its figures as people read them."""

    scenario: str
    subject: str
    load: str
    offered: str
    throughput: str
    mean_delay: str
    longest_delay: str
    loss: str


def row_views(document: Mapping[str, Any]) -> tuple[RowView, ...]:
    """The first rows of an outcome, up to `MOST_ROWS`."""
    return tuple(_row(row) for row in document["rows"][:MOST_ROWS])


def _row(row: Mapping[str, Any]) -> RowView:
    delay = row["delay_us"] or {}
    return RowView(
        row["scenario"],
        row["subject"],
        _figure(row["load"]),
        _figure(row["offered_mbps"]),
        _figure(row["throughput_mbps"]),
        _figure(delay.get("mean")),
        _figure(delay.get("max")),
        _figure(row["loss_ratio"], 100),
    )


def _figure(value: float | None, times: float = 1) -> str:
    return "–" if value is None else _number(value * times)


def tally(views: Sequence[ClaimView]) -> dict[str, int]:
    """The number of claims by agreement."""
    return {mark: sum(view.mark == mark for view in views) for mark in ("yes", "explained", "no")}


def _claim(claim: Claim, found: Mapping[str, Any] | None) -> ClaimView:
    metric, unit = _measure(claim.metric)
    about = f"{metric}: {_subject(claim.subject)}, scenario {claim.scenario}"
    reason = str(found["reason"]) if found else "" if claim.reproducible else claim.note
    return ClaimView(
        claim,
        about,
        _published_text(claim, unit),
        _obtained_text(found["obtained"], "" if claim.type is Relation.RATIO else unit) if found else "",
        bool(found["holds"]) if found else None,
        reason,
    )


def _subject(subject: str) -> str:
    """What was measured: ``ideal.q3`` is q3 of ideal, ``ideal.all`` all queues of it together."""
    return " and ".join(map(_part, subject.split("+")))


def _part(subject: str) -> str:
    device, _, part = subject.partition(".")
    if not part:
        return subject
    return f"{_TOGETHER.get(part, part.replace('-', ' '))} of {device}"


def _measure(metric: str) -> tuple[str, str]:
    name, _, unit = metric.rpartition("_")
    return (name.replace("_", " "), _UNITS[unit]) if name and unit in _UNITS else (metric.replace("_", " "), "")


def _published_text(claim: Claim, unit: str) -> str:
    value = claim.value
    if isinstance(value, Ascending):
        steps = [_operand(claim, one) for one in value.ascending]
        return f"rises: {' < '.join(steps)}" if value.strict else f"does not fall: {' ≤ '.join(steps)}"
    if isinstance(value, OperandRatio):
        sides = f"{_operand(claim, value.top)} ÷ {_operand(claim, value.bottom)}"
        return f"{sides} {_LIMITS[value.relation]} {_number(value.value)}".replace("  ", " ") + _within(claim, "")
    if claim.printed:
        return f"{claim.printed} {unit}".strip() if claim.printed[-1].isdigit() else claim.printed
    return f"{_LIMITS[claim.type]} {_number(value)} {unit}".strip() + _within(claim, unit)


def _within(claim: Claim, unit: str) -> str:
    tolerance = claim.tolerance
    parts = [f"{tolerance.rel * 100:.3g} %"] if tolerance.rel else []
    parts += [f"{_number(tolerance.abs)} {unit}".strip()] if tolerance.abs else []
    return f" (± {' or '.join(parts)})" if parts else ""


def _operand(claim: Claim, one: Operand) -> str:
    metric = " ".join(_measure(one.metric)).strip() if one.metric else ""
    subject = _subject(one.subject) if one.subject else ""
    words = [word for word in (one.experiment, subject, one.scenario, metric) if word]
    return ", ".join(words) or _subject(claim.subject)


def _obtained_text(value: object, unit: str) -> str:
    match value:
        case None:
            return "–"
        case list():
            return " → ".join(_obtained_text(one, "") for one in value) + (f" {unit}" if unit else "")
        case dict():
            return "; ".join(f"{name}: {_obtained_text(one, unit)}" for name, one in value.items())
        case float() | int():
            return f"{_number(value)} {unit}".strip()
    return str(value)


def _number(value: float) -> str:
    return f"{value:,.4g}" if abs(value) < 10_000 else f"{value:,.0f}"
