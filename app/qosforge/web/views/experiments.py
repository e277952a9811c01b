"""The page of an experiment: claims, results, and whether they agree."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from qosforge.api.backend import Backend
from qosforge.api.jobs.experiment import plot_experiment
from qosforge.api.jobs.queue import JobProgress
from qosforge.experiments import experiment_labels, experiment_names, load_experiment
from qosforge.experiments.model import Ascending, Claim, ClaimKind, Experiment, Operand, OperandRatio, Relation

SEED = 1
"""The seed of the runs of the pages: everybody sees the same figures."""

MOST_ROWS = 300
"""Rows that a page shows; the document has all of them."""

_SMALL = 1e-3
"""Below it two digits are enough, and no exponent is written."""
_EVERY = "every experiment"

_UNITS = {"mbps": "Mb/s", "kbps": "kb/s", "us": "µs", "ms": "ms", "percent": "%"}
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
    """A published claim beside our result, in readers' words; ``agrees`` is ``None`` before it was run."""

    claim: Claim
    about: str
    scenario: str
    published: str
    ours: str
    agrees: bool | None
    reason: str

    @property
    def origin(self) -> str:
        """How the figure came about, by its name; empty where only an order was published."""
        return "" if self.claim.kind is ClaimKind.ORDER else self.claim.kind.value

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


def submit_every_experiment(backend: Backend) -> None:
    """Submit the jobs of all experiments that were not run yet; each at most once, whoever asks.

    They wait as those of a person of their own, so that the jobs of people take turns with them.
    """
    names = experiment_names()
    for name in names:
        backend.jobs.submit(
            outcome_key(name),
            plot_experiment,
            name,
            SEED,
            person=_EVERY,
            queue="long",
            most_waiting=len(names),
        )


def experiment_progress(backend: Backend, name: str) -> JobProgress | None:
    """The progress of an experiment's job; ``None`` where it was not submitted since the service started."""
    return backend.jobs.progress(outcome_key(name))


def claim_views(experiment: Experiment, document: Mapping[str, Any] | None) -> tuple[ClaimView, ...]:
    """All claims in the paper's order, with our results where it was run."""
    found = {one["id"]: one for one in document["comparisons"]} if document else {}
    return tuple(_claim(experiment, claim, found.get(claim.id)) for claim in experiment.claims)


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


def row_views(experiment: Experiment, document: Mapping[str, Any]) -> tuple[RowView, ...]:
    """The first rows of an outcome, up to `MOST_ROWS`."""
    return tuple(_row(experiment, row) for row in document["rows"][:MOST_ROWS])


def _row(experiment: Experiment, row: Mapping[str, Any]) -> RowView:
    delay = row["delay_us"] or {}
    return RowView(
        experiment_labels().scenario(experiment.name, row["scenario"]),
        experiment_labels().subject(row["subject"]),
        _figure(row["load"]),
        _figure(row["offered_mbps"]),
        _figure(row["throughput_mbps"]),
        _figure(delay.get("mean")),
        _figure(delay.get("max")),
        _figure(row["loss_ratio"], 100),
    )


def _figure(value: float | None, times: float = 1) -> str:
    return "–" if value is None else _number(value * times)


def claims_by_place(views: Sequence[ClaimView]) -> list[tuple[str, list[ClaimView]]]:
    """The claims by where the paper makes them, in the paper's order; what differs comes before all else."""
    places: dict[str, list[ClaimView]] = {}
    for view in views:
        places.setdefault(_place(view.claim.where), []).append(view)
    in_order = ((where, sorted(found, key=_severity)) for where, found in places.items())
    return sorted(in_order, key=lambda place: _severity(place[1][0]))


def _severity(view: ClaimView) -> int:
    """The lower, the more a reader has to know of it: sorting keeps the paper's order among equals."""
    return {"no": 0, "explained": 1}.get(view.mark, 2)


def _place(where: str) -> str:
    """The table, figure or section: what comes after a table's name is a cell."""
    first = where.partition(", ")[0]
    return first if first.startswith("Table") else where


