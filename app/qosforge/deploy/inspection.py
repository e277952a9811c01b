"""Proving, without changing anything, that devices are reached, are what the inventory says, and can be changed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from qosforge.deploy.device_driver import DeviceDriver
from qosforge.deploy.driver_capabilities import driver_capabilities
from qosforge.deploy.fleet import Fleet, Outcome
from qosforge.deploy.not_saved import difference, how_to_agree
from qosforge.deploy.transaction import comparable
from qosforge.deploy.unsaved import unsaved
from qosforge.errors import CommandRefused, EnableRefused, LoginRefused, QosforgeError
from qosforge.inventory.models import Device
from qosforge.platforms.base import platform
from qosforge.platforms.device_text import DeviceText, DeviceWords
from qosforge.platforms.inspection import Inspection, Timer, image_fits

CLOCK_SECONDS = 60
"""How far a device's clock may be from ours: what it logs is still found beside what a run did."""
COPIES = 2
"""Configurations that flash must have room for: the change, and what it goes back to."""
PRIVILEGED = 15


class Subject(StrEnum):
    """What is checked of a device, in this order."""

    REACH = "reach"
    LOGIN = "login"
    ENABLE = "enable"
    PLATFORM = "platform"
    IMAGE = "image"
    TIMER = "timer"
    FLASH = "flash"
    CLOCK = "clock"
    STARTUP = "startup"


class State(StrEnum):
    """What a check came to."""

    GOOD = "good"
    PROBLEM = "problem"
    UNKNOWN = "unknown"
    """The device does not tell."""
    SKIPPED = "skipped"
    """It did not come so far."""


class Check(BaseModel):
    """One check of a device; ``text`` is what was found, ``hint`` how a problem is corrected."""

    model_config = ConfigDict(frozen=True)

    subject: Subject
    state: State
    text: str = ""
    hint: str = ""


class DeviceCheck(BaseModel):
    """All checks of a device. ``looked_at`` says whether it could be asked at all; ``unsaved`` are lines by which
    running and startup configuration differ, ``-`` or ``+`` before each.
    """

    model_config = ConfigDict(frozen=True)

    device: str
    looked_at: bool
    model: str = ""
    image: str = ""
    flash_free: int | None = None
    clock_off: float | None = None
    """Seconds by which the device's clock is ahead of ours; what its answer took is not counted."""
    unsaved: tuple[str, ...] = ()
    checks: tuple[Check, ...]

    @property
    def problems(self) -> tuple[Check, ...]:
        """The checks that found something."""
        return tuple(check for check in self.checks if check.state is State.PROBLEM)

    def check(self, subject: Subject) -> Check:
        """The check of a subject."""
        return next(check for check in self.checks if check.subject is subject)


def inspect_devices(
    fleet: Fleet, devices: Collection[str] = (), each: Callable[[DeviceCheck], None] | None = None
) -> tuple[DeviceCheck, ...]:
    """Check devices of the fleet's network, all unless some are named, in the inventory's order.

    They are asked by show commands alone. ``each`` is told every result as it comes about, from several threads.
    """
    entries = {device.name: device for device in fleet.network.devices if not devices or device.name in devices}

    def look(name: str, driver: DeviceDriver) -> DeviceCheck:
        return _looked_at(entries[name], driver, fleet.words(name))

    def tell(outcome: Outcome[DeviceCheck]) -> None:
        if each is not None:
            each(_result(outcome))

    outcomes = fleet.run(entries, look, each=tell)
    return tuple(_result(outcomes[name]) for name in entries)


def _result(outcome: Outcome[DeviceCheck]) -> DeviceCheck:
    if outcome.error is None:
        assert outcome.value is not None
        return outcome.value
    return DeviceCheck(device=outcome.device, looked_at=False, checks=tuple(_failed(outcome.error)))


