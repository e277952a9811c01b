"""The base of all models of a plan."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class PlanModel(BaseModel):
    """Base of the plan's models."""

    model_config = ConfigDict(frozen=True, extra="forbid")
