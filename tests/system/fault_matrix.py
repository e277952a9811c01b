"""The fault matrix: each fault at each step of a push, on a device of every platform of the campus.

``python -m tests.system.fault_matrix`` runs all of it and prints how its cells ended, by fault; it ends with an
error when one did not end as every cell has to.

A cell is a fault, a step and a box. After it the box's running and startup configuration are, byte for byte, those
before or those after the push, the same for all boxes of the run: at once, or when ``recover`` was asked after the
fault was gone. Where the fault did not come about the cell is not met, which is no success.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from qosforge.emulation import start_lab
from qosforge.errors import QosforgeError
from qosforge.executor.service import Service, open_service
from qosforge.runs.record.summaries import PrepareSummary
from qosforge.runs.record.tables import JournalAction, RunStatus
from qosforge.settings import DeviceLimits, Settings
from qoslab import control
from qoslab.faults import OF_THE_BOX
from tests.run_requests import request_run

from .crowd import write_inventory
from .two_states import AFTER, TwoStates, intent

BOXES = ("r1", "r3", "s2950", "s2970", "ers5510", "e300")
"""One of every platform, and of ``cisco_ios`` one with an archive and one without."""

SILENCE = 4.0
"""Seconds after which a device that says nothing is left."""

LIMITS = DeviceLimits.model_validate(
    {step: {"silence": SILENCE} for step in ("login", "read", "show", "batch", "save")}
)
ELSEWHERE = "Elsewhere"
LOGO = "##########\n# campus >\n##########"

Planted = tuple[str, dict[str, object]]


# -- steps -----------------------------------------------------------------------------------------------
READING = "^show running-config"
ENTERING = {"ios": r"^copy flash:\S+ running-config"}
CONFIGURING = "^configure terminal"
SAVING = "^(configure confirm|reload cancel|write mem|copy config nvram)"


def _second_line(_driver: str) -> dict[str, object]:
    return {"mode": "configuration", "lines": 1}


@dataclass(frozen=True)
class Step:
    """A step of the transaction: the run's stage it is in, and its line on a device by NAPALM driver.

    Without a line nothing is typed at this step; ``after`` the run is cancelled as it measures, so that it is
    rolled back.
    """

    name: str
    stage: str
    line: Callable[[str], dict[str, object] | None]
    rolled_back: bool = False


def _load(driver: str) -> dict[str, object] | None:
    """What comes before the first line: a file onto the flash, the commit-confirm timer, or nothing."""
    lines = {"ios": "^dir flash:", "ios_legacy": "^reload in"}
    return {"pattern": lines[driver]} if driver in lines else None


def _commit(driver: str) -> dict[str, object]:
    return {"pattern": ENTERING[driver]} if driver in ENTERING else _second_line(driver)


STEPS = {
    step.name: step
    for step in (
        Step("login", "read", lambda _: {"pattern": "^(terminal|enable)"}),
        Step("read", "read", lambda _: {"pattern": READING}),
        Step("compare", "push", lambda _: {"pattern": READING}),
        Step("load", "push", _load),
        Step("commit", "push", _commit),
        Step("check", "push", lambda driver: {"pattern": [ENTERING.get(driver, CONFIGURING), READING]}),
        Step("hold", "counters", lambda _: {"pattern": "^show"}),
        Step("confirm", "keep", lambda _: {"pattern": SAVING}),
        Step(
            "rollback",
            "rollback",
            lambda driver: {"pattern": "^configure revert now"} if driver == "ios" else _second_line(driver),
            rolled_back=True,
        ),
        Step("resave", "rollback", lambda _: {"pattern": "^(reload cancel|write mem|copy config nvram)"}, True),
    )
}


# -- faults ----------------------------------------------------------------------------------------------
REFUSAL = {
    "ios": "% Invalid input detected at '^' marker.\n",
    "ios_legacy": "% Invalid input detected at '^' marker.\n",
    "ers": "% Invalid input detected at '^' marker.",
    "force10": "% Error: Access denied.",
}
"""By driver, words of the lab's own devices (the vendor sheets name where they come from)."""


def _one(kind: str, **more: object) -> Callable[[Step, str, dict[str, object]], list[Planted]]:
    return lambda _step, _driver, moment: [(kind, {**moment, **more})]


