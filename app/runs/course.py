"""One attempt at a run on its way: read, prepare, gate, measure, push, measure, judge, keep or roll back.

Everything that acts or looks at the world is a step of the engine, in an order that depends on the results of
earlier steps alone: a process that goes on after another finds the same steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from app.errors import QosforgeError, TesterError
from app.runs import phases, preparing, waiting
from app.runs.context import Context
from app.runs.engine import Engine
from app.runs.outside import OUTSIDE_SECONDS
from app.runs.tables import RunStatus, Verdict
from app.tester.measurement import Side
from app.tester.traffic import LONGEST_STRETCH

Json = dict[str, Any]


@dataclass(frozen=True)
class Ending:
    """How an attempt ends, or as what it waits."""

    status: RunStatus
    verdict: str | None = None
    errors: list[Json] = field(default_factory=list)
    reason: str = ""
    waits_for: str = ""
    due: str | None = None
    result: Json = field(default_factory=dict)


class _Stop(Exception):
    """Somebody cancelled the run, or its time is over."""

    def __init__(self, stop: Json) -> None:
        super().__init__(stop["reason"])
        self.status = RunStatus(stop["status"])
        self.reason: str = stop["reason"]


@dataclass
class Course:
    """One attempt at one run."""

    context: Context
    engine: Engine

    def _step(self, name: str, phase: Callable[..., Json], *arguments: Any) -> Json:
        return self.engine.run_step(name, phase, self.context, *arguments)

    def go(self) -> Json:
        """Do it to its end, or until it has to wait for a decision or a moment.

        Returns:
            ``status``, ``verdict``, ``errors``, ``reason``, ``waits_for``; and as far as it came ``held``,
            ``prepared``, ``before``, ``pushed``, ``after``, ``restored``.
        """
        begun = self._step("begin", waiting.begin)
        if begun["over"]:
            return {"status": begun["status"], "verdict": begun["verdict"], "errors": []}
        try:
            ending = self._with_boxes(begun)
        except Exception:
            self._step("release", waiting.release)
            raise
        # Not in a `finally`: an interrupted run goes on later, and must find the steps in the same order.
        # Before the status: once that is written another attempt may begin, and hold the boxes itself.
        self._step("release", waiting.release)
        told = {"reason": ending.reason, "waits_for": ending.waits_for, "due": ending.due}
        self._step(f"status-{ending.status}", waiting.set_status, ending.status.value, ending.verdict, told)
        return {
            "status": ending.status.value,
            "verdict": ending.verdict,
            "errors": ending.errors,
            "reason": ending.reason,
            "waits_for": ending.waits_for,
            **ending.result,
        }

    def _with_boxes(self, begun: Json) -> Ending:
        result: Json = {}
        try:
            devices, errors = self._lock(begun["since"])
            if errors:
                return Ending(RunStatus.FAILED, errors=errors)
            return self._prepared(begun["start"], devices, result)
        except _Stop as stop:
            return Ending(stop.status, reason=stop.reason, result=result)

    def _lock(self, since: str) -> tuple[list[str], list[Json]]:
        for number in count(1):
            got = self._step("lock" if number == 1 else f"lock-{number}", waiting.lock, since)
            if got.get("stop"):
                raise _Stop(got["stop"])
            if "devices" in got or "errors" in got:
                break
        return got.get("devices", []), got.get("errors", [])

    def _checkpoint(self, name: str, devices: list[str]) -> None:
        stop = self._step(f"checkpoint-{name}", waiting.checkpoint, devices)["stop"]
        if stop:
            raise _Stop(stop)

    def _prepared(self, start: str, devices: list[str], result: Json) -> Ending:
        undoing = self.context.documents.undo_of is not None
        if start == "read":
            got = self._step("read", preparing.read, self._to_read(devices))
            _require_going_on(got)
            if got["errors"]:
                return Ending(RunStatus.FAILED, errors=got["errors"])
            self._checkpoint("prepare", devices)
            prepared = self._step(
                "prepare", preparing.prepare_undo if undoing else preparing.prepare, got["running"]
            )
        else:
            got = self._step("reuse", preparing.reuse, start)
            prepared = got["prepared"]
            if got["before"]:
                result["before"] = got["before"]
        result |= {"held": got["running"], "prepared": prepared}
        if prepared["refused"]:
            return Ending(RunStatus.REFUSED, result=result)
        wanted = {name: entry for name, entry in prepared["devices"].items() if not entry["empty"]}
        # Going back is never held up; to bring the change again is.
        gated = bool(wanted) and (not undoing or self.context.documents.redoes)
        if gated and (wait := self._step("gate", waiting.gate, prepared["candidate"])["wait"]):
            return _waiting(wait, result)
        try:
            self._measure_before(devices, result)
        except QosforgeError as error:
            return Ending(RunStatus.FAILED, errors=[error.document()], result=result)
        if not wanted:
            outcome = result["before"]["outcome"] if "before" in result else None
            return Ending(RunStatus.NOTHING_TO_DO, outcome, result=result)
        return self._touch(got["running"], wanted, result, prepared["candidate"] if gated else None)

    def _to_read(self, devices: list[str]) -> list[str]:
        """The boxes whose configuration is needed: the twin needs them all, in scope or not."""
        if self.context.documents.undo_of is not None:
            return devices
        return [device.name for device in self.context.network.devices]

    def _measure_before(self, devices: list[str], result: Json) -> None:
        documents = self.context.documents
        if documents.measure and "before" not in result and (documents.tester == "twin" or documents.before):
            self._checkpoint("measure-before", devices)
            result["before"] = self._measured("before", result["held"])

    def _touch(self, held: dict[str, str], wanted: dict[str, Json], result: Json, candidate: str | None) -> Ending:
        devices = list(wanted)
        pushed = self._step("push", phases.push, held, wanted, devices, candidate)
        if "stop" in pushed:
            stopped = _Stop(pushed["stop"])
            if not pushed["begun"]:
                raise stopped
            return self._undo(held, wanted, result, errors=pushed.get("errors"), stop=stopped)
        if "wait" in pushed:
            return _waiting(pushed["wait"], result)
        result["pushed"] = pushed["running"]
        if pushed["errors"]:
            return self._undo(held, wanted, result, errors=pushed["errors"])
        outcome = None
        problems: list[Json] = []
        try:
            if self.context.documents.undo_of is None:
                counted = self._step("counters", phases.counters, pushed["running"])
                _require_going_on(counted)
                problems = counted["errors"]
            if not problems and self.context.documents.measure:
                self._checkpoint("measure-after", devices)
                result["after"] = self._measured("after", held | pushed["running"])
                outcome = result["after"]["outcome"]
            self._checkpoint("keep", devices)
        except _Stop as stop:
            return self._undo(held, wanted, result, outcome=outcome, stop=stop)
        except QosforgeError as error:
            # Without a verdict nothing is kept.
            problems = [error.document()]
        if problems or outcome not in (None, Verdict.MET):
            return self._undo(held, wanted, result, errors=problems, outcome=outcome)
        kept = self._step("keep", phases.keep, held, wanted)
        if kept["errors"]:
            cut = _Stop(kept["stop"]) if "stop" in kept else None
            return self._undo(held, wanted, result, errors=kept["errors"], stop=cut)
        return Ending(RunStatus.KEPT, outcome, result=result)

    def _measured(self, when: Side, held: dict[str, str]) -> Json:
        if self.context.documents.tester == "outside":
            return self._step(f"measure-{when}", phases.judge_outside, self._given(when), when)
        stretch = 1
        found = self._step(f"measure-{when}", phases.measure, held, when, stretch)
        while found["outcome"] == Verdict.INCONCLUSIVE and stretch < LONGEST_STRETCH:
            stretch *= 2
            found = self._step(f"measure-{when}-x{stretch}", phases.measure, held, when, stretch)
        return found

    def _given(self, when: Side) -> str:
        """The artifact that an outside tester gives in time.

        Raises:
            TesterError: none does.
        """
        until: str | None = None
        for number in count(1):
            got = self._step(f"await-{when}-{number}", waiting.await_measurement, when, until, OUTSIDE_SECONDS)
            if got.get("stop"):
                raise _Stop(got["stop"])
            if "measurement" in got or "late" in got:
                break
            until = got["until"]
        if "measurement" not in got:
            raise TesterError(
                f"no outside measurement {when} the push came within {OUTSIDE_SECONDS:.0f} s",
                mend="start the tester when the run says that it waits, and run it again",
            )
        measurement: str = got["measurement"]
        return measurement

    def _undo(
        self,
        held: dict[str, str],
        wanted: dict[str, Json],
        result: Json,
        *,
        errors: list[Json] | None = None,
        outcome: str | None = None,
        stop: _Stop | None = None,
    ) -> Ending:
        undone = self._step("roll-back", phases.roll_back, held, wanted)
        result["restored"] = undone["running"]
        status = stop.status if stop else RunStatus.ROLLED_BACK
        if undone["errors"]:
            status = RunStatus.NEEDS_RECOVERY
        told = [*(errors or []), *undone["errors"]]
        return Ending(status, outcome, told, reason=stop.reason if stop else "", result=result)


def _require_going_on(got: Json) -> None:
    if "stop" in got:
        raise _Stop(got["stop"])


def _waiting(wait: Json, result: Json) -> Ending:
    return Ending(**{**wait, "status": RunStatus(wait["status"])}, result=result)
