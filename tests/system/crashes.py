"""Rollouts whose process is killed at a recorded step, on a lab of its own: each goes on, and is looked at."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from ruamel.yaml import YAML

from qosforge.artifacts.store import open_artifacts
from qosforge.emulation import start_lab
from qosforge.inventory.changes import ChangeRules
from qosforge.runs.record.journal import JournalEntry
from qosforge.runs.record.run import Run
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.tables import EXECUTORS, JOURNAL, OPENING, SETTLING, JournalAction, RunStatus
from qosforge.runs.requests.requests import RunRequests
from qosforge.settings import Settings
from qoslab import control
from tests.forkserver import FORKSERVER
from tests.run_requests import request_run

from .chaos import sqlite_url
from .command import Command, Ended
from .crash_point import Point, become, carry_out
from .crowd import commands, write_inventory
from .two_states import AFTER, TwoStates, intent

SITES = {"s2950": "branch", "r1": "vigo", "ers5510": "vigo", "e300": "oporto"}
"""The devices: s2950 goes back by a scheduled reload, r1 by a commit timer; the others' startup is not saved."""
WAVES = {"canary": {"site": "branch"}, "waves": [{"site": "vigo"}]}
"""s2950; r1 and ers5510; e300."""


ENDS = ("unchanged", "confirmed", "rolled back", "settled by recover")
"""How devices end: the last of them where the run needed recovery."""
_PATIENCE = 120.0
_BUSY = frozenset({RunStatus.PENDING, RunStatus.RUNNING})


@dataclass(frozen=True)
class Rollout:
    """A rollout, which goes well or has a device that refuses the first line of the change, once."""

    name: str
    rules: Mapping[str, Any]
    status: RunStatus
    """How it ends where nothing is killed."""
    refusing: str = ""


@dataclass(frozen=True)
class Cell:
    """A rollout, the point at which its process is killed, who goes on, and whether another run waits."""

    rollout: Rollout
    point: Point
    way: str
    second: bool = False

    def __str__(self) -> str:
        return f"{self.rollout.name}, {self.point}, {self.way}" + ", with a second run" * self.second


@dataclass(frozen=True)
class Outcome:
    """How a cell ended: by device one of `ENDS`, and what is wrong, nothing where it is as it has to be."""

    cell: Cell
    status: RunStatus
    ends: Mapping[str, str]
    problems: Sequence[str]


