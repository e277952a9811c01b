"""The transaction of one device, on a driver that keeps its two configurations in memory."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest
from cli_candidate.errors import CommitProgress, LineRefusedError
from cli_candidate.pending import PendingCommit
from napalm.base.base import NetworkDriver
from napalm.base.exceptions import MergeConfigException

from qosforge.deploy.device_driver import DeviceDriver
from qosforge.deploy.driver_capabilities import DRIVERS
from qosforge.deploy.transaction import Target, apply, confirm, restore, running
from qosforge.errors import ChangeRefused, DeviceError
from qosforge.platforms.device_text import DeviceWords
from tests.device_texts import said

BEFORE = "hostname R3\ninterface Serial0/1\n bandwidth 2000\n"
AFTER = BEFORE.replace("interface", "policy-map P\n class class-default\n  bandwidth 500\ninterface", 1)
FOREIGN = AFTER.replace("bandwidth 500", "bandwidth 64")


class Box(NetworkDriver):  # type: ignore[misc]  # NAPALM has no types
    """Holds ``now``; entering anything brings it to ``entered``."""

    def __init__(self, now: str, *, pending: bool, entered: str = BEFORE) -> None:
        self.now, self.startup, self.pending, self.entered = now, BEFORE, pending, entered
        self.candidate = ""
        self.shows_startup = True

    def get_config(self, retrieve: str = "all", **_: object) -> dict[str, str]:
        return {"running": self.now, "startup": self.startup if self.shows_startup else ""}

    def get_pending_commit(self) -> PendingCommit | None:
        return PendingCommit("qosforge", own=True, timer=600) if self.pending else None

    def load_merge_candidate(self, filename: str | None = None, config: str | None = None) -> None:
        self.candidate = config or ""

    def commit_config(self, message: str = "", revert_in: int | None = None) -> None:
        self.now = self.entered

    def confirm_commit(self) -> None:
        self.pending, self.startup = False, self.now

    def rollback(self) -> None:
        self.pending, self.now = False, BEFORE


def by(box: Box) -> DeviceDriver:
    return DeviceDriver(box, DeviceWords("r3", "cisco_ios"))


@dataclass
class Rows:
    """A journal that remembers what was done."""

    actions: list[str] = field(default_factory=list)
    before: list[object] = field(default_factory=list)
    """What devices held, where it was told."""

    def record(self, device: str, action: str, *, before: object = None, delta: str = "", note: str = "") -> None:
        del device, delta, note
        self.actions.append(action)
        if before is not None:
            self.before.append(before)


def target(driver: str = "ios_legacy", saved: bool = False) -> Target:
    return Target(
        device="r3",
        platform="cisco_ios",
        capabilities=DRIVERS[driver],
        original=said(BEFORE),
        delta=(),
        meets=lambda text: text == said(AFTER),
        saved=saved,
    )


@pytest.mark.parametrize("driver", DRIVERS)
def test_what_holds_the_plan_is_saved(driver: str) -> None:
    box, rows = Box(AFTER, pending=DRIVERS[driver].revert_timer), Rows()
    confirm(by(box), target(driver), rows)
    assert (box.startup, box.pending, rows.actions) == (AFTER, False, ["confirmed"])


@pytest.mark.parametrize("touched", [False, True])
def test_what_holds_the_plan_before_it_is_touched_belongs_to_the_run(touched: bool) -> None:
    """A journal that was restored from a backup knows nothing of a touch: it is kept or undone with the rest."""
    box, rows = Box(AFTER, pending=False), Rows()
    assert apply(by(box), replace(target(), touched=touched), rows, 600) == said(AFTER)
    assert rows.actions == (["touched"] if touched else ["touching", "touched"])
    assert rows.before == ([] if touched else [said(BEFORE)])


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize(("held", "told"), [(BEFORE, "went back by itself"), (FOREIGN, "was changed")])
def test_a_box_that_changed_before_the_verdict_is_not_saved(driver: str, held: str, told: str) -> None:
    box, rows = Box(held, pending=False), Rows()
    with pytest.raises(DeviceError, match=told):
        confirm(by(box), target(driver), rows)
    assert (box.startup, rows.actions) == (BEFORE, ["failed"])


def test_a_confirmed_box_gets_its_startup_back_too() -> None:
    box, rows = Box(AFTER, pending=False), Rows()
    confirm(by(box), target("force10"), rows)
    restore(by(box), target("force10", saved=True), rows)
    assert (running(by(box)), box.startup) == (said(BEFORE), BEFORE)
    assert rows.actions == ["confirmed", "undoing", "inverse_applied", "undone"]


def test_startup_is_left_alone_where_the_change_was_never_saved() -> None:
    box = Box(AFTER, pending=False)
    box.startup = BEFORE.replace("R3", "OTHER")
    restore(by(box), target("force10"), Rows())
    assert (running(by(box)), box.startup) == (said(BEFORE), BEFORE.replace("R3", "OTHER"))


@pytest.mark.parametrize("driver", ["ios_legacy", "force10"])
def test_what_a_box_saved_by_itself_meanwhile_goes_back_too(driver: str) -> None:
    box = Box(AFTER, pending=False)
    box.startup = AFTER
    restore(by(box), target(driver), Rows())
    assert (running(by(box)), box.startup) == (said(BEFORE), BEFORE)


@pytest.mark.parametrize(("line", "startup"), [("", BEFORE), ("no autosave enable\n", "as it was saved")])
def test_a_box_whose_startup_cannot_be_read_is_saved_where_it_saves_by_itself(line: str, startup: str) -> None:
    box = Box(line + AFTER, pending=False, entered=line + BEFORE)
    box.startup, box.shows_startup = "as it was saved", False
    restore(by(box), replace(target("ers"), original=said(line + BEFORE)), Rows())
    assert box.startup == startup


def test_a_box_with_unsaved_lines_of_ours_is_not_touched() -> None:
    """Saved with the change they would stay, and after a rollback nobody could tell them from it."""
    box, rows = Box(BEFORE, pending=False, entered=AFTER), Rows()
    box.startup = AFTER
    with pytest.raises(DeviceError, match=r"startup configuration differ"):
        apply(by(box), target("force10"), rows, 600)
    assert (running(by(box)), rows.actions) == (said(BEFORE), [])
    box.startup = "! Version 6.5\nhostname OTHER\n" + BEFORE.partition("\n")[2]
    assert apply(by(box), target("force10"), rows, 600) == said(AFTER)


def test_a_box_that_goes_back_as_it_is_confirmed_is_not_kept() -> None:
    class Late(Box):
        def confirm_commit(self) -> None:
            self.now = BEFORE
            super().confirm_commit()

    box, rows = Late(AFTER, pending=True), Rows()
    with pytest.raises(DeviceError, match="went back by itself"):
        confirm(by(box), target("ios"), rows)
    assert (box.startup, rows.actions) == (BEFORE, ["failed"])


def test_a_box_that_does_not_come_back_keeps_its_timer_and_is_told() -> None:
    box, rows = Box(AFTER, pending=True, entered=FOREIGN), Rows()
    with pytest.raises(DeviceError, match="does not read as before"):
        restore(by(box), replace(target(), saved=True), rows)
    assert (box.pending, box.startup, rows.actions[-1]) == (True, BEFORE, "failed")


NOTED = "hostname R3\ninterface Serial0/1\n description new line card\n bandwidth 2000\n"
"""What a second operator typed while the run measured: nothing of ours."""


def test_a_box_that_takes_no_lines_back_is_told_in_plain_words() -> None:
    class Full(Box):
        def commit_config(self, message: str = "", revert_in: int | None = None) -> None:
            raise MergeConfigException("% Error: table full")

    told = r"the device refused the lines that roll the change back: .*table full"
    with pytest.raises(DeviceError, match=told):
        restore(by(Full(AFTER, pending=False)), target("force10"), Rows())


def test_a_box_that_refuses_a_line_is_told_with_its_own_answer_and_the_way_on() -> None:
    class Full(Box):
        def commit_config(self, message: str = "", revert_in: int | None = None) -> None:
            raise LineRefusedError(CommitProgress(2, "bandwidth 1000", 1, 2), "% Error: no memory.")

    with pytest.raises(ChangeRefused) as told:
        apply(by(Full(BEFORE, pending=False)), target("force10"), Rows(), 600)
    assert (told.value.answer, told.value.refused) == ("% Error: no memory.", "the change")
    assert told.value.message.startswith("the device refused the change: refused at line 2")
    assert "put right on the device what its answer says, then try again" in told.value.hint


@pytest.mark.parametrize("driver", DRIVERS)
def test_lines_of_a_second_operator_survive_the_way_back(driver: str) -> None:
    touched = AFTER.replace(" bandwidth 2000", " description new line card\n bandwidth 2000")
    box, rows = Box(touched, pending=DRIVERS[driver].revert_timer, entered=NOTED), Rows()
    assert restore(by(box), target(driver), rows) == said(NOTED)
    assert (box.pending, rows.actions) == (False, ["undoing", "inverse_applied", "undone"])


def test_a_box_that_gives_its_own_lines_back_in_another_order_is_not_as_before() -> None:
    swapped = "interface Serial0/1\n bandwidth 2000\nhostname R3\n"
    box = Box(AFTER, pending=False, entered=swapped)
    with pytest.raises(DeviceError, match="does not read as before"):
        restore(by(box), target("force10"), Rows())


def test_a_box_with_unsaved_changes_is_not_touched_where_a_rollback_would_save_them() -> None:
    box, rows = Box(BEFORE, pending=False, entered=AFTER), Rows()
    box.startup = "Using 512 out of 29688 bytes\n!\n" + BEFORE.replace("2000", "64")
    with pytest.raises(DeviceError, match=r"startup configuration differ.*bandwidth 64"):
        apply(by(box), target("ios"), rows, 600)
    assert (running(by(box)), rows.actions) == (said(BEFORE), [])
    box.startup = "Using 512 out of 29688 bytes\n!\n" + BEFORE
    assert apply(by(box), target("ios"), rows, 600) == said(AFTER)
    assert rows.actions == ["touching", "armed", "touched"]
