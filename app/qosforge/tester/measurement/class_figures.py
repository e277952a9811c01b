"""Loss and mean delay of a class on a path: what tells who pays for a change."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class ClassFigures(BaseModel):
    """What a class got on a path."""

    model_config = ConfigDict(frozen=True)

    traffic_class: str
    path: str
    loss: float = Field(description="Part of its packets that were lost, 0 to 1.")
    mean_ms: float | None = Field(description="How long the others took on average; null where none arrived.")