def tally(views: Sequence[ClaimView]) -> dict[str, int]:
    """The number of claims by agreement."""
    return {mark: sum(view.mark == mark for view in views) for mark in ("yes", "explained", "no")}


def _claim(experiment: Experiment, claim: Claim, found: Mapping[str, Any] | None) -> ClaimView:
    labels = experiment_labels()
    metric, unit = _measure(claim.metric)
    reason = str(found["reason"]) if found else "" if claim.reproducible else claim.note
    return ClaimView(
        claim,
        f"{metric[:1].upper()}{metric[1:]}, {labels.subject(claim.subject)}",
        labels.scenario(experiment.name, claim.scenario),
        _published_text(experiment, claim, unit),
        _obtained_text(found["obtained"], "" if claim.type is Relation.RATIO else unit) if found else "",
        bool(found["holds"]) if found else None,
        reason,
    )


def _measure(metric: str) -> tuple[str, str]:
    name, _, unit = metric.rpartition("_")
    if name and unit in _UNITS:
        return experiment_labels().metric(name), _UNITS[unit]
    return experiment_labels().metric(metric), ""


def _published_text(experiment: Experiment, claim: Claim, unit: str) -> str:
    value = claim.value
    if isinstance(value, Ascending):
        steps = [_operand(experiment, claim, one) for one in value.ascending]
        return " < ".join(steps) if value.strict else " ≤ ".join(steps)
    if isinstance(value, OperandRatio):
        top, bottom = (_operand(experiment, claim, one) for one in (value.top, value.bottom))
        of = f"{top}: " if _is_another(claim, value.top) else ""
        bottom = bottom if value.bottom.metric else f"that of {bottom}"
        return f"{of}{_LIMITS[value.relation]} {_number(value.value)} × {bottom}".replace(
            "  ", " "
        ).strip() + _within(claim, "")
    if claim.printed:
        return f"{claim.printed} {unit}".strip() if claim.printed[-1].isdigit() else claim.printed
    return f"{_LIMITS[claim.type]} {_number(value)} {unit}".strip() + _within(claim, unit)


def _within(claim: Claim, unit: str) -> str:
    tolerance = claim.tolerance
    parts = [f"{tolerance.rel * 100:.3g} %"] if tolerance.rel else []
    parts += [f"{_number(tolerance.abs)} {unit}".strip()] if tolerance.abs else []
    return f" (± {' or '.join(parts)})" if parts else ""


def _is_another(claim: Claim, one: Operand) -> bool:
    """Whether an operand is of something else than what the claim itself is about."""
    own = (None, claim.subject), (None, claim.scenario), (None, claim.metric), (None,)
    return any(
        value not in same
        for value, same in zip((one.subject, one.scenario, one.metric, one.experiment), own, strict=True)
    )


def _operand(experiment: Experiment, claim: Claim, one: Operand) -> str:
    labels = experiment_labels()
    other = load_experiment(one.experiment) if one.experiment else experiment
    words = [
        f"“{other.title}”" if one.experiment else "",
        labels.subject(one.subject) if one.subject else "",
        labels.scenario(other.name, one.scenario) if one.scenario else "",
        _measure(one.metric)[0] if one.metric else "",
    ]
    return ", ".join(word for word in words if word) or labels.subject(claim.subject)


def _obtained_text(value: object, unit: str) -> str:
    match value:
        case None:
            return "–"
        case list():
            return " → ".join(_obtained_text(one, "") for one in value) + (f" {unit}" if unit else "")
        case dict():
            device, names = experiment_labels().beside(value)
            told = "; ".join(f"{names[name]}: {_obtained_text(one, unit)}" for name, one in value.items())
            return f"{device}: {told}" if device else told
        case float() | int():
            return f"{_number(value)} {unit}".strip()
    return str(value)


def _number(value: float) -> str:
    if 0 < abs(value) < _SMALL:
        return f"{value:.{1 - math.floor(math.log10(abs(value)))}f}"
    return f"{value:,.4g}" if abs(value) < 10_000 else f"{value:,.0f}"
