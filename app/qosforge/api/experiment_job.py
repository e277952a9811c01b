"""What a computing process does for an experiment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from qosforge.experiments import Outcome, Session, document, load_experiment
from qosforge.experiments.compare import compare


@dataclass(frozen=True)
class Illustrated:
    """The outcome of an experiment as a document, and its plots, an ``<svg>`` each."""

    document: dict[str, Any]
    plots: tuple[str, ...]


def compared(name: str, seed: int) -> dict[str, Any]:
    """The outcome of an experiment and its comparison with what was published.

    Raises:
        ServiceError: the twin refuses a case.
    """
    return _compared(name, seed)[1]


def illustrated(name: str, seed: int) -> Illustrated:
    """As `compared`, with the plots of the same run.

    Raises:
        ServiceError: the twin refuses a case.
    """
    from qosforge.experiments.pictures import pictures  # noqa: PLC0415 - matplotlib takes a second to load

    outcome, found = _compared(name, seed)
    return Illustrated(found, pictures(outcome))


def _compared(name: str, seed: int) -> tuple[Outcome, dict[str, Any]]:
    session = Session(seed)
    outcome = session.outcome(name)
    return outcome, document(outcome, compare(session, load_experiment(name)))
