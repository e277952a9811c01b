"""The transaction of one device: read, touch, read back, then confirm or undo.

Every step reads first, so that it may be repeated after its process died; before and after each touch a
journal row is written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from cli_candidate.pending import PendingCommit

from qosforge.compiler.candidate import rollback_lines
from qosforge.configtree import as_text, unmanaged
from qosforge.deploy.device_driver import DeviceDriver
from qosforge.deploy.driver_capabilities import DriverCapabilities
from qosforge.deploy.not_saved import difference, how_to_agree
from qosforge.deploy.unsaved import in_the_way
from qosforge.errors import ChangeRefused, CommitPending, DeviceError, Place
from qosforge.platforms.base import platform
from qosforge.platforms.device_text import DeviceText

MOST_LOOKS = 3
"""How often a device is looked at whose commit timer was armed meanwhile. A dead process has one line under way at
most, so a second look finds what it did; each look takes no longer than the limits of its steps.
"""

_TAKE_IT = (
    "put right on the device what its answer says, then try again; "
    "where it can never take the line, change the policy or take the device out of its scope"
)
"""The way on after a device refused a change."""


class Journal(Protocol):
    """Where touches are recorded; a row is durable when the call returns."""

    def record(
        self, device: str, action: str, *, before: DeviceText | None = None, delta: str = "", note: str = ""
    ) -> None:
        """Write one row; ``before`` and ``delta`` are kept whole, for going back."""


@dataclass(frozen=True)
class Target:
    """One device in a transaction. ``original`` is its running configuration before the first touch;
    ``meets`` says whether a running configuration holds the plan; ``saved`` whether the change was confirmed, so
    that the startup configuration has to go back too; ``touched`` whether the run had begun to touch the device
    before, so that a commit pending there may be its own.
    """

    device: str
    platform: str
    capabilities: DriverCapabilities
    original: DeviceText
    delta: tuple[str, ...]
    meets: Callable[[DeviceText], bool]
    saved: bool = False
    touched: bool = False


def running(driver: DeviceDriver) -> DeviceText:
    """The running configuration, without the lines that change by themselves."""
    return comparable(driver.get_config("running"))


def comparable(text: DeviceText) -> DeviceText:
    """A configuration as it is compared: no trailing blanks, no blank lines at either end."""
    return text.saying("\n".join(line.rstrip() for line in text.unmasked.strip().splitlines()) + "\n")


def apply(driver: DeviceDriver, target: Target, journal: Journal, revert_seconds: int) -> DeviceText:
    """Send the delta, with the device's commit-confirm timer armed where it has one, and read back.

    A device that already holds the plan is left alone: an earlier attempt at this step came through. It is kept or
    rolled back with the others. One that reads otherwise than before was left half-way, or changed by somebody
    else: it is not built upon.

    A process that died may have armed the timer by its last line, which the device carries out when it comes to it.
    Such a commit of this run, in which nothing was entered, is rolled back, and the device looked at again; one of
    anybody else is left alone.

    Returns:
        The running configuration afterwards.

    Raises:
        CommitPending: a commit was pending at `MOST_LOOKS` looks, so nothing was entered.
        DeviceError: a commit that is not this run's waits to be confirmed; the device refused a line, or had
            changed since it was read.
    """
    place = Place(device=target.device)
    opened = target.touched
    for _ in range(MOST_LOOKS):
        held = running(driver)
        if held != target.original:
            if target.meets(held):
                note = "it holds the plan already"
                if not opened:
                    # The journal may be of a backup, older than the touch: undone or saved with the others.
                    journal.record(target.device, "touching", before=target.original, note=note)
                journal.record(target.device, "touched", note=note)
                return held
            journal.record(target.device, "failed", note="the device does not read as it did")
            raise DeviceError(
                "its configuration changed since it was read, so the delta was not sent",
                place,
                "run it again: it starts from what the device holds then",
            )
        if target.capabilities.native_rollback or not target.capabilities.revert_timer:
            # A driver whose timer is a reload looks at it itself.
            _require_saved(driver, target, held)
        pending = _pending(driver, target)
        if pending is not None:
            if not (target.touched and pending.own and pending.may_be_set_for(revert_seconds)):
                if opened:
                    # Nothing of the run stands there: what settles an open touch must not meet that commit.
                    journal.record(target.device, "undone", note="nothing was entered")
                raise _not_ours(target, pending)
            _take_back(driver, target, held, journal)
            opened = True
            continue
        opened = True
        try:
            _send(driver, target, journal, revert_seconds)
        except CommitPending:
            continue  # armed since the look before; the next one tells by whom
        journal.record(target.device, "touched")
        return running(driver)
    if opened:
        journal.record(target.device, "undone", note="nothing was entered")
    raise CommitPending(
        f"at {MOST_LOOKS} looks another commit was pending, so the delta was not sent",
        place,
        "run it again when nobody else works on the device",
    )


def _send(driver: DeviceDriver, target: Target, journal: Journal, revert_seconds: int) -> None:
    """Enter the delta.

    Raises:
        CommitPending: another commit waits to be confirmed, so nothing was entered.
        DeviceError: the device refused a line.
    """
    journal.record(target.device, "touching", before=target.original, delta=as_text(target.delta))
    driver.load_merge_candidate(config=as_text(target.delta))
    try:
        if target.capabilities.revert_timer:
            driver.commit_config(revert_in=revert_seconds)
            journal.record(target.device, "armed", note=f"goes back by itself in {revert_seconds} s")
        else:
            driver.commit_config()
    except ChangeRefused as error:
        journal.record(target.device, "failed", note=error.message)
        raise _refused("the change", error, target, _TAKE_IT) from None


def _pending(driver: DeviceDriver, target: Target) -> PendingCommit | None:
    return driver.pending_commit() if target.capabilities.revert_timer else None


def _not_ours(target: Target, pending: PendingCommit) -> DeviceError:
    """The refusal to touch a device on which somebody else's commit is pending, by that one's name."""
    who = pending.user or "somebody whom the device does not name"
    return DeviceError(
        f"a commit of {who} waits there to be confirmed, which is not this run's, so nothing was entered",
        Place(device=target.device),
        "let them confirm it or roll it back, then run it again",
    )


def _take_back(driver: DeviceDriver, target: Target, held: DeviceText, journal: Journal) -> None:
    """End a pending commit of this run, in which nothing was entered. Its touch stays open: the delta is sent next,
    and a run sends nothing to a device that it has settled.

    Raises:
        DeviceError: unsaved lines are in the way, or the device does not read as before then.
    """
    if not target.capabilities.native_rollback:
        _require_saved(driver, target, held)  # cancelling a reload saves what runs
    note = "a process that died had set its timer and entered nothing"
    journal.record(target.device, "touching", before=target.original, note=note)
    if target.capabilities.native_rollback:
        driver.rollback()
    else:
        driver.confirm_commit()
    require_as_before(target, running(driver))


def _require_saved(driver: DeviceDriver, target: Target, held: DeviceText) -> None:
    """What is in the way of a push is mostly found before it; somebody may have changed the device since.

    Raises:
        DeviceError: unsaved lines are in the way, see `in_the_way`.
    """
    startup = comparable(driver.get_config("startup"))
    lines = in_the_way(target.capabilities, target.platform, startup, held)
    if lines:
        shown = [line.in_message() for line in lines]
        raise DeviceError(difference(shown), Place(device=target.device), how_to_agree())


def _to_save(driver: DeviceDriver, target: Target, held: DeviceText) -> tuple[str, ...]:
    """Lines we manage that lead from startup to ``held``; none where startup cannot be read."""
    startup = comparable(driver.get_config("startup"))
    return () if startup.is_blank else rollback_lines(target.platform, startup, held)


def confirm(driver: DeviceDriver, target: Target, journal: Journal) -> None:
    """Keep the change: disarm the commit-confirm timer and save. What is saved is what was judged, or nothing.

    Raises:
        DeviceError: the device went back by itself before it was confirmed, or somebody changed it.
    """
    _require_kept(target, running(driver), journal, "before the verdict, so it was not saved")
    driver.confirm_commit()
    # Its timer may run out until it is stopped, and then what was saved is what was before.
    _require_kept(target, running(driver), journal, "while it was confirmed")
    journal.record(target.device, "confirmed")


def _require_kept(target: Target, held: DeviceText, journal: Journal, when: str) -> None:
    if target.meets(held):
        return
    problem = "it went back by itself" if held == target.original else "its configuration was changed"
    journal.record(target.device, "failed", note=f"{problem} {when}")
    raise DeviceError(
        f"{problem} {when}", Place(device=target.device), "run it again when nobody else works on the device"
    )


def restore(driver: DeviceDriver, target: Target, journal: Journal) -> DeviceText:
    """Bring the device back to what it was, and prove it by reading.

    Lines outside the platform's grammar that somebody else entered meanwhile are left alone and noted: the
    device's own rollback would take them along, so the inverse is entered instead.

    Returns:
        The running configuration afterwards; equal to the original but for such lines.

    Raises:
        CommitPending: a commit was pending at `MOST_LOOKS` looks.
        DeviceError: what we manage does not read as it did, or somebody else's commit waits to be confirmed.
    """
    journal.record(target.device, "undoing", before=target.original)
    for _ in range(MOST_LOOKS - 1):
        # A timer that a dead process armed only after the look is seen by the next one.
        with suppress(CommitPending):
            return _restored(driver, target, journal)
    return _restored(driver, target, journal)


def _restored(driver: DeviceDriver, target: Target, journal: Journal) -> DeviceText:
    pending = _pending(driver, target)
    touched = running(driver)
    if pending is not None and pending.user and not pending.own:
        if touched == target.original and not target.saved:
            journal.record(target.device, "undone", note=f"left alone: a commit of {pending.user} is pending")
            return touched
        raise _not_ours(target, pending)
    if pending and target.capabilities.native_rollback and _ours_alone(target, touched):
        driver.rollback()
        journal.record(target.device, "inverse_applied", note="by the device's own rollback")
        touched = running(driver)  # a timer that was set late goes back to the change, and not to what was before
    elif pending and target.capabilities.native_rollback:
        # The driver takes no further commit while one is pending; the inverse follows at once.
        driver.confirm_commit()
    lines = rollback_lines(target.platform, touched, target.original)
    if lines:
        _enter(driver, lines, target)
        journal.record(target.device, "inverse_applied", delta=as_text(lines))
    held = running(driver)
    try:
        note = require_as_before(target, held)
    except DeviceError as error:
        journal.record(target.device, "failed", note=error.message)
        raise
    if not target.capabilities.native_rollback and (pending or target.saved or _saved_itself(driver, target, held)):
        # A reload timer still runs, or startup holds the change: confirming stops the one and saves the original.
        # (A driver with a rollback of its own saves with it, and with every commit that sets no timer.)
        driver.confirm_commit()
    journal.record(target.device, "undone", note=note)
    return held


def _saved_itself(driver: DeviceDriver, target: Target, held: DeviceText) -> bool:
    """Whether startup may hold some of the change though nobody confirmed it: the device, or somebody, saved."""
    off = target.capabilities.autosave_off
    return bool(off and off not in held.unmasked.splitlines()) or bool(_to_save(driver, target, held))


def require_as_before(target: Target, held: DeviceText) -> str:
    """Make sure that a device reads as the target's original; what may be shown of lines that are not ours,
    if they differ.

    Raises:
        DeviceError: what we manage does not read as it did.
    """
    if held == target.original:
        return ""
    difference = first_difference(target.original, held)
    if _ours_alone(target, held) or rollback_lines(target.platform, held, target.original):
        raise DeviceError(
            f"does not read as before: {difference}",
            Place(device=target.device),
            "compare it with the configuration kept in the run, then run: qosforge recover",
        )
    return f"somebody else changed lines that are not ours: {difference}"


def _ours_alone(target: Target, touched: DeviceText) -> bool:
    """Whether nothing but our lines differs from the original: entering the inverse would give it back whole."""
    grammar = platform(target.platform).grammar
    now, then = (unmanaged(grammar.parse(text.unmasked), grammar) for text in (touched, target.original))
    return Counter(now) == Counter(then)


def _enter(driver: DeviceDriver, lines: Sequence[str], target: Target) -> None:
    driver.load_merge_candidate(config=as_text(lines))
    try:
        driver.commit_config()
    except ChangeRefused as error:
        raise _refused("the lines that roll the change back", error, target) from None


def _refused(what: str, error: ChangeRefused, target: Target, hint: str = "") -> ChangeRefused:
    """The refusal of what was entered, with the device's own answer to it."""
    message = f"the device refused {what}: {error.message}"
    return ChangeRefused(message, Place(device=target.device), hint, error.answer, what)


def first_difference(meant: DeviceText, held: DeviceText) -> str:
    """The first line in which two configurations of a device differ, in words that may be shown."""
    before, now = (text.unmasked.splitlines() for text in (meant, held))
    for number, (a, b) in enumerate(zip(before, now, strict=False), start=1):
        if a != b:
            was, is_now = meant.saying(repr(a)), held.saying(repr(b))
            return f"line {number} was {was.in_message()}, is {is_now.in_message()}"
    return f"{len(before)} lines before, {len(now)} now"
