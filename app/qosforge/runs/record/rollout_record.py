"""The rollout as a run's stages record it: the planned waves, and the devices that were left out."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from qosforge.inventory.rollout import Rollout
from qosforge.runs.record.stages import Stage
from qosforge.runs.record.step_error import StepError
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.summaries import PlannedWave, PushSummary, ReadBackSummary, ReadSummary, RolloutSummary
from qosforge.runs.record.tables import RunStatus

STAGE = "rollout"
LEAVE_OUT = "leave-out"
LEAVES_OUT = frozenset({RunStatus.KEPT, RunStatus.NO_CHANGES})
"""Ends of a run whose change stands, though devices may have been left out of it."""


def planned_waves(store: RunStore, run_id: str) -> list[PlannedWave]:
    """The waves that a run planned last; none before it did."""
    return last_plan(store.stages(run_id)) or []


def last_plan(stages: Iterable[Stage]) -> list[PlannedWave] | None:
    """The waves that these stages planned last; ``None`` before they did."""
    plan = None
    for stage in stages:
        if isinstance(stage.summary, RolloutSummary) and stage.summary.waves is not None:
            plan = stage.summary.waves
    return plan


def wave_states(stages: Iterable[Stage], attempt: int) -> list[tuple[PlannedWave, str]]:
    """The waves that an attempt planned, with how far each came: ``to come``, ``now``, ``done``, ``failed``,
    ``rolled back``.
    """
    mine = [stage for stage in stages if stage.run_attempt == attempt]
    states: dict[int, str] = {}
    for stage in mine:
        match stage.summary:
            case PushSummary() if stage.outcome is None:
                states[len(states) + 1] = "now"
            case PushSummary(wave=int(number), errors=errors):
                states[number] = "failed" if errors else "now"
            case ReadBackSummary(wave=int(number), errors=errors):
                is_failed = bool(errors) or states.get(number) == "failed"
                states[number] = "failed" if is_failed else "done"
    back = {
        name
        for stage in mine
        if stage.name == "rollback" and isinstance(stage.summary, ReadSummary)
        for name in stage.summary.running
    }
    found = []
    for number, wave in enumerate(last_plan(mine) or (), 1):
        undone = number in states and set(wave.devices) <= back
        found.append((wave, "rolled back" if undone else states.get(number, "to come")))
    return found


def may_leave_out(
    rollout: Rollout, concerned: Collection[str], failed: Collection[str], *, needs_all: bool
) -> bool:
    """Whether a change goes on without devices that failed before any was touched, by the rules of its network.

    Of the devices it is about one must be left. ``needs_all``: it takes all of them, as a rollback does, and what a
    twin of the network judges.
    """
    missing = len(frozenset(failed) & frozenset(concerned))
    return not needs_all and missing < len(concerned) and missing <= rollout.may_fail(len(concerned))


def left_out(stages: Iterable[Stage], attempt: int) -> dict[str, StepError]:
    """The devices that an attempt left out, with the error of each."""
    return {
        error.device: error for stage in stages if stage.run_attempt == attempt for error in stage.summary.left_out
    }
