"""What a computing process does for an experiment."""

from __future__ import annotations

from typing import Any

from app.experiments import Session, document, load_experiment
from app.experiments.compare import compare


def compared(name: str, seed: int) -> dict[str, Any]:
    """The outcome of an experiment and its comparison with what was published.

    Raises:
        ServiceError: the twin refuses a case.
    """
    session = Session(seed)
    outcome = session.outcome(name)
    return document(outcome, compare(session, load_experiment(name)))