def _failed(error: QosforgeError) -> Iterator[Check]:
    match error:
        case EnableRefused():
            stopped = Subject.ENABLE
        case LoginRefused():
            stopped = Subject.LOGIN
        case _:
            stopped = Subject.REACH
    state = State.GOOD
    for subject in Subject:
        if subject is stopped:
            yield Check(subject=subject, state=State.PROBLEM, text=error.message, hint=error.hint)
            state = State.SKIPPED
        else:
            yield Check(subject=subject, state=state)


def _looked_at(device: Device, driver: DeviceDriver, words: DeviceWords) -> DeviceCheck:
    target = platform(device.platform, device.name)
    answers: dict[str, str] = {}
    asked: dict[str, tuple[datetime, datetime]] = {}
    for command in target.inspection_commands(device.driver):
        begun = datetime.now(UTC)
        answers[command] = driver.cli([command])[command].unmasked
        asked[command] = begun, datetime.now(UTC)
    first = target.inspect(answers, "", device.driver)
    if first.privilege is not None and first.privilege < PRIVILEGED:
        return _unprivileged(device, first)
    running = comparable(driver.get_config("running"))
    found = target.inspect(answers, running.unmasked, device.driver)
    off = _off(found.clock, asked)
    lines, startup = _startup(device, driver, running)
    checks = (
        *_reached(found.privilege),
        _platform(device, found),
        _image(device, found),
        _timer(found),
        _flash(found, running),
        _clock(found, off),
        startup,
    )
    return DeviceCheck(
        device=device.name,
        looked_at=True,
        model=words.in_message(found.model),
        image=words.in_message(found.image),
        flash_free=found.flash_free,
        clock_off=off,
        unsaved=lines,
        checks=tuple(
            check.model_copy(update={"text": words.in_message(check.text), "hint": words.in_message(check.hint)})
            for check in checks
        ),
    )


def _unprivileged(device: Device, found: Inspection) -> DeviceCheck:
    """A login that looks privileged and is not: what it may ask tells nothing of the rest."""
    enable = Check(
        subject=Subject.ENABLE,
        state=State.PROBLEM,
        text=f"its user has privilege level {found.privilege}, which may not configure the device",
        hint="give the user level 15, or credentials whose enable secret leads there",
    )
    known = {Subject.REACH: State.GOOD, Subject.LOGIN: State.GOOD}
    checks = (
        enable if subject is Subject.ENABLE else Check(subject=subject, state=known.get(subject, State.SKIPPED))
        for subject in Subject
    )
    return DeviceCheck(device=device.name, looked_at=True, checks=tuple(checks))


def _reached(privilege: int | None) -> Iterator[Check]:
    for subject in (Subject.REACH, Subject.LOGIN):
        yield Check(subject=subject, state=State.GOOD)
    text = f"level {privilege}" if privilege is not None else "privileged, by its prompt"
    yield Check(subject=Subject.ENABLE, state=State.GOOD, text=text)


def _platform(device: Device, found: Inspection) -> Check:
    if found.platform == device.platform:
        return Check(subject=Subject.PLATFORM, state=State.GOOD, text=found.model)
    what = " ".join(filter(None, (found.model, found.image))) or "a device that does not answer as one"
    really = f"it is a {found.platform} ({what})" if found.platform else f"it is {what}"
    text = f"the inventory says {device.platform}, {really}"
    right = f"platform {found.platform}" if found.platform else "its platform, if it is among ours"
    hint = f"write {right}, in hosts.yaml or in its group"
    return Check(subject=Subject.PLATFORM, state=State.PROBLEM, text=text, hint=hint)


def _image(device: Device, found: Inspection) -> Check:
    if not found.image:
        return Check(subject=Subject.IMAGE, state=State.UNKNOWN, text="it does not tell its software")
    if image_fits(device.image, found.image):
        return Check(subject=Subject.IMAGE, state=State.GOOD, text=found.image)
    return Check(
        subject=Subject.IMAGE,
        state=State.PROBLEM,
        text=f"the inventory says {device.image}, it runs {found.image}: it would get commands of another release",
        hint=f"write image: '{found.image}' in hosts.yaml",
    )


