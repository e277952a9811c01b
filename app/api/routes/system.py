"""The service itself: does it live, is it ready, what is it."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel

router = APIRouter(tags=["system"])


class Health(BaseModel):
    """That the process lives and answers."""

    status: Literal["ok"] = "ok"


@router.get("/health")
async def health() -> Health:
    """Whether the process lives; it looks at nothing else."""
    return Health()
