"""Capabilities of NAPALM drivers that a deployment depends on, beyond the common interface."""

from __future__ import annotations

from dataclasses import dataclass

from qosforge.errors import InputError, Place


@dataclass(frozen=True)
class DriverCapabilities:
    """``revert_timer``: the device goes back by itself unless confirmed. ``native_rollback``: ``rollback()`` takes
    a pending commit back; otherwise the inverse is entered. ``autosave_off`` is the line by which a device is told
    not to write its startup configuration by itself; "" where it never does. ``longest_timer`` is the timer's
    greatest value in seconds, and ``goes_back`` what rolls an unconfirmed change back. ``dialect`` is that of its
    startup configuration (see `qosforge.deploy.unsaved`); "" where it shows none.
    """

    revert_timer: bool
    native_rollback: bool
    autosave_off: str = ""
    longest_timer: int = 0
    goes_back: str = "a reload: nothing is saved before it is confirmed"
    dialect: str = ""


DRIVERS = {
    # 120 minutes: CISCO_TIMER_MAX in commit_config of NAPALM's ios driver.
    "ios": DriverCapabilities(
        True, True, longest_timer=120 * 60, goes_back="configure terminal revert timer", dialect="ios"
    ),
    # The three digits of "mmm" in "reload in [hhh:]mmm". Releases may take more, which is unconfirmed for those of
    # this driver.
    "ios_legacy": DriverCapabilities(True, False, longest_timer=999 * 60, goes_back="reload in", dialect="ios"),
    "force10": DriverCapabilities(revert_timer=False, native_rollback=False, dialect="force10"),
    # As long as `sleep` takes; a day is more than any run waits.
    "linux_tc": DriverCapabilities(
        True, True, longest_timer=24 * 3600, goes_back="a process on the router enters what it held before"
    ),
    # A 5510 saves a while after every change unless told not to (Avaya's ACLI defaults: autosave is on).
    "ers": DriverCapabilities(revert_timer=False, native_rollback=False, autosave_off="no autosave enable"),
}


def shows_startup(driver: str) -> bool:
    """Whether devices of a driver show their startup configuration, so that it is known what is saved."""
    return driver in DRIVERS and bool(DRIVERS[driver].dialect)


def driver_capabilities(driver: str, device: str) -> DriverCapabilities:
    """The capabilities of a driver.

    Raises:
        InputError: it is not one that deployment was tried with.
    """
    if driver not in DRIVERS:
        raise unknown_driver(driver, Place(device=device))
    return DRIVERS[driver]


def unknown_driver(driver: str, place: Place) -> InputError:
    """The error of a driver that deployment was not tried with."""
    return InputError(f"unknown driver {driver!r}", place, f"known: {', '.join(sorted(DRIVERS))}")