def _timer(found: Inspection) -> Check:
    if found.lacks:
        return Check(
            subject=Subject.TIMER,
            state=State.PROBLEM,
            text="; ".join(lack.message for lack in found.lacks),
            hint="; ".join(lack.hint for lack in found.lacks),
        )
    match found.timer:
        case Timer.PENDING:
            text = "a timer runs already: a change that waits to be confirmed, or a scheduled reload"
            hint = "wait for it, or confirm or cancel it; if a run of ours set it: qosforge recover"
            return Check(subject=Subject.TIMER, state=State.PROBLEM, text=text, hint=hint)
        case Timer.MISSING:
            text = "it does not tell of a timer that rolls a change back"
            return Check(subject=Subject.TIMER, state=State.PROBLEM, text=text, hint="see docs/devices.md")
        case Timer.NONE:
            text = "such a device has none: a change is rolled back by its inverse"
            return Check(subject=Subject.TIMER, state=State.GOOD, text=text)
        case _:
            return Check(subject=Subject.TIMER, state=State.GOOD, text="ready")


def _flash(found: Inspection, running: DeviceText) -> Check:
    if found.flash_free is None:
        return Check(subject=Subject.FLASH, state=State.UNKNOWN, text="it does not tell its room")
    text = f"{found.flash_free:,} bytes free"
    needed = COPIES * len(running.unmasked.encode())
    if found.flash_free >= needed:
        return Check(subject=Subject.FLASH, state=State.GOOD, text=text)
    return Check(
        subject=Subject.FLASH,
        state=State.PROBLEM,
        text=f"{text}, and a push may need {needed:,}",
        hint="delete files that nobody needs from its flash",
    )


def _off(clock: datetime | None, asked: dict[str, tuple[datetime, datetime]]) -> float | None:
    """How far a clock is ahead of every moment at which it may have been read."""
    if clock is None:
        return None
    begun = min(begin for begin, _ in asked.values())
    ended = max(end for _, end in asked.values())
    second = timedelta(seconds=1)  # they tell whole seconds
    if clock + second < begun:
        return (clock + second - begun).total_seconds()
    return (clock - ended).total_seconds() if clock > ended else 0.0


def _clock(found: Inspection, off: float | None) -> Check:
    if off is None:
        text = f"{found.clock_text}: a zone that is not known" if found.clock_text else "it does not tell the time"
        return Check(subject=Subject.CLOCK, state=State.UNKNOWN, text=text)
    if abs(off) <= CLOCK_SECONDS:
        return Check(subject=Subject.CLOCK, state=State.GOOD, text=found.clock_text)
    amount = timedelta(seconds=round(abs(off)))
    text = f"{found.clock_text}: {amount} {'ahead of' if off > 0 else 'behind'} ours"
    hint = "let it take its time from NTP, or set it; what it logs cannot be found beside a run else"
    return Check(subject=Subject.CLOCK, state=State.PROBLEM, text=text, hint=hint)


def _startup(device: Device, driver: DeviceDriver, running: DeviceText) -> tuple[tuple[str, ...], Check]:
    how = driver_capabilities(device.driver, device.name)
    if not how.dialect:
        return (), Check(subject=Subject.STARTUP, state=State.UNKNOWN, text="it shows no startup configuration")
    try:
        startup = comparable(driver.get_config("startup"))
    except CommandRefused as error:
        text = f"its startup configuration cannot be read: {error.message}"
        hint = "save the running configuration, if it is what shall be there"
        return (), Check(subject=Subject.STARTUP, state=State.PROBLEM, text=text, hint=hint)
    lines = tuple(line.in_message() for line in unsaved(how, startup, running))
    if not lines:
        return (), Check(subject=Subject.STARTUP, state=State.GOOD, text="as running")
    return lines, Check(subject=Subject.STARTUP, state=State.PROBLEM, text=difference(lines), hint=how_to_agree())
