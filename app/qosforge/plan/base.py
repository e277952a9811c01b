"""The base of all models of a plan."""

from __future__ import annotations

from qosforge.frozen import FrozenModel


class PlanModel(FrozenModel):
    """Base of the plan's models."""