def _standing(kind: str) -> Callable[[Step, str, dict[str, object]], list[Planted]]:
    return lambda _step, _driver, _moment: [(kind, {})]


def _login(kind: str, **args: object) -> Callable[[Step, str, dict[str, object]], list[Planted]]:
    """At a login; at other steps one is made needful by cutting the session."""

    def planted(step: Step, _driver: str, moment: dict[str, object]) -> list[Planted]:
        cut: list[Planted] = [] if step.name == "login" else [("disconnect", moment)]
        return [*cut, (kind, dict(args))]

    return planted


def _refuse(step: Step, driver: str, moment: dict[str, object]) -> list[Planted]:
    """The second line of the configuration, or what else is typed at the step."""
    if step.name == "commit":
        moment = _second_line(driver)
    return [("refuse", {**moment, "times": 1, "text": REFUSAL[driver]})]


FAULTS: dict[str, Callable[[Step, str, dict[str, object]], list[Planted]]] = {
    "refuse_login": _login("refuse_login"),
    "banner": _login("banner", text=LOGO),
    "hang": _one("hang"),
    "disconnect": _one("disconnect"),
    "answer lost": _one("disconnect", taken=True),
    "refuse": _refuse,
    "slow": _one("slow", seconds=1.0, times=1),
    "log": _one("log"),
    "page": _one("page"),
    "save": _one("save"),
    "reboot": _one("reboot"),
    "rename": _one("rename", name=ELSEWHERE),
    "early_timer": _one("early_timer"),
    "late_timer": _one("late_timer"),
    "full_flash": _standing("full_flash"),
    "no_archive": _standing("no_archive"),
}

BEFORE_ROLLBACK = frozenset({"save"})
"""Faults that harm where the change is not kept: the run is cancelled as it measures."""

KIND = {"answer lost": "disconnect"}


# -- cells -----------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Cell:
    """A fault at a step on a device."""

    step: str
    fault: str
    box: str

    def __str__(self) -> str:
        return f"{self.fault} at {self.step} on {self.box}"


ENDS = ("unchanged", "kept", "rolled back", "recovered", "not met", "FAILED")


@dataclass(frozen=True)
class Ended:
    """How a cell ended, one of `ENDS`; ``why`` it failed, or what the run said."""

    cell: Cell
    end: str
    why: str = ""
    detached: bool = False
    """Places were without a policy between two, as the candidate had announced."""


