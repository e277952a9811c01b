"""Attempts at a run, by the stages that belong to them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qosforge.runs.record.stages import Stage


def attempt_start(stages: Iterable[Stage], attempt: int) -> datetime | None:
    """When an attempt at a run began its first stage; ``None`` where it began none. By all stages."""
    return min((stage.started for stage in stages if stage.run_attempt == attempt), default=None)
