"""Capabilities of NAPALM drivers that a deployment depends on, beyond the common interface."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from qosforge.errors import InputError, InputErrors, Place
from qosforge.inventory.described_places import DescribedPlaces
from qosforge.inventory.models import Device, Network
from qosforge.platforms.base import installed, platform, unknown_platform
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
        raise _unknown_driver(driver, Place(device=device))
    return DRIVERS[driver]


def _unknown_driver(driver: str, place: Place) -> InputError:
    return InputError(f"unknown driver {driver!r}", place, f"known: {', '.join(sorted(DRIVERS))}")


def require_installed(network: Network, folder: Path | None = None) -> None:
    """Make sure that every device of a network has a platform that is known here, and features and a driver of it.

    ``folder`` has the network's files, for errors to name lines of them.

    Raises:
        InputError: one has not.
        InputErrors: there is more than one such problem; each is told.
    """
    places = DescribedPlaces(folder) if folder else None
    _raise_all(
        problem
        for device in network.devices
        for problem in (*_platform_problems(device, places), *_driver_problems(device, places))
    )


def require_platforms(network: Network, folder: Path | None = None) -> None:
    """As `require_installed`, whatever the devices' drivers are: for what contacts none.

    Raises:
        InputError: a device has no platform that is installed, or features that are none of it.
        InputErrors: there is more than one such problem; each is told.
    """
    places = DescribedPlaces(folder) if folder else None
    _raise_all(problem for device in network.devices for problem in _platform_problems(device, places))


def _raise_all(found: Iterable[InputError]) -> None:
    """Raise what was found, if anything; what devices have from one place of a group is told once."""
    problems: list[InputError] = []
    told: set[tuple[str | None, int | None, str]] = set()
    for one in found:
        at = (one.where.file, one.where.line, one.message)
        if one.where.line is None or at not in told:
            problems.append(one)
        told.add(at)
    if len(problems) > 1:
        raise InputErrors("not of this installation", problems[0].where, problems[0].hint, problems)
    for problem in problems:
        raise problem


def _platform_problems(device: Device, places: DescribedPlaces | None) -> Iterator[InputError]:
    """What of a device's platform and its features is not known here, each with its place."""
    if device.platform not in installed():
        yield unknown_platform(device.platform, _place(device, places, "platform"))
    for word in unknown_features(device.platform, device.features):
        place = places.feature(device.name, word) if places else Place(device=device.name)
        yield unknown_feature(device.platform, word, place)


def _driver_problems(device: Device, places: DescribedPlaces | None) -> Iterator[InputError]:
    """A driver that is not known, or does not speak with the device's platform.

    Such a one would enter lines that the device refuses in the middle of a change, and in that of its rollback.
    """
    if device.driver not in DRIVERS:
        yield _unknown_driver(device.driver, _place(device, places, "data", "driver"))
    elif not speaks_with(device.driver, device.platform):
        yield foreign_driver(device.driver, device.platform, _place(device, places, "data", "driver"))


def _place(device: Device, places: DescribedPlaces | None, *path: str) -> Place:
    """Where a device has what stands at ``path``; its name alone where its files are not known."""
    return places.value(device.name, *path) if places else Place(device=device.name)


def speaks_with(driver: str, name: str) -> bool:
    """Whether a driver is one of a platform; of one that is not installed nothing else is known."""
    return name not in installed() or driver in platform(name).family.drivers


def foreign_driver(driver: str, name: str, place: Place) -> InputError:
    """The error of a driver that does not speak with an installed platform."""
    hint = f"use {' or '.join(platform(name).family.drivers)}"
    return InputError(f"the driver {driver} is none of {name}", place, hint)


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
