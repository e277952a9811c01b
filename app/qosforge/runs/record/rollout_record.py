"""The rollout as a run's stages record it: the planned waves, and the devices that were left out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from qosforge.runs.record.stages import Stage
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.tables import RunStatus

Json = dict[str, Any]

STAGE = "rollout"
LEAVE_OUT = "leave-out"
LEAVES_OUT = frozenset({RunStatus.KEPT, RunStatus.NO_CHANGES})
"""Ends of a run whose change stands, though devices may have been left out of it."""


def planned_waves(store: RunStore, run_id: str) -> list[Json]:
    """The waves that a run planned last; none before it did."""
    planned = [stage.summary["waves"] for stage in store.stages(run_id) if stage.name == STAGE and stage.summary]
    waves: list[Json] = planned[-1] if planned else []
    return waves


def wave_states(stages: Iterable[Stage], attempt: int) -> list[tuple[Json, str]]:
    """The waves that an attempt planned, with how far each came: ``to come``, ``now``, ``done``, ``failed``,
    ``rolled back``.
    """
    mine = [stage for stage in stages if stage.run_attempt == attempt]
    planned = [stage.summary["waves"] for stage in mine if stage.name == STAGE and "waves" in stage.summary]
    states: dict[int, str] = {}
    for stage in mine:
        if stage.name == "push" and stage.outcome is None:
            states[len(states) + 1] = "now"
        elif stage.name in ("push", "read-back") and "wave" in stage.summary:
            failed = bool(stage.summary.get("errors"))
            states[stage.summary["wave"]] = "failed" if failed else "now" if stage.name == "push" else "done"
    back = {name for stage in mine if stage.name == "rollback" for name in stage.summary.get("running", ())}
    found = []
    for number, wave in enumerate(planned[-1] if planned else (), 1):
        undone = number in states and set(wave["devices"]) <= back
        found.append((wave, "rolled back" if undone else states.get(number, "to come")))
    return found


def left_out(stages: Iterable[Stage], attempt: int) -> dict[str, Json]:
    """The devices that an attempt left out, with the error of each."""
    found: dict[str, Json] = {}
    for stage in stages:
        if stage.run_attempt == attempt:
            for error in stage.summary.get("left_out") or ():
                found[error["device"]] = error
    return found
