"""Outcomes made by hand, so that comparisons can be tried without a simulation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from qosforge.experiments.cases import SubjectSelection
from qosforge.experiments.model import Claim, Experiment
from qosforge.experiments.rows import ResultRow
from qosforge.experiments.running import ExperimentOutcome, ExperimentSession, LoadPoint


def experiment(*claims: Mapping[str, Any], **fields: Any) -> Experiment:
    """An experiment with these claims; what they leave out is filled in."""
    whole = [
        {"id": f"c{n}", "where": "here", "subject": "device", "scenario": "s", "kind": "measured", **claim}
        for n, claim in enumerate(claims)
    ]
    return Experiment.model_validate(
        {
            "version": 1,
            "name": "made",
            "title": "made by hand",
            "paper": {"title": "none", "authors": "nobody", "year": 2000},
            "testbed": "none",
            "delay_reference": "arrival",
            "rate_layer": "frame",
            "scenarios": {"s": {}, "t": {}},
            "claims": whole,
            **fields,
        }
    )


def row(subject: str, load: float | None = None, **fields: Any) -> ResultRow:
    """A row with a selection that has no flows."""
    return ResultRow(subject, load, fields.pop("selection", SubjectSelection()), **fields)


def session(of: Experiment, points: Mapping[str, Sequence[LoadPoint]]) -> ExperimentSession:
    """A session that has run ``of`` with these points by scenario."""
    made = ExperimentSession(1)
    made._outcomes[of.name] = ExperimentOutcome(of, 1, {name: tuple(found) for name, found in points.items()})
    return made


def point(*rows: ResultRow, trials: Sequence[Sequence[ResultRow]] = ()) -> LoadPoint:
    """One load: rows of all trials together, and of each."""
    by_trial = tuple({one.subject: one for one in trial} for trial in trials)
    return LoadPoint(rows[0].load, {one.subject: one for one in rows}, by_trial)


def claim(**fields: Any) -> dict[str, Any]:
    """A claim on throughput unless it says otherwise."""
    return {"metric": "throughput_mbps", "type": "approx", "value": 100.0, **fields}


__all__ = ["Claim", "claim", "experiment", "point", "row", "session"]