@dataclass
class Matrix(TwoStates):
    """A lab of the devices, what they hold before and after the push, and the service that pushes."""

    folder: Path
    service: Service = field(init=False)
    _planned: dict[str, tuple[str, list[Planted]]] = field(default_factory=dict)
    _met: dict[str, Mapping[str, int]] = field(default_factory=dict)
    _waiting: set[str] = field(default_factory=set)
    _cancels: bool = False

    def __post_init__(self) -> None:
        inventory = self.folder / "inventories" / "matrix"
        write_inventory(inventory, BOXES)
        startup = inventory / "startup" / "ers5510.cfg"
        # As a 5510 is delivered: it saves by itself a while after every change.
        startup.write_text(startup.read_text().replace("no autosave enable\n", ""))
        super().__init__(inventory, self.folder / "var")
        self.drivers = {device.name: device.driver for device in self.network.devices}

    # -- a run with its cells ----------------------------------------------------------------------------
    def watch(self, stage: str, _text: str) -> None:
        """Plant what is planned for a stage as it begins; told by the run before it touches a device.

        What did not come about at its stage is taken away: it would happen at another step.
        """
        for box, (at, _) in list(self._planned.items()):
            if at != stage and box in self._waiting and not control.met(self.state, box):
                self._take_away(box)
        self._plant(stage)
        if stage == "counters" and self._cancels:
            self.service.run_requests.cancel(self._run_id, "somebody")

    def _plant(self, stage: str) -> None:
        for box, (at, planted) in self._planned.items():
            if at != stage:
                continue
            self._waiting.add(box)
            for kind, args in planted:
                if stage == "counters" and kind in OF_THE_BOX:
                    control.happen(self.state, box, kind, str(args.get("name", "")))
                else:
                    control.plant(self.state, box, kind, **args)

    def _take_away(self, box: str) -> None:
        self._waiting.discard(box)
        self._met[box] = control.met(self.state, box)
        control.plant(self.state, box, "clear")

    @property
    def _run_id(self) -> str:
        return self.service.store.list_runs()[0].id

    def run(self, cells: Sequence[Cell]) -> list[Ended]:
        """Push once, with at most one cell on each device; how each of them ended."""
        self._planned, self._met, self._waiting = {}, {}, set()
        self.reset()
        if self.service.store.journal.open_touches():
            self.service.recover()  # of a cell that failed
            self.reset()
        seen = {box: len(control.attachments(self.state, box)) for box in BOXES}
        impossible = set()
        for cell in cells:
            step, driver = STEPS[cell.step], self.drivers[cell.box]
            moment = step.line(driver)
            if moment is None:
                impossible.add(cell)
            else:
                planted = FAULTS[cell.fault](step, driver, moment)
                self._planned[cell.box] = (step.stage, planted)
        self._cancels = any(STEPS[cell.step].rolled_back or cell.fault in BEFORE_ROLLBACK for cell in cells)
        said = self._carry_out()
        run = self.service.store.get_run(self._run_id)
        timers = self.timers()
        self._planned = {}
        for box in BOXES:
            if box not in self._met:
                self._take_away(box)
        recovered = run.status is RunStatus.NEEDS_RECOVERY
        if recovered:
            said += "; ".join(str(ended) for ended in self.service.recover())
            run = self.service.store.get_run(run.id)
            timers = self.timers()
        self._name_back()
        problems = self._problems(run.id, run.status, timers)
        entries = self.service.store.journal.entries(run.id)
        touched = {entry.device for entry in entries if entry.action is JournalAction.TOUCHING}
        announced = self._announced(run.id)
        ended = []
        for cell in cells:
            gaps = self.gaps(cell.box, seen[cell.box])
            detached = bool(gaps) and cell.box in announced
            unannounced = [] if detached else gaps
            why = "; ".join([*problems.get("", []), *problems.get(cell.box, []), *unannounced])
            kind = KIND.get(cell.fault, cell.fault)
            if why:
                end = "FAILED"
            elif cell in impossible or not self._met[cell.box].get(kind):
                end = "not met"
            elif recovered:
                end = "recovered"
            elif run.status is RunStatus.KEPT:
                end = "kept"
            else:
                end = "rolled back" if cell.box in touched else "unchanged"
            ended.append(Ended(cell, end, f"{why} [{run.status}: {said}]", detached))
        return ended

    def _carry_out(self) -> str:
        order = request_run(self.network, intent(AFTER), measure=False)
        try:
            result = self.service.run(*order, "matrix").result
        except QosforgeError as error:
            return f"{error.message}"
        return "; ".join(error.message for error in result.errors)

    def _name_back(self) -> None:
        """Whoever renamed a device gives it its name back, where it is saved as well."""
        for box in BOXES:
            if self._met[box].get("rename"):
                before = self.held[box]["before"].running
                names = ("hostname", "snmp-server name")
                line = next(line for line in before.splitlines() if line.startswith(names))
                control.configure(self.state, box, [line])
                path = self.state / box / "startup-config"
                renamed = [line if ELSEWHERE in text else text for text in path.read_text().splitlines()]
                path.write_text("\n".join(renamed) + "\n")

    def _problems(self, run_id: str, status: RunStatus, timers: Sequence[str]) -> dict[str, list[str]]:
        """What is wrong at the end, by device; under "" what concerns the run."""
        store = self.service.store
        found: dict[str, list[str]] = {}
        general = found.setdefault("", [])
        if store.journal.open_touches() or store.leases.active() or store.unfinished_runs():
            general.append(f"run {run_id} left something open: {status}")
        meant = "after" if status is RunStatus.KEPT else "before"
        for box in BOXES:
            now, due = vars(self.now(box)), vars(self.held[box][meant])
            for which in now:
                if now[which] != due[which]:
                    difference = _difference(due[which], now[which])
                    found.setdefault(box, []).append(f"{which} is not as {meant}: {difference}")
            if box in timers:
                found.setdefault(box, []).append("its timer still runs")
        return found

    def _announced(self, run_id: str) -> set[str]:
        """Devices of which the candidate says that they replace no policy in place."""
        return {
            box
            for stage in self.service.store.stages(run_id)
            if isinstance(stage.summary, PrepareSummary)
            for box, entry in stage.summary.devices.items()
            if entry.gaps
        }

    def gaps(self, box: str, since: int) -> list[str]:
        """Places that have a policy before and after, and were without one between; a boot is none of ours."""
        return [
            f"{change.place} lost {change.before!r} by {change.cause!r}"
            for change in control.attachments(self.state, box)[since:]
            if change.before and not change.after and change.cause != "boot"
        ]


