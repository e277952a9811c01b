"""The steps of a run as people follow them: which is under way, how long each took, and which devices it is at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

from qosforge.reports.model import DecisionReport
from qosforge.runs.record.run import Run
from qosforge.runs.record.stages import Stage
from qosforge.runs.record.tables import RunStatus, StageOutcome
from qosforge.runs.views.progress import DeviceStep, Progress, StepState

State = Literal["done", "now", "waiting", "failed", "open"]

_STAGES: dict[str, tuple[str, ...]] = {
    "read": ("read",),
    "check": ("compile", "validate", "prepare", "predict", "rollout"),
    "approve": (),
    "measure-before": ("measure-before",),
    "push": ("push", "leave-out"),
    "verify": ("read-back", "counters"),
    "measure-after": ("measure-after", "compare"),
    "keep": ("keep",),
    "rollback": ("rollback",),
}
"""The stages of each step; a longer look at a measurement belongs to it."""
_MEASURED = ("measure-before", "measure-after")
_OF_DEVICES = {
    "read": (DeviceStep.READ,),
    "check": (DeviceStep.PREPARE,),
    "push": (DeviceStep.PUSH,),
    "verify": (DeviceStep.READ_BACK, DeviceStep.COUNTERS),
    "keep": (DeviceStep.KEEP,),
    "rollback": (DeviceStep.ROLL_BACK,),
}


class Judged(NamedTuple):
    """The objectives that a measurement judged and that it did not show to be met."""

    broken: int
    inconclusive: int


@dataclass(frozen=True)
class Step:
    """One step: ``seconds`` of its stages that ended, ``since`` when what is under way began."""

    name: str
    state: State
    seconds: float | None = None
    since: datetime | None = None
    busy: tuple[str, ...] = ()
    """Devices that it is at now."""
    devices: str = ""
    """How many of them it is done with: ``3/9``; empty where it is not done device by device."""
    broken: int = 0
    """Of a measurement: the objectives that it shows to be broken. It is done none the less."""
    inconclusive: int = 0


@dataclass(frozen=True)
class StageRow:
    """A stage as it is listed: ``last`` is how it went last, after ``tries`` that failed alike.

    ``seconds`` are those of all of them.
    """

    last: Stage
    tries: int
    first: datetime
    seconds: float


def stage_rows(stages: Sequence[Stage]) -> list[StageRow]:
    """Stages in their order; tries at one that follow each other and fail alike are one row."""
    rows: list[list[Stage]] = []
    for stage in stages:
        if rows and _fails_like(stage, rows[-1][-1]):
            rows[-1].append(stage)
        else:
            rows.append([stage])
    return [StageRow(row[-1], len(row), row[0].started, _seconds(row)) for row in rows]


def rollback_rows(stages: Sequence[Stage]) -> list[StageRow]:
    """The tries at rolling back, as they are listed."""
    return [row for row in stage_rows(stages) if row.last.name == "rollback"]


def refused_rollback(stages: Sequence[Stage]) -> tuple[StageRow, datetime] | None:
    """The last tries at rolling back that failed alike, and when it was done; ``None`` where it was not so."""
    rows = rollback_rows(stages)
    failed = [row for row in rows if row.last.summary.errors]
    back = rows[-1].last.ended if rows else None
    return None if not failed or back is None or failed[-1] is rows[-1] else (failed[-1], back)


def _fails_like(stage: Stage, other: Stage) -> bool:
    same = (stage.name, stage.summary.errors) == (other.name, other.summary.errors)
    return same and bool(stage.summary.errors)


def steps_of(
    run: Run,
    progress: Progress,
    decisions: Sequence[DecisionReport],
    judged: Mapping[str, Judged],
    *,
    asks: bool,
) -> tuple[Step, ...]:
    """The steps of the last attempt of a run, in their order.

    ``decisions`` are those on its change, also from before this attempt read the devices again. ``judged`` is what
    the measurement came to that decides on the run, by its step. ``asks``: its rules want an approval, which shows
    as long as one may still be asked for.
    """
    waits = run.status is RunStatus.NEEDS_APPROVAL
    approval = bool(decisions) or waits or (asks and _is_before_approval(run, progress))
    approved = bool(decisions) and decisions[-1].approved
    names = [name for name in _STAGES if name != "rollback"]
    if not run.resolved.measure or run.resolved.rollback_of:
        names = [name for name in names if name not in _MEASURED]
    if not approval:
        names.remove("approve")
    if run.status is RunStatus.ROLLED_BACK or any(stage.name == "rollback" for stage in progress.stages):
        names[names.index("keep")] = "rollback"
    found = [_step(name, run, progress, judged.get(name)) for name in names]
    if not approval:
        return tuple(found)
    at = names.index("approve")
    passed = any(step.state != "open" for step in found[at + 1 :])
    state: State = "waiting" if run.status is RunStatus.NEEDS_APPROVAL else "done" if passed or approved else "open"
    found[at] = Step("approve", state, since=run.updated if state == "waiting" else None)
    return tuple(found)


def _is_before_approval(run: Run, progress: Progress) -> bool:
    """Whether a run that goes on has begun nothing yet that would follow an approval."""
    names = list(_STAGES)
    later = {stage for name in names[names.index("approve") + 1 :] for stage in _STAGES[name]}
    return not run.status.final and later.isdisjoint(stage.name for stage in progress.stages)


def _step(name: str, run: Run, progress: Progress, judged: Judged | None) -> Step:
    stages = [stage for stage in progress.stages if stage.name.partition("-look-")[0] in _STAGES[name]]
    busy, counted = _devices(name, progress)
    if not stages:
        return Step(name, "open")
    open_ = next((stage for stage in stages if stage.outcome is None), None)
    if open_ is not None and not run.status.final:
        return Step(name, "now", _seconds(stages), open_.started, busy, counted)
    last_tries = {stage.name: stage for stage in stages}.values()
    failed = any(_failed(stage) for stage in last_tries) or (judged is None and _is_why(name, run))
    told = judged or Judged(0, 0)
    return Step(
        name,
        "failed" if failed else "done",
        _seconds(stages),
        devices=counted if failed else "",
        broken=told.broken,
        inconclusive=told.inconclusive,
    )


def _is_why(name: str, run: Run) -> bool:
    """Whether a run did not come to what it was for by what came out of a step."""
    return run.status is RunStatus.ROLLED_BACK and name != "rollback" and run.reason_step in _STAGES[name]


def _failed(stage: Stage) -> bool:
    return stage.outcome is StageOutcome.FAILED or bool(
        stage.summary.errors or getattr(stage.summary, "refused", 0)
    )


def _seconds(stages: Sequence[Stage]) -> float:
    spans = (stage.ended - stage.started for stage in stages if stage.ended is not None)
    return sum(spans, timedelta()).total_seconds()


def _devices(name: str, progress: Progress) -> tuple[tuple[str, ...], str]:
    """The devices that a step is at, and how many of those that it has to do with it is done with."""
    steps = _OF_DEVICES.get(name)
    if steps is None or not progress.devices:
        return (), ""
    states = {one.device: [one.steps[step].state for step in steps] for one in progress.devices}
    busy = tuple(device for device, marks in states.items() if StepState.BUSY in marks)
    ended = sum(marks[-1] in (StepState.DONE, StepState.NOTHING) for marks in states.values())
    return busy, f"{ended}/{len(states)}" if ended else ""
