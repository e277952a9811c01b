"""Whether this installation has what the devices of a network are described with: platform, features, driver."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from difflib import get_close_matches
from pathlib import Path

from qosforge.deploy.driver_capabilities import DRIVERS, unknown_driver
from qosforge.errors import InputError, InputErrors, Place
from qosforge.inventory.described_places import DescribedPlaces
from qosforge.inventory.models import Device, Network
from qosforge.platforms.base import installed, platform, unknown_platform
from qosforge.units import listed, shortened


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
        yield unknown_driver(device.driver, _place(device, places, "data", "driver"))
    elif not driver_fits_platform(device.driver, device.platform):
        yield foreign_driver(device.driver, device.platform, _place(device, places, "data", "driver"))


def _place(device: Device, places: DescribedPlaces | None, *path: str) -> Place:
    """Where a device has what stands at ``path``; its name alone where its files are not known."""
    return places.value(device.name, *path) if places else Place(device=device.name)


def driver_fits_platform(driver: str, name: str) -> bool:
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