def _difference(due: str, now: str) -> str:
    gone = [line for line in due.splitlines() if line not in now.splitlines()]
    new = [line for line in now.splitlines() if line not in due.splitlines()]
    return f"-{gone[:3]} +{new[:3]}" if gone or new else "other order"


@contextmanager
def matrix(folder: Path) -> Iterator[Matrix]:
    """A matrix whose lab and service are there while the block lasts."""
    made = Matrix(folder)
    made.var.mkdir(mode=0o700, exist_ok=True)
    start_lab(made.network, made.inventory, made.state)
    try:
        made.prepare()
        with open_service(Settings(var_dir=made.var, device_limits=LIMITS), made.watch) as service:
            made.service = service
            yield made
    finally:
        control.stop(made.state)


def all_runs() -> Iterator[list[Cell]]:
    """The cells of the whole matrix, one run after the other: a fault at a step on every device at once."""
    for fault in FAULTS:
        for step in STEPS:
            yield [Cell(step, fault, box) for box in BOXES]


def table(ended: Iterable[Ended]) -> str:
    """Counts by fault."""
    ended = list(ended)
    rows = [f"{'fault':<14}" + "".join(f"{end:>13}" for end in ENDS)]
    for fault in (*FAULTS, "all"):
        counted = Counter(one.end for one in ended if fault in (one.cell.fault, "all"))
        if counted:
            rows.append(f"{fault:<14}" + "".join(f"{counted[end] or '–':>13}" for end in ENDS))
    detached = [one for one in ended if one.detached]
    boxes = ", ".join(sorted({one.cell.box for one in detached})) or "none"
    rows.append(f"without a policy for a while, as announced: {len(detached)} cells ({boxes})")
    return "\n".join(rows)


def _chosen(names: set[str], *, alone: bool) -> Iterator[list[Cell]]:
    """The runs of the faults and steps that are named; all where none is. ``alone``: a run for every cell."""
    every = ([cell] for cells in all_runs() for cell in cells) if alone else all_runs()
    for cells in every:
        fault, step = cells[0].fault, cells[0].step
        if all(word in names or not names & known for word, known in ((fault, set(FAULTS)), (step, set(STEPS)))):
            yield cells


def main() -> None:
    """Run the matrix, or those of its faults and steps that are named; every run is told as it ends.

    With ``--alone`` every cell has a run of its own, and the other devices are healthy.
    """
    names = set(sys.argv[1:]) - {"--alone"}
    unknown = names - set(FAULTS) - set(STEPS)
    if unknown:
        sys.exit(f"unknown: {', '.join(sorted(unknown))}; faults: {', '.join(FAULTS)}; steps: {', '.join(STEPS)}")
    folder = Path(tempfile.mkdtemp(prefix="qosforge-faults-"))
    ended: list[Ended] = []
    try:
        with matrix(folder) as made:
            for cells in _chosen(names, alone="--alone" in sys.argv[1:]):
                begun = time.monotonic()
                got = made.run(cells)
                ended += got
                counts = ", ".join(f"{count} {end}" for end, count in Counter(one.end for one in got).items())
                _tell(f"{cells[0].fault} at {cells[0].step}: {counts} ({time.monotonic() - begun:.0f} s)")
                for one in got:
                    if one.end == "FAILED":
                        _tell(f"  {one.cell}: {one.why}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    _tell(table(ended))
    sys.exit(any(one.end == "FAILED" for one in ended))


def _tell(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
