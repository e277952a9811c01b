"""Figures of networks that are not described well enough to be simulated: printed data, nothing is run."""

from __future__ import annotations

from collections.abc import Iterator

from qosforge.experiments.cases import Case
from qosforge.experiments.model import Experiment


def cases(experiment: Experiment) -> Iterator[Case]:
    """No case: the claims are shown with their notes."""
    del experiment
    return iter(())
