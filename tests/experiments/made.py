"""Outcomes made by hand, so that comparisons can be tried without a simulation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from qosforge.experiments.cases import Selection
from qosforge.experiments.model import Claim, Experiment
from qosforge.experiments.rows import Row
from qosforge.experiments.running import Outcome, Point, Session


def experiment(*claims: Mapping[str, Any], **fields: Any) -> Experiment:
    """An experiment with these claims; what they leave out is filled in."""
    whole = [
        {"id": f"c{n}", "where": "here", "subject": "box", "scenario": "s", "kind": "measured", **claim}
        for n, claim in enumerate(claims)
    ]
    return Experiment.model_validate(
        {
            "version": 1,
            "name": "made",
            "title": "made by hand",
            "paper": {"title": "none", "authors": "nobody", "year": 2000},
            "bench": "none",
            "delay_reference": "arrival",
            "rate_layer": "frame",
            "scenarios": {"s": {}, "t": {}},
            "claims": whole,
            **fields,
        }
    )


def row(subject: str, load: float | None = None, **fields: Any) -> Row:
    """A row with a selection that has no flows."""
    return Row(subject, load, fields.pop("selection", Selection()), **fields)


def session(of: Experiment, points: Mapping[str, Sequence[Point]]) -> Session:
    """A session that has run ``of`` with these points by scenario."""
    made = Session(1)
    made._outcomes[of.name] = Outcome(of, 1, {name: tuple(found) for name, found in points.items()})
    return made


def point(*rows: Row, trials: Sequence[Sequence[Row]] = ()) -> Point:
    """One load: rows of all trials together, and of each."""
    by_trial = tuple({one.subject: one for one in trial} for trial in trials)
    return Point(rows[0].load, {one.subject: one for one in rows}, by_trial)


def claim(**fields: Any) -> dict[str, Any]:
    """A claim on throughput unless it says otherwise."""
    return {"metric": "throughput_mbps", "type": "approx", "value": 100.0, **fields}


__all__ = ["Claim", "claim", "experiment", "point", "row", "session"]
