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

State = Literal["done", "broken", "inconclusive", "now", "waiting", "failed", "open"]
"""``broken`` and ``inconclusive`` are measurements that were done, by what they show of the objectives."""

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
    by: str = ""
    """Of an approval: who gave it."""
    broken: int = 0
    """Of a measurement: the objectives that it shows to be broken."""
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
    number: int = 0
    """Of a rollback that took several rows: which try at it the last one was. Else 0."""


StepRow = StageRow | DecisionReport
"""What a row of the list of steps is about: a stage, or a decision that was waited for."""


def stage_rows(stages: Sequence[Stage]) -> list[StageRow]:
    """Stages in their order; tries at one that follow each other and fail alike are one row."""
    rows: list[list[Stage]] = []
    for stage in stages:
        if rows and _fails_like(stage, rows[-1][-1]):
            rows[-1].append(stage)
        else:
            rows.append([stage])
    several = sum(row[0].name == "rollback" for row in rows) > 1
    found, tried = [], 0
    for row in rows:
        again = several and row[0].name == "rollback"
        tried += len(row) if again else 0
        found.append(StageRow(row[-1], len(row), row[0].started, _seconds(row), tried if again else 0))
    return found


def step_rows(progress: Progress, decisions: Sequence[DecisionReport], *, earlier: bool) -> list[StepRow]:
    """The steps of a run as they are listed, with the decisions on it, in the order of their time.

    Those of the last attempt, or with ``earlier`` of the attempts before it: a decision is listed there where a
    step of theirs began after it.
    """
    last = max((stage.started for stage in progress.earlier), default=None)
    told = [one for one in decisions if (last is not None and one.at < last) == earlier]
    rows: list[StepRow] = [*stage_rows(progress.earlier if earlier else progress.stages), *told]
    return sorted(rows, key=lambda row: row.first if isinstance(row, StageRow) else row.at)


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
    state: State = "open"
    if waits:
        state = "waiting"
    elif passed or approved:
        state = "done"
    elif decisions:
        state = "failed"  # it was rejected
    given = decisions[-1] if decisions and state != "waiting" else None
    found[at] = Step(
        "approve",
        state,
        None if given is None else _waited(given, progress),
        run.updated if state == "waiting" else None,
        by="" if given is None else given.by,
    )
    return tuple(found)


def _waited(decision: DecisionReport, progress: Progress) -> float | None:
    """Seconds that a change waited for its decision; ``None`` where what came before is not known any more."""
    stages = (*progress.earlier, *progress.stages)
    ended = [stage.ended for stage in stages if stage.ended is not None and stage.ended <= decision.at]
    return (decision.at - max(ended)).total_seconds() if ended else None


def _is_before_approval(run: Run, progress: Progress) -> bool:
    """Whether a run that goes on has begun nothing yet that would follow an approval."""
    return not run.status.final and not any(is_after_approval(stage.name) for stage in progress.stages)


def is_after_approval(stage: str) -> bool:
    """Whether a stage belongs to a step that follows an approval."""
    names = list(_STAGES)
    later = names[names.index("approve") + 1 :]
    return any(stage.partition("-look-")[0] in _STAGES[name] for name in later)


def _step(name: str, run: Run, progress: Progress, judged: Judged | None) -> Step:
    stages = [stage for stage in progress.stages if stage.name.partition("-look-")[0] in _STAGES[name]]
    busy, counted = _devices(name, progress)
    if not stages:
        return Step(name, "open")
    open_ = next((stage for stage in stages if stage.outcome is None), None)
    if open_ is not None and not run.status.final:
        done = _seconds(stages)  # what it was at before counts, too: it is one step for who looks on
        return Step(name, "now", done, open_.started - timedelta(seconds=done), busy, counted)
    last_tries = {stage.name: stage for stage in stages}.values()
    failed = any(has_failed(stage) for stage in last_tries) or (judged is None and _is_why(name, run))
    told = judged or Judged(0, 0)
    return Step(
        name,
        "failed" if failed else "broken" if told.broken else "inconclusive" if told.inconclusive else "done",
        _seconds(stages),
        devices=counted if failed else "",
        broken=told.broken,
        inconclusive=told.inconclusive,
    )


def _is_why(name: str, run: Run) -> bool:
    """Whether a run did not come to what it was for by what came out of a step."""
    return run.status is RunStatus.ROLLED_BACK and name != "rollback" and run.reason_step in _STAGES[name]


def has_failed(stage: Stage) -> bool:
    """Whether a stage failed, also where it was done and found errors that stand against going on."""
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