class Crashes(TwoStates):
    """The devices in their lab, and an installation on one database."""

    def __init__(self, folder: Path, url: str | None = None) -> None:
        """Write the inventory; ``url`` of a migrated database, of a new SQLite file where there is none."""
        inventory = folder / "inventories" / "rollout"
        write_inventory(inventory, tuple(SITES))
        yaml = YAML()
        hosts = yaml.load((inventory / "hosts.yaml").read_text())
        for name, site in SITES.items():
            hosts[name]["data"]["site"] = site
        with (inventory / "hosts.yaml").open("w") as file:
            yaml.dump(hosts, file)
        super().__init__(inventory, folder / "var")
        self.var.mkdir(mode=0o700, exist_ok=True)
        self.folder = folder
        self.settings = Settings(
            var_dir=self.var, inventories_dir=inventory.parent, database_url=url or sqlite_url(self.var)
        )
        self.store = RunStore(self.settings.database_url)
        self.artifacts = open_artifacts(self.settings, self.store.database)
        self.run_requests = RunRequests(self.settings, self.store, self.artifacts)
        self._numbers = count()

    # -- a run and its process ---------------------------------------------------------------------------
    def steps(self, rollout: Rollout) -> list[str]:
        """Every step that an undisturbed run of a rollout records, in its order."""
        run = self._begin(rollout)
        steps = self._carried_out(run, None)
        ended = self.store.get_run(run.id)
        assert ended.status is rollout.status, (ended.status, ended.reason)
        return steps

    def _begin(self, rollout: Rollout) -> Run:
        self.reset()
        if rollout.refusing:
            refusal = {"text": "% Invalid input detected at '^' marker.\n", "times": 1}
            control.plant(self.state, rollout.refusing, "refuse", mode="configuration", lines=1, **refusal)
        return self._place(rollout)

    def _place(self, rollout: Rollout) -> Run:
        rules = ChangeRules.model_validate({"rollout": rollout.rules})
        network = self.network.model_copy(update={"changes": rules})
        return self.run_requests.submit(*request_run(network, intent(AFTER), measure=False), "ada")[0]

    def _carried_out(self, run: Run, point: Point | None) -> list[str]:
        """Let a process carry the run out until it is killed at the point; the steps that it recorded."""
        log = self.folder / f"steps-{next(self._numbers)}"
        log.touch()
        process = FORKSERVER.Process(target=carry_out, args=(self.settings, run.id, point, log))
        process.start()
        process.join(_PATIENCE)
        meant = 0 if point is None else -signal.SIGKILL
        code = process.exitcode
        if code is None:
            process.kill()
        assert code == meant, f"{point}: {code}\n{log.with_suffix('.printed').read_text()[-3000:]}"
        return log.read_text().splitlines()

    # -- a cell ------------------------------------------------------------------------------------------
    def run(self, cell: Cell) -> Outcome:
        """Kill a run at its point, let it go on the cell's way, and look at what became of it."""
        run = self._begin(cell.rollout)
        self._carried_out(run, cell.point)
        settled = self._last_settled(run.id)
        attached = self._attached()
        second = self._place(cell.rollout) if cell.second else None
        said = self._go_on(cell.way, [run, second] if second else [run])
        run = self.store.get_run(run.id)
        recovered = run.status is RunStatus.NEEDS_RECOVERY
        if recovered:
            for name in self.names:
                control.plant(self.state, name, "clear")
            said += self._ended("recover").text
            run = self.store.get_run(run.id)
        problems = self._general_problems(run, said)
        if second is None:
            problems += self.run_problems(run)
            problems += self._sent_again(run.id, settled, attached)
        else:
            problems += self._second_problems(run, self.store.get_run(second.id))
        ends = {name: "settled by recover" if recovered else self._end(run.id, name) for name in self.names}
        if problems:
            problems.append(f"[{run.status}: {run.reason}] {said[-1500:]}")
        return Outcome(cell, run.status, ends, problems)

    def _go_on(self, way: str, runs: Sequence[Run]) -> str:
        """What the way says that goes on with the runs, till each has ended or needs recovery."""
        # The slot of the process that was killed has run out once its time is over, which is not waited for.
        over = sa.update(EXECUTORS).values(expires=sa.func.current_timestamp())
        if not self.store.database.is_embedded:
            self.store.database.transact(lambda connection: connection.execute(over))
        if way == "recover":
            return self._ended("recover").text
        words = ("serve", "--port", "0") if self.store.database.is_embedded else ("worker",)
        process = self._command(*words)
        try:
            process.wait_for(
                lambda: not any(self.store.get_run(run.id).status in _BUSY for run in runs), "an end", _PATIENCE
            )
            os.kill(process.pid or 0, signal.SIGTERM)
            return process.wait().text
        finally:
            if process.alive:
                process.kill()

    def _command(self, *words: str) -> Command:
        environment = {
            "QOSFORGE_VAR_DIR": str(self.var),
            "QOSFORGE_INVENTORIES_DIR": str(self.inventory.parent),
            "QOSFORGE_DATABASE_URL": self.settings.database_url,
            "QOSFORGE_COMPUTE_PROCESSES": "1",
        }
        return Command(words, environment, self.folder / "printed" / str(next(self._numbers)), become)

    def _ended(self, *words: str) -> Ended:
        return self._command(*words).wait(_PATIENCE)

    # -- what must hold ----------------------------------------------------------------------------------
    def _general_problems(self, run: Run, said: str) -> list[str]:
        found = ["Traceback"] if "Traceback" in said else []
        if not run.status.final:
            found.append(f"it has not ended: {run.status}")
        if self.store.journal.open_touches() or self.store.leases.active() or self.store.unfinished_runs():
            found.append("something is left open")
        if timers := self.timers():
            found.append(f"timers run: {timers}")
        for name in self.names:
            order = [entry.run_id for entry in self._all_entries(name)]
            turns = [run_id for number, run_id in enumerate(order) if number == 0 or order[number - 1] != run_id]
            if len(turns) != len(set(turns)):
                found.append(f"{name} was touched by two runs at once")
            actions = [entry.action for entry in self._entries(run.id, name)]
            first = next((number for number, action in enumerate(actions) if action in SETTLING), len(actions))
            if JournalAction.TOUCHING in actions[first:] or actions.count(JournalAction.CONFIRMED) > 1:
                found.append(f"{name} was touched again after it was settled: {[a.value for a in actions]}")
        return found

    def _meant(self, run: Run) -> dict[str, str]:
        """Whether each device has to be as ``before`` or as ``after``, by the run's own words."""
        if run.status is RunStatus.KEPT and not run.reason:
            return dict.fromkeys(self.names, "after")
        if run.status is RunStatus.KEPT and run.reason.startswith("left out: "):
            left = {part.partition(":")[0] for part in run.reason.removeprefix("left out: ").split("; ")}
            return {name: "before" if name in left else "after" for name in self.names}
        if run.status is RunStatus.FAILED and " is saved on " in run.reason:
            saved = run.reason.partition(" is saved on ")[2].partition(", its other devices")[0].split(", ")
            return {name: "after" if name in saved else "before" for name in self.names}
        if run.status is RunStatus.KEPT:
            assert "had been saved on every device" in run.reason, run.reason
            return {n: "after" if self._entries(run.id, n) else "before" for n in self.names}
        return dict.fromkeys(self.names, "before")

    def run_problems(self, run: Run) -> list[str]:
        """What the devices hold otherwise than the run says, and the journal tells otherwise."""
        found = []
        if run.status not in (RunStatus.KEPT, RunStatus.ROLLED_BACK, RunStatus.FAILED):
            found.append(f"it ended as {run.status}")
        for name, meant in self._meant(run).items():
            now, due = vars(self.now(name)), vars(self.held[name][meant])
            found += [f"{name}: {which} is not as {meant}" for which in now if now[which] != due[which]]
            if (self._end(run.id, name) == "confirmed") != (meant == "after"):
                found.append(f"{name}: the journal says {self._end(run.id, name)}, the run {meant}")
        return found

    def _second_problems(self, run: Run, second: Run) -> list[str]:
        """The second run began at what the first one left, and brought the change where that had not kept it."""
        found = []
        meant = self._meant(run)
        whole = set(meant.values()) == {"after"}
        if second.status is not (RunStatus.NO_CHANGES if whole else RunStatus.KEPT):
            found.append(f"the second run ended as {second.status}: {second.reason}")
        (read,) = [stage for stage in self.store.stages(second.id) if stage.name == "read"]
        for name, artifact in read.summary.running.items():
            if commands(self.artifacts.get_text(artifact)) != commands(self.held[name][meant[name]].running):
                found.append(f"{name}: the second run did not read it as {meant[name]}")
        for name, due in self._meant(second).items() if second.status is RunStatus.KEPT else ():
            if self.now(name) != self.held[name][due]:
                found.append(f"{name} is not as {due} after the second run")
        return found

    def _sent_again(self, run_id: str, settled: Mapping[str, str], attached: Mapping[str, int]) -> list[str]:
        """Devices that the run had settled before it was killed, and whose interfaces changed nevertheless."""
        now, at_end = self._attached(), self._last_settled(run_id)
        return [
            f"{name}: something was sent after it was settled"
            for name, action in settled.items()
            if at_end.get(name) == action and now[name] != attached[name]
        ]

    def _attached(self) -> dict[str, int]:
        return {name: len(control.attachments(self.state, name)) for name in self.names}

    def _entries(self, run_id: str, name: str) -> list[JournalEntry]:
        return self.store.journal.entries(run_id, name)

    def _all_entries(self, name: str) -> Sequence[sa.Row[Any]]:
        query = sa.select(JOURNAL.c.run_id).where(JOURNAL.c.device == name).order_by(JOURNAL.c.seq)
        return self.store.database.query(lambda connection: connection.execute(query).all())

    def _last_settled(self, run_id: str) -> dict[str, str]:
        """By device, how the run settled it; one that it has touched again since is not among them."""
        left = {touch.device for touch in self.store.journal.open_touches(run_id)}
        rows = [row for row in self.store.journal.entries(run_id) if row.action in SETTLING]
        return {row.device: row.action.value for row in rows if row.device not in left}

    def _end(self, run_id: str, name: str) -> str:
        actions = [entry.action for entry in self._entries(run_id, name)]
        if not OPENING & set(actions):
            return "unchanged"
        last = next((action for action in reversed(actions) if action in SETTLING), None)
        return {JournalAction.CONFIRMED: "confirmed", JournalAction.UNDONE: "rolled back", None: "open"}[last]


@contextmanager
def crashes(folder: Path, url: str | None = None) -> Iterator[Crashes]:
    """A matrix whose lab is there while the block lasts."""
    made = Crashes(folder, url)
    with closing(made.store):
        start_lab(made.network, made.inventory, made.state)
        try:
            made.prepare()
            yield made
        finally:
            control.stop(made.state)
