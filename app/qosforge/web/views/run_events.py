"""The events of a run as its page lists them: the newest, all, or those that somebody looks for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal
from urllib.parse import urlencode

from qosforge.runs.record.events import Event, EventKind, Events
from qosforge.runs.record.stages import Stage
from qosforge.runs.record.tables import JournalAction, RunStatus, StageOutcome
from qosforge.web.views.run_steps import has_failed

SHOWN_EVENTS = 100
"""Events that the page lists, unless all are asked for."""
MOST_EVENTS = 5_000
"""Events that the page looks through and lists at most; of more than so many REST has the rest."""

Listed = Literal["", "newest", "all"]

_ENDED_BADLY = frozenset({RunStatus.FAILED, RunStatus.REJECTED, RunStatus.NEEDS_RECOVERY})
_LOOK = "-look-"
"""Stands between the name of a measurement's step and the number of a further look, which is a stage of its own."""


@dataclass(frozen=True)
class EventSearch:
    """Which events are looked for; one that is empty looks for none in particular.

    ``device`` is a part of a device's name, in either case; ``step`` the name of a stage.
    """

    device: str = ""
    step: str = ""
    errors: bool = False
    listed: Listed = ""
    """Whether ``all`` that are found are listed, or only the ``newest``, as where nothing is said."""

    @property
    def narrows(self) -> bool:
        """Whether some events are not looked for."""
        return bool(self.device or self.step or self.errors)

    @property
    def parameters(self) -> list[tuple[str, str]]:
        """The same as parameters of the page's address."""
        asked = [("device", self.device), ("step", self.step), ("errors", "only" if self.errors else "")]
        return [(name, value) for name, value in (*asked, ("events", self.listed)) if value]

    @property
    def query_of_all(self) -> str:
        """The query under which all that are found are listed."""
        wanted = [("tab", "events"), *self.parameters, ("events", "all")]
        return urlencode(list(dict(wanted).items()))


@dataclass(frozen=True)
class RunEvents:
    """The events of a run; ``stages`` are those of all its attempts, ``devices`` the names of its devices."""

    events: Events
    run_id: str
    stages: Sequence[Stage]
    devices: tuple[str, ...]
    search: EventSearch
    most: int = MOST_EVENTS

    @property
    def shown(self) -> list[Event]:
        """Those that are listed, newest first."""
        return self._found if self.search.listed == "all" else self._found[:SHOWN_EVENTS]

    @property
    def found(self) -> int:
        """How many there are of those that are looked for, those that are not shown included."""
        if self.search.narrows or len(self._found) < SHOWN_EVENTS:
            return len(self._found)
        return self.count

    @cached_property
    def count(self) -> int:
        """How many events the run has."""
        return self.events.count(self.run_id)

    @property
    def is_cut(self) -> bool:
        """Whether there are more than are looked through."""
        return self.search.narrows and self.count > self.most

    @property
    def steps(self) -> tuple[str, ...]:
        """The steps that the run took so far, in the order in which they first began."""
        return tuple(dict.fromkeys(_step(stage.name) for stage in self.stages))

    def has_failed(self, event: Event) -> bool:
        """Whether an event is of a stage that ended with errors, which the event does not say itself."""
        return _key(event) in self._failed

    @cached_property
    def _found(self) -> list[Event]:
        whole = self.search.narrows or self.search.listed == "all"
        newest = self.events.newest(self.run_id, self.most if whole else SHOWN_EVENTS)
        return list(self._search(newest)) if self.search.narrows else newest

    def _search(self, newest: Sequence[Event]) -> Iterator[Event]:
        steps = _steps(newest) if self.search.step else {}
        for event in newest:
            of_step = not self.search.step or steps.get(event.seq) == self.search.step
            if of_step and self._is_of_device(event) and not (self.search.errors and not self._is_error(event)):
                yield event

    @cached_property
    def _failed(self) -> Mapping[tuple[str, int], frozenset[str]]:
        """By name and attempt of each stage that ended with errors: the devices that these are of."""
        return {
            (stage.name, stage.attempt): frozenset(error.device or "" for error in stage.summary.errors)
            for stage in self.stages
            if has_failed(stage)
        }

    def _is_of_device(self, event: Event) -> bool:
        """Whether it tells of the device, or of the end of a stage that failed at it."""
        wanted = self.search.device.casefold()
        if not wanted:
            return True
        names = {str(event.data.get(name) or "") for name in ("device", "reason_device")}
        if event.kind is EventKind.STAGE and event.data.get("outcome"):
            names |= self._failed.get(_key(event), frozenset())
        return any(wanted in name.casefold() for name in names)

    def _is_error(self, event: Event) -> bool:
        match event.kind:
            case EventKind.DEVICE:
                return event.data.get("action") == JournalAction.FAILED.value
            case EventKind.STATUS:
                return event.data.get("status") in _ENDED_BADLY
            case EventKind.STAGE:
                outcome = event.data.get("outcome")
                return outcome == StageOutcome.FAILED.value or (bool(outcome) and self.has_failed(event))
        return False


def _key(event: Event) -> tuple[str, int]:
    return str(event.data.get("stage") or ""), int(event.data.get("attempt") or 0)


def _step(stage: str) -> str:
    return stage.partition(_LOOK)[0]


def _steps(newest: Sequence[Event]) -> dict[int, str]:
    """The step of events, by number: that which they name, or of a device's events the one that was under way."""
    found: dict[int, str] = {}
    under_way: list[str] = []
    for event in reversed(newest):
        step = _step(str(event.data.get("stage") or ""))
        if step:
            found[event.seq] = step
        elif event.kind is EventKind.DEVICE and under_way:
            found[event.seq] = under_way[-1]
        if event.kind is not EventKind.STAGE:
            continue
        if not event.data.get("outcome"):
            under_way.append(step)
        elif step in under_way:
            del under_way[under_way.index(step) :]
    return found
