"""Capabilities of NAPALM drivers that a deployment depends on, beyond the common interface."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from qosforge.errors import InputError, Place
from qosforge.inventory.feature_place import driver_place, feature_place
from qosforge.inventory.models import Device, Network
from qosforge.platforms.base import installed, platform
from qosforge.units import listed, shortened


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


def driver_capabilities(driver: str, device: str) -> DriverCapabilities:
    """The capabilities of a driver.

    Raises:
        InputError: it is not one that deployment was tried with.
    """
    if driver not in DRIVERS:
        known = ", ".join(sorted(DRIVERS))
        raise InputError(f"unknown driver {driver!r}", Place(device=device), f"known: {known}")
    return DRIVERS[driver]


def require_installed(network: Network, folder: Path | None = None) -> None:
    """Make sure that every device of a network has a platform that is known here, and features and a driver of it.

    ``folder`` has the network's files, for errors to name lines of them.

    Raises:
        InputError: one has not.
    """
    for device in network.devices:
        require_platform(device, folder)
        require_driver(device, folder)


def require_driver(device: Device, folder: Path | None = None) -> None:
    """Make sure that a device has a driver that speaks with its platform: another one enters lines that the device
    refuses in the middle of a change, and in that of its rollback; ``folder`` as above.

    Raises:
        InputError: it has not.
    """
    driver_capabilities(device.driver, device.name)
    drivers = platform(device.platform, device.name).family.drivers
    if device.driver not in drivers:
        place = driver_place(folder, device.name) if folder else Place(device=device.name)
        raise InputError(
            f"the driver {device.driver} is none of {device.platform}", place, f"use {' or '.join(drivers)}"
        )


def require_platform(device: Device, folder: Path | None = None) -> None:
    """Make sure that a device has a platform that is installed, and features of it; ``folder`` as above.

    Raises:
        InputError: it has not.
    """
    platform(device.platform, device.name)
    for word in unknown_features(device.platform, device.features):
        place = feature_place(folder, device.name, word) if folder else Place(device=device.name)
        raise unknown_feature(device.platform, word, place)


def unknown_features(name: str, features: Collection[str]) -> list[str]:
    """The features that a platform does not know, where it is installed: they would count for nothing."""
    known = platform(name).device_features if name in installed() else None
    return [] if known is None else sorted({*features} - known)


def unknown_feature(name: str, word: str, place: Place) -> InputError:
    """The error of a word that is no feature of a platform."""
    known = sorted(platform(name).device_features or ())
    near = get_close_matches(word, known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"known: {listed(known)}"
    return InputError(f"unknown feature {shortened(word)} of platform {name}", place, hint)
